//===- TFLiteQuantizationTest.cpp - Activations, scales of blocks ---------===//

#include "TFLiteRuns.h"
#include "gmock/gmock.h"
#include <cmath>

using namespace glowish;
using testing::HasSubstr;
using tflite::schema::ActivationFunctionType;
using tflite::schema::BuiltinOperator;
using tflite::schema::BuiltinOptions;
using tflite::schema::TensorType;
namespace schema = tflite::schema;

//===- Fused activations --------------------------------------------------===//

namespace {

/// An operator that gives x itself before its activation.
struct Identity {
  BuiltinOperator kind;
  /// Whether quantized tensors may have the activations that only limit.
  bool isQuantized = true;
};

constexpr ActivationFunctionType limits[] = {
    ActivationFunctionType::NONE, ActivationFunctionType::RELU,
    ActivationFunctionType::RELU_N1_TO_1, ActivationFunctionType::RELU6};
constexpr ActivationFunctionType functions[] = {
    ActivationFunctionType::TANH, ActivationFunctionType::SIGN_BIT};

/// Writes a model of four channels: an operator for each activation.
class ActivationModel : public TFLiteModel {
public:
  explicit ActivationModel(TensorType type) : type(type) { x = channels("x"); }

  void add(BuiltinOperator kind, ActivationFunctionType activation) {
    int y = channels(schema::EnumNameActivationFunctionType(activation));
    outputs.push_back(y);
    op(kind, getInputs(kind), {y}, getOptionsType(kind),
       makeOptions(kind, activation));
  }
  std::string finishModel() { return finish({x}, outputs); }

private:
  /// A tensor [1, 1, 1, 4] in steps of a quarter.
  int channels(const char *name, std::vector<uint8_t> bytes = {}) {
    int64_t zeroPoint = type == TensorType::UINT8  ? 128
                        : type == TensorType::INT8 ? 3
                                                   : 0;
    TFLiteScales scales;
    if (type != TensorType::FLOAT32)
      scales = {{0.25f}, {zeroPoint}};
    return tensor(name, {1, 1, 1, 4}, type, scales, std::move(bytes));
  }

  /// A constant of floats or bytes with the scale 1.
  int weights(std::vector<int32_t> shape, std::vector<int> values) {
    bool isFloat = type == TensorType::FLOAT32,
         isUInt8 = type == TensorType::UINT8;
    std::vector<uint8_t> bytes;
    for (int value : values) {
      float number = float(value);
      uint8_t parts[4];
      std::memcpy(parts, &number, 4);
      if (isFloat)
        bytes.insert(bytes.end(), parts, parts + 4);
      else
        bytes.push_back(uint8_t(value));
    }
    TFLiteScales scales;
    if (!isFloat)
      scales = {{1.0f}, {0}};
    return tensor("w", std::move(shape),
                  isFloat   ? TensorType::FLOAT32
                  : isUInt8 ? TensorType::UINT8
                            : TensorType::INT8,
                  scales, bytes);
  }
  static std::vector<int> unitMatrix() {
    return {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  }

  /// Four numbers of the kind of x.
  int numbers(int value) {
    std::vector<uint8_t> bytes;
    auto append = [&](auto number) {
      std::vector<uint8_t> one =
          getTFLiteBytes(std::vector<decltype(number)>(4, number));
      bytes = one;
    };
    int steps = 4 * value;
    switch (type) {
    case TensorType::FLOAT32:
      append(float(value));
      break;
    case TensorType::INT8:
      append(int8_t(steps + 3));
      break;
    case TensorType::UINT8:
      append(uint8_t(steps + 128));
      break;
    default:
      append(int16_t(steps));
    }
    return channels("c", bytes);
  }

  std::vector<int32_t> getInputs(BuiltinOperator kind) {
    switch (kind) {
    case BuiltinOperator::ADD:
    case BuiltinOperator::SUB:
      return {x, numbers(0)};
    case BuiltinOperator::MUL:
    case BuiltinOperator::DIV:
      return {x, numbers(1)};
    case BuiltinOperator::CONV_2D:
      return {x, weights({4, 1, 1, 4}, unitMatrix())};
    case BuiltinOperator::DEPTHWISE_CONV_2D:
      return {x, weights({1, 1, 1, 4}, {1, 1, 1, 1})};
    case BuiltinOperator::FULLY_CONNECTED:
      return {x, weights({4, 4}, unitMatrix())};
    case BuiltinOperator::TRANSPOSE_CONV:
      return {tensor("shape", {4}, TensorType::INT32, {},
                     getTFLiteBytes<int32_t>({1, 1, 1, 4})),
              weights({4, 1, 1, 4}, unitMatrix()), x};
    default:
      return {x};
    }
  }

  static BuiltinOptions getOptionsType(BuiltinOperator kind) {
    switch (kind) {
    case BuiltinOperator::ADD:
      return BuiltinOptions::AddOptions;
    case BuiltinOperator::SUB:
      return BuiltinOptions::SubOptions;
    case BuiltinOperator::MUL:
      return BuiltinOptions::MulOptions;
    case BuiltinOperator::DIV:
      return BuiltinOptions::DivOptions;
    case BuiltinOperator::CONV_2D:
      return BuiltinOptions::Conv2DOptions;
    case BuiltinOperator::DEPTHWISE_CONV_2D:
      return BuiltinOptions::DepthwiseConv2DOptions;
    case BuiltinOperator::FULLY_CONNECTED:
      return BuiltinOptions::FullyConnectedOptions;
    case BuiltinOperator::TRANSPOSE_CONV:
      return BuiltinOptions::TransposeConvOptions;
    case BuiltinOperator::CONCATENATION:
      return BuiltinOptions::ConcatenationOptions;
    default:
      return BuiltinOptions::Pool2DOptions;
    }
  }

  flatbuffers::Offset<void> makeOptions(BuiltinOperator kind,
                                        ActivationFunctionType activation) {
    using schema::Padding;
    switch (kind) {
    case BuiltinOperator::ADD:
      return schema::CreateAddOptions(fbb(), activation).Union();
    case BuiltinOperator::SUB:
      return schema::CreateSubOptions(fbb(), activation).Union();
    case BuiltinOperator::MUL:
      return schema::CreateMulOptions(fbb(), activation).Union();
    case BuiltinOperator::DIV:
      return schema::CreateDivOptions(fbb(), activation).Union();
    case BuiltinOperator::CONV_2D:
      return schema::CreateConv2DOptions(fbb(), Padding::VALID, 1, 1,
                                         activation)
          .Union();
    case BuiltinOperator::DEPTHWISE_CONV_2D:
      return schema::CreateDepthwiseConv2DOptions(fbb(), Padding::VALID, 1, 1,
                                                  1, activation)
          .Union();
    case BuiltinOperator::FULLY_CONNECTED:
      return schema::CreateFullyConnectedOptions(
                 fbb(), activation,
                 schema::FullyConnectedOptionsWeightsFormat::DEFAULT, true)
          .Union();
    case BuiltinOperator::TRANSPOSE_CONV:
      return schema::CreateTransposeConvOptions(fbb(), Padding::VALID, 1, 1,
                                                activation)
          .Union();
    case BuiltinOperator::CONCATENATION:
      return schema::CreateConcatenationOptions(fbb(), 3, activation).Union();
    default:
      return schema::CreatePool2DOptions(fbb(), Padding::VALID, 1, 1, 1, 1,
                                         activation)
          .Union();
    }
  }

  TensorType type;
  int x;
  std::vector<int32_t> outputs;
};

} // namespace

static constexpr Identity identities[] = {
    {BuiltinOperator::ADD},
    {BuiltinOperator::SUB},
    {BuiltinOperator::MUL},
    {BuiltinOperator::DIV, /*isQuantized=*/false},
    {BuiltinOperator::CONV_2D},
    {BuiltinOperator::DEPTHWISE_CONV_2D},
    {BuiltinOperator::FULLY_CONNECTED},
    {BuiltinOperator::TRANSPOSE_CONV},
    {BuiltinOperator::CONCATENATION, /*isQuantized=*/false},
    {BuiltinOperator::AVERAGE_POOL_2D},
    {BuiltinOperator::MAX_POOL_2D}};

static double activate(ActivationFunctionType activation, double x) {
  switch (activation) {
  case ActivationFunctionType::NONE:
    return x;
  case ActivationFunctionType::RELU:
    return std::max(x, 0.0);
  case ActivationFunctionType::RELU_N1_TO_1:
    return std::clamp(x, -1.0, 1.0);
  case ActivationFunctionType::RELU6:
    return std::clamp(x, 0.0, 6.0);
  case ActivationFunctionType::TANH:
    return std::tanh(x);
  case ActivationFunctionType::SIGN_BIT:
    return std::signbit(x);
  }
  return x;
}

static std::string getName(ActivationFunctionType activation) {
  return schema::EnumNameActivationFunctionType(activation);
}

TEST(TFLiteActivations, OfFloats) {
  const std::vector<double> xs = {-3, -0.5, 0.25, 8};
  for (const Identity &op : identities) {
    ActivationModel model(TensorType::FLOAT32);
    for (ActivationFunctionType activation : limits)
      model.add(op.kind, activation);
    for (ActivationFunctionType activation : functions)
      model.add(op.kind, activation);
    std::string bytes = model.finishModel();
    auto interpreter = createInterpreter();
    auto cpu = llvm::cantFail(CPUBackend::create(TargetOptions()));
    for (Backend *backend :
         {interpreter.get(), static_cast<Backend *>(cpu.get())}) {
      auto runs = runTFLite(*backend, bytes, {{{"x", xs}}}, {});
      ASSERT_TRUE(bool(runs)) << llvm::toString(runs.takeError());
      for (auto activation : schema::EnumValuesActivationFunctionType())
        for (size_t i = 0; i < xs.size(); ++i)
          EXPECT_NEAR((*runs)[0][getName(activation)][i],
                      activate(activation, xs[i]), 1e-6)
              << schema::EnumNameBuiltinOperator(op.kind) << " "
              << getName(activation) << " of " << xs[i];
    }
  }
}

TEST(TFLiteActivations, SignBitOfZeros) {
  ActivationModel model(TensorType::FLOAT32);
  model.add(BuiltinOperator::MUL, ActivationFunctionType::SIGN_BIT);
  double infinity = HUGE_VAL;
  auto runs = runTFLiteEverywhere(model.finishModel(),
                                  {{{"x", {-0.0, 0.0, -infinity, infinity}}}});
  EXPECT_EQ(runs[0]["SIGN_BIT"], (std::vector<double>{1, 0, 1, 0}));
}

TEST(TFLiteActivations, OfIntegers) {
  for (TensorType type :
       {TensorType::INT8, TensorType::UINT8, TensorType::INT16}) {
    double zeroPoint = type == TensorType::UINT8  ? 128
                       : type == TensorType::INT8 ? 3
                                                  : 0;
    auto quantize = [&](double x) { return x * 4 + zeroPoint; };
    std::vector<double> xs;
    for (double x : {-3.0, -0.5, 0.25, 8.0})
      xs.push_back(quantize(x));
    for (const Identity &op : identities) {
      if (!op.isQuantized)
        continue;
      ActivationModel model(type);
      for (ActivationFunctionType activation : limits)
        model.add(op.kind, activation);
      auto runs = runTFLiteEverywhere(model.finishModel(), {{{"x", xs}}});
      for (ActivationFunctionType activation : limits) {
        std::vector<double> expected;
        for (double x : xs)
          expected.push_back(
              quantize(activate(activation, (x - zeroPoint) / 4)));
        EXPECT_EQ(runs[0][getName(activation)], expected)
            << schema::EnumNameBuiltinOperator(op.kind) << " "
            << getName(activation) << " of "
            << schema::EnumNameTensorType(type);
      }
    }
  }
}

TEST(TFLiteActivations, FunctionsOfIntegersAreRefused) {
  for (TensorType type :
       {TensorType::INT8, TensorType::UINT8, TensorType::INT16})
    for (const Identity &op : identities)
      for (ActivationFunctionType activation : functions) {
        ActivationModel model(type);
        model.add(op.kind, activation);
        std::string error = getTFLiteError(model.finishModel());
        if (op.isQuantized)
          EXPECT_THAT(error,
                      HasSubstr("): its activation is " + getName(activation) +
                                "; accepted of quantized tensors: NONE, RELU, "
                                "RELU_N1_TO_1, RELU6"));
        else
          EXPECT_THAT(error, HasSubstr("accepted: "));
      }
}

//===- Scales of blocks ---------------------------------------------------===//

namespace {

/// Weights [2, 8] of bytes, or of 4 bits, with blocks of 4, and as floats.
struct BlockModel : TFLiteModel {
  static constexpr int weights[16] = {-8, 7, 1,  -3, 5,  -6, 2, 0,
                                      3,  4, -7, 6,  -1, -2, 7, -8};
  static constexpr float scales[4] = {0.5f, 2, 1, 0.25f};
  static constexpr int zeroPoints[4] = {1, -2, 0, 3};

  /// The numbers of the tensors that have scales and zero points; -1: none.
  int scale = -1, zero = -1;

  int addScales(std::vector<int32_t> shape = {2, 2}) {
    // Float16 of the numbers above.
    return scale = tensor(
               "scales", std::move(shape), TensorType::FLOAT16, {},
               getTFLiteBytes<uint16_t>({0x3800, 0x4000, 0x3C00, 0x3400}));
  }
  int addZeroPoints(TensorType type) {
    auto bytes = type == TensorType::INT8
                     ? getTFLiteBytes<int8_t>({1, -2, 0, 3})
                     : getTFLiteBytes<int32_t>({1, -2, 0, 3});
    return zero = tensor("zeros", {2, 2}, type, {}, bytes);
  }
  int addWeights(TensorType type, int block = 4,
                 std::vector<int32_t> shape = {2, 8}) {
    std::vector<uint8_t> bytes;
    for (int i = 0; i < 16; ++i)
      if (type == TensorType::INT8)
        bytes.push_back(uint8_t(weights[i]));
      else if (i % 2 == 0)
        bytes.push_back(
            uint8_t((weights[i] & 15) | (weights[i + 1] & 15) << 4));
    auto quantization = schema::CreateQuantizationParametersDirect(
        fbb(), nullptr, nullptr, nullptr, nullptr,
        schema::QuantizationDetails::BlockwiseQuantization,
        schema::CreateBlockwiseQuantization(fbb(), scale, zero, block).Union());
    return tensor(schema::CreateTensorDirect(fbb(), &shape, type, buffer(bytes),
                                             "w", quantization));
  }

  double getWeight(int row, int column) const {
    int block = row * 2 + column / 4;
    int zeroPoint = zero < 0 ? 0 : zeroPoints[block];
    return double(weights[row * 8 + column] - zeroPoint) *
           double(scales[block]);
  }
  std::vector<double> multiply(const std::vector<double> &x) const {
    std::vector<double> result;
    for (int row = 0; row < 2; ++row) {
      double sum = 0;
      for (int k = 0; k < 8; ++k)
        sum += x[size_t(k)] * getWeight(row, k);
      result.push_back(sum);
    }
    return result;
  }
};

} // namespace

static const std::vector<double> row = {1, -2, 0.5, 3, -1, 4, 2, -0.25};

TEST(TFLiteBlocks, FullyConnected) {
  for (TensorType type : {TensorType::INT8, TensorType::INT4})
    for (auto zeroType :
         {std::optional<TensorType>(), std::optional(TensorType::INT8),
          std::optional(TensorType::INT32)}) {
      BlockModel model;
      model.addScales();
      if (zeroType)
        model.addZeroPoints(*zeroType);
      int x = model.tensor("x", {1, 8}, TensorType::FLOAT32);
      int w = model.addWeights(type);
      int y = model.tensor("y", {1, 2}, TensorType::FLOAT32);
      model.op(BuiltinOperator::FULLY_CONNECTED, {x, w}, {y});
      auto runs = runTFLiteEverywhere(model.finish({x}, {y}), {{{"x", row}}});
      EXPECT_EQ(runs[0]["y"], model.multiply(row));
    }
}

TEST(TFLiteBlocks, OtherOperators) {
  BlockModel model;
  model.addScales();
  int x = model.tensor("x", {1, 1, 1, 8}, TensorType::FLOAT32);
  int w = model.addWeights(TensorType::INT4, 4, {2, 8});
  int floats = model.tensor("floats", {2, 8}, TensorType::FLOAT32);
  model.op(BuiltinOperator::DEQUANTIZE, {w}, {floats});
  int matmul = model.tensor("matmul", {1, 1, 1, 2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::BATCH_MATMUL, {x, w}, {matmul},
           schema::CreateBatchMatMulOptions(model.fbb(), false, true));
  model.scale = model.tensor("scales", {2, 1, 1, 2}, TensorType::FLOAT32, {},
                             getTFLiteBytes<float>({0.5f, 2, 1, 0.25f}));
  int filter = model.addWeights(TensorType::INT4, 4, {2, 1, 1, 8});
  int conv = model.tensor("conv", {1, 1, 1, 2}, TensorType::FLOAT32);
  model.op(
      BuiltinOperator::CONV_2D, {x, filter}, {conv},
      schema::CreateConv2DOptions(model.fbb(), schema::Padding::VALID, 1, 1));
  auto runs = runTFLiteEverywhere(model.finish({x}, {floats, matmul, conv}),
                                  {{{"x", row}}});
  std::vector<double> expected;
  for (int i = 0; i < 16; ++i)
    expected.push_back(model.getWeight(i / 8, i % 8));
  EXPECT_EQ(runs[0]["floats"], expected);
  EXPECT_EQ(runs[0]["matmul"], model.multiply(row));
  EXPECT_EQ(runs[0]["conv"], model.multiply(row));
}

TEST(TFLiteBlocks, MalformedOnesAreRefused) {
  auto getError = [](auto prepare, int block = 4) {
    BlockModel model;
    model.addScales();
    prepare(model);
    int x = model.tensor("x", {1, 8}, TensorType::FLOAT32);
    int w = model.addWeights(TensorType::INT4, block);
    int y = model.tensor("y", {1, 2}, TensorType::FLOAT32);
    model.op(BuiltinOperator::FULLY_CONNECTED, {x, w}, {y});
    return getTFLiteError(model.finish({x}, {y}));
  };
  EXPECT_EQ(getError([](BlockModel &) {}), "imported");
  for (int block : {0, -4, 3, 16})
    EXPECT_THAT(getError([](BlockModel &) {}, block),
                HasSubstr("tensor 'w' is int4<2x8> and has blocks of " +
                          std::to_string(block) +
                          " elements; accepted: constant integers, the last "
                          "extent a multiple of that"));
  EXPECT_THAT(getError([](BlockModel &) {}, 2),
              HasSubstr("the scales of tensor 'w' are 'scales', float16<2x2>; "
                        "accepted: constants, 2x4"));
  EXPECT_THAT(getError([](BlockModel &model) { model.scale = 99; }),
              HasSubstr("tensor 'w' has the scales in tensor 99 of 4"));
  EXPECT_THAT(getError([](BlockModel &model) {
                model.scale = model.addZeroPoints(TensorType::INT8);
              }),
              HasSubstr("the scales of tensor 'w' are 'zeros', int8<2x2>"));
  EXPECT_THAT(getError([](BlockModel &model) { model.zero = model.scale; }),
              HasSubstr("the zero points of tensor 'w' are 'scales', "
                        "float16<2x2>"));
}

TEST(TFLiteBlocks, IntegersTakeOneScalePerChannel) {
  auto getError = [](TFLiteScales scales) {
    BlockModel model;
    model.addScales();
    int x = model.tensor("x", {1, 8}, TensorType::INT8, {{0.5f}, {0}});
    std::vector<uint8_t> bytes(16, 1);
    int w = scales.scales.empty()
                ? model.addWeights(TensorType::INT8)
                : model.tensor("w", {2, 8}, TensorType::INT8, scales, bytes);
    int y = model.tensor("y", {1, 2}, TensorType::INT8, {{0.5f}, {0}});
    model.op(BuiltinOperator::FULLY_CONNECTED, {x, w}, {y});
    return getTFLiteError(model.finish({x}, {y}));
  };
  EXPECT_THAT(getError({}),
              HasSubstr("node 'y' (FULLY_CONNECTED): input 1 ('w') is int8<2x8>"
                        ", with scales of blocks; accepted: one scale, or "
                        "scales along dimension 0 with zero points 0"));
  EXPECT_EQ(getError({{1, 2}, {0, 0}, 0}), "imported");
  // Of the columns, and not of the rows.
  EXPECT_THAT(
      getError({{1, 2, 3, 4, 5, 6, 7, 8}, {}, 1}),
      HasSubstr("with many scales; accepted: one scale, or scales along "
                "dimension 0"));
}

//===- int16 --------------------------------------------------------------===//

TEST(TFLiteInt16, SumsOfPowersOfTwo) {
  auto add = [](bool shifts, BuiltinOperator kind) {
    TFLiteModel model;
    int x = model.tensor("x", {4}, TensorType::INT16, {{0.25f}, {0}});
    int y = model.tensor("y", {4}, TensorType::INT16, {{0.125f}, {0}});
    int z = model.tensor("z", {4}, TensorType::INT16, {{0.25f}, {0}});
    auto none = ActivationFunctionType::NONE;
    if (kind == BuiltinOperator::ADD)
      model.op(kind, {x, y}, {z},
               schema::CreateAddOptions(model.fbb(), none, shifts));
    else
      model.op(kind, {x, y}, {z},
               schema::CreateSubOptions(model.fbb(), none, shifts));
    return runTFLiteEverywhere(
        model.finish({x, y}, {z}),
        {{{"x", {-10, 10, 32767, 100}}, {"y", {1, -1, 2, 7}}}})[0]["z"];
  };
  // Half a step is a step away from zero before it is added, or the sum is
  // rounded.
  EXPECT_EQ(add(true, BuiltinOperator::ADD),
            (std::vector<double>{-9, 9, 32767, 104}));
  EXPECT_EQ(add(false, BuiltinOperator::ADD),
            (std::vector<double>{-10, 10, 32767, 104}));
  EXPECT_EQ(add(true, BuiltinOperator::SUB),
            (std::vector<double>{-11, 11, 32766, 96}));
}

TEST(TFLiteInt16, SumsOfTheStatedKind) {
  auto connect = [](TensorType type) {
    TFLiteModel model;
    int x = model.tensor("x", {1, 1}, TensorType::INT16, {{0.01f}, {0}});
    int w = model.tensor("w", {1, 1}, TensorType::INT8, {{0.5f}, {0}}, {100});
    int y = model.tensor("y", {1, 1}, TensorType::INT16, {{0.5f}, {0}});
    model.op(BuiltinOperator::FULLY_CONNECTED, {x, w}, {y},
             schema::CreateFullyConnectedOptions(
                 model.fbb(), ActivationFunctionType::NONE,
                 schema::FullyConnectedOptionsWeightsFormat::DEFAULT, false,
                 false, type));
    return model.finish({x}, {y});
  };
  auto run = [&](TensorType type) {
    return runTFLiteEverywhere(connect(type), {{{"x", {30000}}}})[0]["y"][0];
  };
  // Multipliers have 16 bits for sums of int64, and 31 for those of int32.
  EXPECT_EQ(run(TensorType::FLOAT32), 30001);
  EXPECT_EQ(run(TensorType::INT64), 30001);
  EXPECT_EQ(run(TensorType::INT32), 30000);
  EXPECT_THAT(getTFLiteError(connect(TensorType::INT8)),
              HasSubstr("its bias and sums are INT8 (quantized_bias_type); "
                        "accepted for int16: INT32, INT64"));
}

/// Beyond the integers that quotients become, the sum with the zero point has
/// no overflow.
TEST(TFLiteQuantization, FarNumbersSaturate) {
  for (int64_t zeroPoint : {-14, 0, 14})
    for (TensorType type : {TensorType::INT8, TensorType::INT16}) {
      TFLiteModel model;
      int x = model.tensor("x", {4}, TensorType::FLOAT32);
      int y = model.tensor("y", {4}, type, {{0.0625f}, {zeroPoint}});
      model.op(BuiltinOperator::QUANTIZE, {x}, {y});
      auto runs = runTFLiteEverywhere(model.finish({x}, {y}),
                                      {{{"x", {-1e9, 1e9, -1e30, 1e30}}}});
      double low = type == TensorType::INT8 ? -128 : -32768, high = -1 - low;
      EXPECT_EQ(runs[0]["y"], std::vector<double>({low, high, low, high}))
          << zeroPoint;
    }
}
