//===- TFLiteExtentsTest.cpp - TensorFlow Lite models of open dimensions --===//
//
// Models compiled once for the ranges of the symbols N and M, against the same
// models compiled for their values. Elements beyond the extents of inputs are
// NaN or large integers.
//
//===----------------------------------------------------------------------===//

#include "ExtentRuns.h"
#include "Messages.h"
#include "TFLiteRuns.h"
#include "gmock/gmock.h"
#include <set>

using namespace glowish;
namespace schema = glowish::tflite::schema;
using schema::ActivationFunctionType;
using schema::BuiltinOperator;
using schema::MirrorPadMode;
using schema::Padding;
using schema::TensorType;
using testing::HasSubstr;

namespace {

constexpr TensorType f32 = TensorType::FLOAT32, i8 = TensorType::INT8,
                     u8 = TensorType::UINT8, i16 = TensorType::INT16,
                     i32 = TensorType::INT32;

/// The bytes of a model, and the types of its inputs as a template.
struct OpenModel {
  std::string bytes;
  std::map<std::string, std::string> inputs;
  std::shared_ptr<const FormatOptions> format = nullptr;
};

/// A model of one operator, or of a few. Shapes that the file states are not
/// compared, and those of results are left out.
struct Builder : TFLiteModel {
  std::vector<int> sources, sinks;
  std::map<std::string, std::string> inputs;

  /// An input of the dimensions \p dims, "6{N}x3".
  int input(const char *name, const std::string &dims, TensorType type = f32,
            TFLiteScales scales = {}) {
    std::string kind = type == f32   ? "float"
                       : type == i8  ? "int8"
                       : type == u8  ? "uint8"
                       : type == i16 ? "int16"
                       : type == i32 ? "int32"
                                     : "bool";
    inputs[name] = kind + "<" + dims + ">";
    // Open dimensions have an extent that none of the runs has.
    std::vector<int32_t> shape;
    llvm::SmallVector<llvm::StringRef, 4> parts;
    llvm::StringRef(dims).split(parts, 'x', -1, false);
    for (llvm::StringRef part : parts)
      shape.push_back(part.contains('{') ? 97 : std::stoi(part.str()));
    sources.push_back(tensor(name, shape, type, std::move(scales)));
    return sources.back();
  }
  int ints(std::vector<int32_t> values) {
    return tensor("ints", {int(values.size())}, i32, {},
                  getTFLiteBytes(values));
  }
  int number(int32_t value) {
    return tensor("number", {}, i32, {}, getTFLiteBytes<int32_t>({value}));
  }
  /// Floats, or bytes, of a pattern.
  int weights(std::vector<int32_t> shape, TensorType type = f32,
              TFLiteScales scales = {}) {
    int count = 1;
    for (int32_t dim : shape)
      count *= dim;
    std::vector<uint8_t> bytes;
    for (int i = 0; i < count; ++i) {
      std::vector<uint8_t> own =
          type == f32   ? getTFLiteBytes<float>({float(i * 37 % 19 - 9) / 8})
          : type == i32 ? getTFLiteBytes<int32_t>({i * 37 % 190 - 95})
                        : std::vector<uint8_t>{uint8_t(i * 37 % 120)};
      bytes.insert(bytes.end(), own.begin(), own.end());
    }
    return tensor("weights", shape, type, std::move(scales), bytes);
  }
  int value(TensorType type = f32, TFLiteScales scales = {}) {
    return tensor("value", {1}, type, std::move(scales));
  }
  /// The result of an operator, which is an output.
  int result(TensorType type = f32, TFLiteScales scales = {}) {
    sinks.push_back(tensor("y", {1}, type, std::move(scales)));
    return sinks.back();
  }
  OpenModel end() { return {finish(sources, sinks), inputs}; }
};

const std::map<std::string, IntRange> ranges = {{"N", {1, 6}}, {"M", {1, 4}}};

/// Returns the type that \p text is a template of, with the extents or with
/// \p values in their place.
Type makeType(const std::string &text, const ExtentValues *values) {
  size_t open = text.find('<');
  static const std::map<std::string, ElemKind> kinds = {
      {"float", ElemKind::Float}, {"int8", ElemKind::Int8},
      {"uint8", ElemKind::UInt8}, {"int16", ElemKind::Int16},
      {"int32", ElemKind::Int32}, {"bool", ElemKind::Bool}};
  llvm::SmallVector<llvm::StringRef, 4> parts;
  llvm::StringRef(text)
      .slice(open + 1, text.size() - 1)
      .split(parts, 'x', -1, false);
  Dims dims;
  ExtentList extents;
  for (llvm::StringRef part : parts) {
    auto [bound, rest] = part.split('{');
    dims.push_back(std::stoi(bound.str()));
    extents.emplace_back();
    if (rest.empty())
      continue;
    extents.back() = Extent::parse(rest.drop_back());
    if (values)
      dims.back() = *evaluate(*extents.back(), *values);
  }
  Type type(kinds.at(text.substr(0, open)), dims);
  return values ? type : type.withExtents(extents);
}

ImportOptions getOptions(const OpenModel &model, const ExtentValues *values) {
  ImportOptions options;
  options.ofFormat = model.format;
  std::set<std::string> used;
  for (const auto &[name, text] : model.inputs) {
    options.inputTypes[name] = makeType(text, values);
    for (const auto &extent : options.inputTypes[name].getExtents())
      if (extent)
        for (const std::string &symbol : extent->getSymbols())
          used.insert(symbol);
  }
  for (const auto &[symbol, range] : ranges)
    if (used.count(symbol))
      options.symbolRanges[symbol] = range;
  return options;
}

llvm::Expected<Program> compile(const OpenModel &model,
                                const ExtentValues *values, bool isCPU) {
  GLOWISH_ASSIGN_OR_RETURN(
      auto module, importTFLiteBytes(model.bytes, getOptions(model, values)));
  return compileProgram(std::move(module), createBackend(isCPU));
}

/// Integers of all magnitudes, and floats.
Tensor makeElements(const Type &type, uint64_t seed) {
  Random random(seed);
  Tensor tensor(type);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    double integer = type.getKind() == ElemKind::Int32
                         ? double(random.below(2))
                         : double(random.below(100)) - 40;
    tensor.setFromDouble(i, isFloatKind(type.getKind())
                                ? double(random.uniform(-1, 1))
                            : type.getKind() == ElemKind::UInt8 ||
                                    type.getKind() == ElemKind::Bool
                                ? std::abs(integer)
                                : integer);
  }
  return tensor;
}

/// Compares outputs of \p open for random inputs with those of \p fixed.
void compare(Program &open, Program &fixed, const ExtentValues &values) {
  uint64_t seed = 0;
  for (const Buffer *input : open.session->getPlaceholders()) {
    if (!input->isInput())
      continue;
    if (const auto &range = input->getInputExtents().range) {
      Tensor extent(Type(ElemKind::Int64, {}));
      extent.setFromDouble(0, double(values.find(range->symbol)->second));
      llvm::cantFail(open.session->setInput(input, extent));
      continue;
    }
    Tensor tensor = makeElements(
        input->getType().withShape(evaluateShape(input, values)), ++seed);
    ASSERT_EQ(getMessage(setInput(open, &fixed, input, tensor)), "");
  }
  ASSERT_EQ(getMessage(open.session->run()), "");
  llvm::cantFail(fixed.session->run());
  unsigned numOutputs = 0;
  for (const Buffer *output : fixed.session->getPlaceholders()) {
    if (!output->isOutput())
      continue;
    ++numOutputs;
    llvm::StringRef name = output->getModelName();
    Tensor expected = fixed.session->getOutput(output);
    Tensor actual = open.session->getOutput(open.find(name));
    ASSERT_EQ(actual.getType().str(), expected.getType().str()) << name.str();
    for (int64_t i = 0; i < expected.getNumElements(); ++i) {
      double x = actual.getAsDouble(i), y = expected.getAsDouble(i);
      if (isFloatKind(expected.getType().getKind()))
        ASSERT_NEAR(x, y, 1e-5 * std::max(1.0, std::abs(y)))
            << name.str() << ", element " << i;
      else
        ASSERT_EQ(x, y) << name.str() << ", element " << i;
    }
  }
  EXPECT_GT(numOutputs, 0u);
}

const ExtentValues someValues[] = {
    ExtentValues{{"N", 6}, {"M", 4}}, ExtentValues{{"N", 1}, {"M", 3}},
    ExtentValues{{"N", 4}, {"M", 1}}, ExtentValues{{"N", 3}, {"M", 2}}};

/// \p atLeast: the least of N in the runs.
void check(const OpenModel &model, int64_t atLeast = 1, int64_t divisor = 1) {
  for (bool isCPU : {false, true}) {
    llvm::Expected<Program> open = compile(model, nullptr, isCPU);
    if (!open) {
      ADD_FAILURE() << llvm::toString(open.takeError());
      return;
    }
    unsigned numCompared = 0;
    for (const ExtentValues &values : someValues) {
      SCOPED_TRACE("N = " + std::to_string(values.find("N")->second) +
                   ", M = " + std::to_string(values.find("M")->second) +
                   (isCPU ? ", CPU" : ", interpreter"));
      int64_t n = values.find("N")->second;
      if (n < atLeast || n % divisor != 0)
        continue;
      llvm::Expected<Program> fixed = compile(model, &values, false);
      ASSERT_TRUE(bool(fixed)) << llvm::toString(fixed.takeError());
      compare(*open, *fixed, values);
      ++numCompared;
    }
    EXPECT_GE(numCompared, 2u);
  }
}

/// What the import of \p model for ranges says.
std::string refuse(const OpenModel &model) {
  return getTFLiteError(model.bytes, getOptions(model, nullptr));
}

/// A model of one operator that reads \p dims, and constants.
template <typename T = schema::AbsOptions>
OpenModel
unary(BuiltinOperator kind, const std::string &dims,
      std::vector<std::vector<int32_t>> constants = {},
      llvm::function_ref<flatbuffers::Offset<T>(Builder &)> options = nullptr,
      unsigned numResults = 1, TensorType type = f32, TFLiteScales scales = {},
      TensorType to = f32) {
  Builder model;
  std::vector<int> operands = {model.input("x", dims, type, scales)}, results;
  for (const std::vector<int32_t> &values : constants)
    operands.push_back(model.ints(values));
  for (unsigned i = 0; i < numResults; ++i)
    results.push_back(model.result(to, scales));
  if (options)
    model.op(kind, operands, results, options(model));
  else
    model.op(kind, operands, results);
  return model.end();
}

} // namespace

//===- Elements -----------------------------------------------------------===//

TEST(TFLiteExtents, ElementWise) {
  for (BuiltinOperator kind :
       {BuiltinOperator::ABS, BuiltinOperator::LOGISTIC, BuiltinOperator::EXP,
        BuiltinOperator::RELU6, BuiltinOperator::HARD_SWISH,
        BuiltinOperator::ELU, BuiltinOperator::GELU, BuiltinOperator::SQUARE,
        BuiltinOperator::ZEROS_LIKE, BuiltinOperator::LEAKY_RELU,
        BuiltinOperator::LOG_SOFTMAX, BuiltinOperator::L2_NORMALIZATION})
    check(unary(kind, "6{N}x4{M}x5"));
  // Along the dimension that they read.
  check(unary(BuiltinOperator::LOG_SOFTMAX, "3x6{N}"));
  check(unary(BuiltinOperator::L2_NORMALIZATION, "3x6{N}"));
  check(unary(BuiltinOperator::LOCAL_RESPONSE_NORMALIZATION, "4{M}x2x3x6{N}"));
}

TEST(TFLiteExtents, TwoOperands) {
  for (BuiltinOperator kind :
       {BuiltinOperator::ADD, BuiltinOperator::SUB, BuiltinOperator::MUL,
        BuiltinOperator::MAXIMUM, BuiltinOperator::SQUARED_DIFFERENCE,
        BuiltinOperator::FLOOR_MOD, BuiltinOperator::ADD_N}) {
    Builder model;
    int x = model.input("x", "6{N}x4{M}x5"),
        y = model.input("y", "6{N}x4{M}x5");
    if (kind == BuiltinOperator::FLOOR_MOD)
      y = model.weights({5});
    model.op(kind, {x, y}, {model.result()});
    check(model.end());
  }
  for (TensorType type : {i8, u8, i16})
    for (BuiltinOperator kind : {BuiltinOperator::ADD, BuiltinOperator::SUB,
                                 BuiltinOperator::MUL, BuiltinOperator::LESS}) {
      int64_t zero = type == i16 ? 0 : 3;
      Builder model;
      int x = model.input("x", "6{N}x1x5", type, {{0.05f}, {zero}});
      int y = model.input("y", "4{M}x1", type, {{0.02f}, {zero}});
      model.op(kind, {x, y},
               {kind == BuiltinOperator::LESS
                    ? model.result(TensorType::BOOL)
                    : model.result(type, {{0.07f}, {zero}})});
      check(model.end());
    }
  // Of 6 rows, which would be broadcast where N is 1.
  auto multiply = [](BuiltinOperator kind, const std::string &other) {
    Builder model;
    int x = model.input("x", "6{N}x4x4"), y = model.input("y", other);
    model.op(kind, {x, y}, {model.result()});
    return model.end();
  };
  for (BuiltinOperator kind :
       {BuiltinOperator::MUL, BuiltinOperator::BATCH_MATMUL}) {
    EXPECT_THAT(refuse(multiply(kind, "6x4x4")),
                HasSubstr("input 1 ('y') is float<6x4x4>; accepted: N or 1 in "
                          "dimension 0, as in input 0"));
    check(multiply(kind, "1x4x4"));
    check(multiply(kind, "4x4"));
  }
  Builder model;
  int c = model.input("c", "6{N}", TensorType::BOOL);
  int x = model.input("x", "6{N}x4{M}"), y = model.input("y", "6{N}x4{M}");
  model.op(BuiltinOperator::SELECT, {c, x, y}, {model.result()});
  check(model.end());
}

TEST(TFLiteExtents, Quantized) {
  TFLiteScales scales{{0.05f}, {3}};
  for (BuiltinOperator kind :
       {BuiltinOperator::LOGISTIC, BuiltinOperator::HARD_SWISH,
        BuiltinOperator::RELU6, BuiltinOperator::LEAKY_RELU,
        BuiltinOperator::QUANTIZE})
    for (TensorType type : {i8, u8}) {
      check(unary(kind, "6{N}x4{M}x5", {}, {}, 1, type, scales, type));
      check(unary(kind, "2x6{N}", {}, {}, 1, type, scales, type));
    }
  for (TensorType type : {f32, i8, u8})
    for (const char *dims : {"6{N}x4{M}x5", "2x6{N}"})
      check(unary<schema::SoftmaxOptions>(
          BuiltinOperator::SOFTMAX, dims, {},
          [](Builder &b) { return schema::CreateSoftmaxOptions(b.fbb(), 1); },
          1, type, type == f32 ? TFLiteScales{} : scales, type));
  check(unary(BuiltinOperator::DEQUANTIZE, "6{N}x5", {}, {}, 1, i8, scales));
  Builder model;
  int x = model.input("x", "6{N}x5");
  model.op(BuiltinOperator::QUANTIZE, {x}, {model.result(i8, {{0.02f}, {5}})});
  check(model.end());
  check(unary<schema::CastOptions>(BuiltinOperator::CAST, "6{N}x5", {}, {}, 1,
                                   i32, {}, f32));
}

//===- Reductions ---------------------------------------------------------===//

static OpenModel reduce(BuiltinOperator kind, const std::string &dims,
                        std::vector<int32_t> axes, bool keepDims = false,
                        TensorType type = f32, TFLiteScales scales = {}) {
  return unary<schema::ReducerOptions>(
      kind, dims, {std::move(axes)},
      [&](Builder &b) {
        return schema::CreateReducerOptions(b.fbb(), keepDims);
      },
      1, type, scales, type);
}

TEST(TFLiteExtents, Reductions) {
  for (BuiltinOperator kind :
       {BuiltinOperator::MEAN, BuiltinOperator::SUM,
        BuiltinOperator::REDUCE_PROD, BuiltinOperator::REDUCE_MAX,
        BuiltinOperator::REDUCE_MIN}) {
    check(reduce(kind, "6{N}x4{M}x3", {1}));
    check(reduce(kind, "6{N}x4{M}x3", {0, 1}, /*keepDims=*/true));
    check(reduce(kind, "6{N}x4{M}x3", {-1}));
  }
  for (TensorType type : {i8, u8}) {
    TFLiteScales scales{{0.05f}, {3}};
    check(
        reduce(BuiltinOperator::MEAN, "6{N}x4x3", {1, 2}, true, type, scales));
    check(reduce(BuiltinOperator::SUM, "6{N}x4{M}x3", {1}, true, type, scales));
    check(reduce(BuiltinOperator::REDUCE_MAX, "6{N}x4{M}x3", {1}, true, type,
                 scales));
    EXPECT_THAT(refuse(reduce(BuiltinOperator::MEAN, "6{N}x4x3", {0, 2}, true,
                              type, scales)),
                HasSubstr("node 'y' (MEAN): input 0 ('x') is"));
  }
  for (BuiltinOperator kind :
       {BuiltinOperator::REDUCE_ANY, BuiltinOperator::REDUCE_ALL})
    check(reduce(kind, "6{N}x4{M}x3", {1}, false, TensorType::BOOL));
  for (BuiltinOperator kind :
       {BuiltinOperator::ARG_MAX, BuiltinOperator::ARG_MIN})
    for (int32_t axis : {0, 1, -1})
      check(unary(kind, "6{N}x4{M}x3", {{axis}}, {}, 1, f32, {}, i32));
  for (bool reverse : {false, true})
    for (int32_t axis : {0, 1})
      check(unary<schema::CumsumOptions>(
          BuiltinOperator::CUMSUM, "6{N}x4{M}", {{axis}}, [&](Builder &b) {
            return schema::CreateCumsumOptions(b.fbb(), reverse, reverse);
          }));
}

//===- Images -------------------------------------------------------------===//

static OpenModel convolve(const std::string &dims, Padding padding, int stride,
                          bool isDepthwise, TensorType type = f32) {
  Builder model;
  bool isFloat = type == f32;
  auto scaled = [&](float scale, int64_t zero) {
    return isFloat ? TFLiteScales{} : TFLiteScales{{scale}, {zero}};
  };
  int x = model.input("x", dims, type, scaled(0.05f, type == i16 ? 0 : 3));
  int f = model.weights(isDepthwise ? std::vector<int32_t>{1, 3, 3, 2}
                                    : std::vector<int32_t>{4, 3, 3, 2},
                        type == i16 ? i8 : type,
                        scaled(0.01f, type == u8 ? 60 : 0));
  int y = model.result(type, scaled(0.2f, type == i16 ? 0 : 5));
  if (isDepthwise)
    model.op(BuiltinOperator::DEPTHWISE_CONV_2D, {x, f}, {y},
             schema::CreateDepthwiseConv2DOptions(model.fbb(), padding, stride,
                                                  stride, 1));
  else
    model.op(BuiltinOperator::CONV_2D, {x, f}, {y},
             schema::CreateConv2DOptions(model.fbb(), padding, stride, stride,
                                         ActivationFunctionType::RELU));
  return model.end();
}

TEST(TFLiteExtents, Convolutions) {
  for (TensorType type : {f32, i8, u8, i16})
    for (bool isDepthwise : {false, true}) {
      check(convolve("6{N}x5x5x2", Padding::SAME, 2, isDepthwise, type));
      check(convolve("4{M}x6{N}x5x2", Padding::SAME, 1, isDepthwise, type));
      check(convolve("2x5x6{N}x2", Padding::SAME, 1, isDepthwise, type));
      check(convolve("2x5x12{2*N}x2", Padding::SAME, 2, isDepthwise, type));
      check(convolve("2x6{N}x5x2", Padding::VALID, 2, isDepthwise, type),
            /*atLeast=*/3);
    }
  EXPECT_THAT(
      refuse(convolve("2x6{N}x5x2", Padding::SAME, 2, false)),
      HasSubstr("node 'y' (CONV_2D): a run decides an extent, N, and how "
                "'SAME_UPPER' pads it for a stride of 2; accepted: "
                "multiples of the stride"));
}

static OpenModel pool(BuiltinOperator kind, const std::string &dims,
                      Padding padding, int stride, TensorType type = f32) {
  return unary<schema::Pool2DOptions>(
      kind, dims, {},
      [&](Builder &b) {
        return schema::CreatePool2DOptions(b.fbb(), padding, stride, stride, 3,
                                           3);
      },
      1, type, type == f32 ? TFLiteScales{} : TFLiteScales{{0.05f}, {3}}, type);
}

TEST(TFLiteExtents, Pools) {
  for (BuiltinOperator kind :
       {BuiltinOperator::MAX_POOL_2D, BuiltinOperator::AVERAGE_POOL_2D})
    for (TensorType type : {f32, i8, u8}) {
      check(pool(kind, "6{N}x5x5x2", Padding::SAME, 2, type));
      check(pool(kind, "2x8{N + 2}x5x2", Padding::VALID, 1, type));
      EXPECT_THAT(refuse(pool(kind, "2x6{N}x5x2", Padding::VALID, 1, type)),
                  HasSubstr("the extent of dimension 1 of the result is N - "
                            "2"));
      // A kernel as large as the bound.
      check(pool(kind, "6{N}x3x3x4{M}", Padding::VALID, 1, type));
      bool isRefused = type != f32 && kind == BuiltinOperator::AVERAGE_POOL_2D;
      OpenModel rows = pool(kind, "2x6{N}x5x2", Padding::SAME, 1, type);
      if (isRefused)
        EXPECT_THAT(refuse(rows), HasSubstr("accepted: an extent of dimension "
                                            "1 that no run decides"));
      else
        check(rows);
    }
}

TEST(TFLiteExtents, ResizedImages) {
  for (TensorType type : {f32, i8}) {
    TFLiteScales scales =
        type == f32 ? TFLiteScales{} : TFLiteScales{{0.05f}, {3}};
    auto bilinear = [&](const std::string &dims) {
      return unary<schema::ResizeBilinearOptions>(
          BuiltinOperator::RESIZE_BILINEAR, dims, {{7, 9}},
          [&](Builder &b) {
            return schema::CreateResizeBilinearOptions(b.fbb(), false, true);
          },
          1, type, scales, type);
    };
    check(bilinear("6{N}x3x4x2"));
    EXPECT_THAT(refuse(bilinear("2x6{N}x4x2")),
                HasSubstr("an extent of dimension 1 that no run decides"));
    check(unary(BuiltinOperator::RESIZE_NEAREST_NEIGHBOR, "6{N}x3x4x4{M}",
                {{7, 9}}, {}, 1, type, scales, type));
  }
}

TEST(TFLiteExtents, TransposedConvolutions) {
  for (TensorType type : {f32, i8}) {
    auto scaled = [&](float scale, int64_t zero) {
      return type == f32 ? TFLiteScales{} : TFLiteScales{{scale}, {zero}};
    };
    auto make = [&](const std::string &dims) {
      Builder model;
      int x = model.input("x", dims, type, scaled(0.05f, 3));
      int shape = model.value(i32), first = model.value(i32);
      int count = model.value(i32);
      // [the number of images, 8, 8, 3]
      model.op(BuiltinOperator::SHAPE, {x}, {shape},
               schema::CreateShapeOptions(model.fbb(), i32));
      model.op(BuiltinOperator::STRIDED_SLICE,
               {shape, model.ints({0}), model.ints({1}), model.ints({1})},
               {first},
               schema::CreateStridedSliceOptions(model.fbb(), 0, 0, 0, 0, 1));
      model.op(BuiltinOperator::PACK,
               {first, model.number(8), model.number(8), model.number(3)},
               {count}, schema::CreatePackOptions(model.fbb(), 4, 0));
      int f = model.weights({3, 3, 3, 2}, type, scaled(0.01f, 0));
      model.op(
          BuiltinOperator::TRANSPOSE_CONV, {count, f, x},
          {model.result(type, scaled(0.2f, 5))},
          schema::CreateTransposeConvOptions(model.fbb(), Padding::SAME, 2, 2));
      return model.end();
    };
    check(make("6{N}x4x4x2"));
    EXPECT_THAT(refuse(make("2x4{M}x4x2")),
                HasSubstr("node 'y' (TRANSPOSE_CONV): input 2 ('x') is"));
  }
}

//===- Matrices -----------------------------------------------------------===//

static OpenModel connect(const std::string &dims, int columns, bool keepsDims,
                         TensorType type = f32) {
  Builder model;
  auto scaled = [&](float scale, int64_t zero) {
    return type == f32 ? TFLiteScales{} : TFLiteScales{{scale}, {zero}};
  };
  int x = model.input("x", dims, type, scaled(0.05f, type == i16 ? 0 : 3));
  int w = model.weights({3, columns}, type == f32 ? f32 : i8, scaled(0.01f, 0));
  model.op(BuiltinOperator::FULLY_CONNECTED, {x, w, -1},
           {model.result(type, scaled(0.2f, type == i16 ? 0 : 5))},
           schema::CreateFullyConnectedOptions(
               model.fbb(), ActivationFunctionType::RELU,
               schema::FullyConnectedOptionsWeightsFormat::DEFAULT, keepsDims));
  return model.end();
}

TEST(TFLiteExtents, FullyConnected) {
  for (TensorType type : {f32, i8, i16}) {
    check(connect("6{N}x4", 4, false, type));
    check(connect("6{N}x2x2x4", 16, false, type));
    check(connect("1x6{N}x4", 4, false, type));
    check(connect("6{N}x4{M}x4", 4, false, type));
    check(connect("6{N}x4{M}x4", 4, true, type));
    check(connect("2x4{M}x4", 4, true, type));
  }
  check(connect("2x6{N}", 6, false), /*atLeast=*/1, /*divisor=*/3);
}

TEST(TFLiteExtents, BatchMatMul) {
  for (TensorType type : {f32, i8})
    for (bool isTransposed : {false, true}) {
      auto scaled = [&](float scale, int64_t zero) {
        return type == f32 ? TFLiteScales{} : TFLiteScales{{scale}, {zero}};
      };
      auto make = [&](const std::string &left, const std::string &right) {
        Builder model;
        int x = model.input("x", left, type, scaled(0.05f, 3));
        int y = model.input("y", right, type, scaled(0.02f, -4));
        model.op(
            BuiltinOperator::BATCH_MATMUL, {x, y},
            {model.result(type, scaled(0.2f, 5))},
            schema::CreateBatchMatMulOptions(model.fbb(), false, isTransposed));
        return model.end();
      };
      check(make("6{N}x3x4", isTransposed ? "6{N}x5x4" : "6{N}x4x5"));
      check(make("2x6{N}x3", isTransposed ? "2x4{M}x3" : "2x3x4{M}"));
      // Along the depth.
      check(make("4{M}x2x6{N}", isTransposed ? "4{M}x3x6{N}" : "4{M}x6{N}x3"));
    }
}

//===- Data movement ------------------------------------------------------===//

TEST(TFLiteExtents, Movement) {
  check(unary(BuiltinOperator::TRANSPOSE, "6{N}x4{M}x3", {{1, 2, 0}}));
  check(unary(BuiltinOperator::EXPAND_DIMS, "6{N}x4{M}", {{1}}));
  check(unary(BuiltinOperator::PAD, "6{N}x3", {{1, 2, 0, 1}}));
  check(unary(BuiltinOperator::PAD, "6{N}x4{M}", {{1, 2, 2, 1}}, {}, 1, i8,
              {{0.05f}, {3}}, i8));
  check(unary(BuiltinOperator::TILE, "6{N}x3", {{1, 2}}));
  check(unary(BuiltinOperator::REVERSE_V2, "6{N}x3", {{1}}));
  EXPECT_THAT(refuse(unary(BuiltinOperator::REVERSE_V2, "6{N}x3", {{0}})),
              HasSubstr("node 'y' (REVERSE_V2): "));
  EXPECT_THAT(refuse(unary(BuiltinOperator::TILE, "6{N}x3", {{2, 1}})),
              HasSubstr("node 'y' (TILE): "));
  check(unary<schema::SqueezeOptions>(
      BuiltinOperator::SQUEEZE, "6{N}x1x4{M}x1", {}, [](Builder &b) {
        std::vector<int32_t> dims = {1, -1};
        return schema::CreateSqueezeOptionsDirect(b.fbb(), &dims);
      }));
  EXPECT_THAT(refuse(unary(BuiltinOperator::SQUEEZE, "6{N}x1x3")),
              HasSubstr("accepted: named dimensions (squeeze_dims)"));
  for (MirrorPadMode mode :
       {MirrorPadMode::REFLECT, MirrorPadMode::SYMMETRIC}) {
    auto mirror = [&](std::vector<int32_t> pads) {
      return unary<schema::MirrorPadOptions>(
          BuiltinOperator::MIRROR_PAD, "6{N}x3", {pads}, [&](Builder &b) {
            return schema::CreateMirrorPadOptions(b.fbb(), mode);
          });
    };
    check(mirror({0, 0, 1, 2}));
    EXPECT_THAT(refuse(mirror({0, 1, 0, 0})),
                HasSubstr("node 'y' (MIRROR_PAD): "));
  }
}

TEST(TFLiteExtents, PartsAndWholes) {
  for (int axis : {0, 1, -1})
    for (bool isQuantized : {false, true}) {
      TensorType type = isQuantized ? i8 : f32;
      TFLiteScales scales =
          isQuantized ? TFLiteScales{{0.05f}, {3}} : TFLiteScales{};
      Builder model;
      std::string other = axis == 0   ? "4{M}x6{N}x3"
                          : axis == 1 ? "6{N}x4{M}x3"
                                      : "6{N}x6{N}x2";
      int x = model.input("x", "6{N}x6{N}x3", type, scales);
      int y = model.input("y", other, type, scales);
      model.op(BuiltinOperator::CONCATENATION, {x, y, x},
               {model.result(type, scales)},
               schema::CreateConcatenationOptions(model.fbb(), axis));
      check(model.end());
    }
  Builder pack;
  int x = pack.input("x", "6{N}x4{M}"), y = pack.input("y", "6{N}x4{M}");
  pack.op(BuiltinOperator::PACK, {x, y}, {pack.result()},
          schema::CreatePackOptions(pack.fbb(), 2, 1));
  check(pack.end());
  auto split = [](const std::string &dims) {
    Builder model;
    int x = model.input("x", dims);
    model.op(BuiltinOperator::SPLIT, {model.number(1), x},
             {model.result(), model.result()},
             schema::CreateSplitOptions(model.fbb(), 2));
    return model.end();
  };
  check(split("6{N}x4x4{M}"));
  EXPECT_THAT(refuse(split("4x6{N}")), HasSubstr("node 'y' (SPLIT): "));
  auto splitV = [](const std::string &dims) {
    return unary(
        BuiltinOperator::SPLIT_V, dims, {{1, -1}, {1}},
        llvm::function_ref<flatbuffers::Offset<schema::AbsOptions>(Builder &)>(
            nullptr),
        2);
  };
  check(splitV("6{N}x4x4{M}"));
  EXPECT_THAT(refuse(splitV("4x6{N}")), HasSubstr("node 'y' (SPLIT_V): "));
  auto unpack = [](const std::string &dims) {
    return unary<schema::UnpackOptions>(
        BuiltinOperator::UNPACK, dims, {},
        [](Builder &b) { return schema::CreateUnpackOptions(b.fbb(), 2, 1); },
        2);
  };
  check(unpack("6{N}x2x4{M}"));
  EXPECT_THAT(refuse(unpack("4x6{N}")), HasSubstr("node 'y' (UNPACK): "));
}

TEST(TFLiteExtents, Slices) {
  auto slice = [](const std::string &dims, std::vector<int32_t> begins,
                  std::vector<int32_t> sizes) {
    return unary(BuiltinOperator::SLICE, dims, {begins, sizes});
  };
  check(slice("6{N}x4", {0, 1}, {-1, 2}));
  check(slice("6{N}x4", {1, 0}, {-1, -1}));
  check(slice("8{N + 2}x4", {1, 0}, {2, -1}));
  for (std::vector<int32_t> sizes : {std::vector{6, 4}, {2, 4}})
    EXPECT_THAT(refuse(slice("6{N}x4", {0, 0}, sizes)),
                HasSubstr("accepted: elements that are always there"));
  auto strided = [](const std::string &dims, std::vector<int32_t> begins,
                    std::vector<int32_t> ends, std::vector<int32_t> steps,
                    int beginMask, int endMask, int shrinkMask) {
    return unary<schema::StridedSliceOptions>(
        BuiltinOperator::STRIDED_SLICE, dims, {begins, ends, steps},
        [&](Builder &b) {
          return schema::CreateStridedSliceOptions(b.fbb(), beginMask, endMask,
                                                   0, 0, shrinkMask);
        });
  };
  check(strided("6{N}x4{M}x5", {0, 0, 1}, {0, 0, -1}, {1, 1, 2}, 3, 3, 0));
  check(strided("6{N}x4", {0, 0}, {100, 2}, {2, 1}, 0, 0, 0));
  check(strided("8{N + 2}x4", {1, 0}, {-1, 0}, {1, -1}, 0, 2, 0));
  check(strided("6{N}x4{M}x3", {0, -1, 1}, {0, 0, 2}, {1, 1, 1}, 1, 1, 6));
  check(strided("6{N}x4", {0, 0}, {1, 0}, {1, 1}, 0, 2, 1));
  EXPECT_THAT(refuse(strided("6{N}x4", {0, 0}, {3, 4}, {1, 1}, 0, 0, 0)),
              HasSubstr("node 'y' (STRIDED_SLICE): the slice of dimension 0 of "
                        "float<6{N}x4> has the place 3"));
  EXPECT_THAT(refuse(strided("6{N}x4", {3, 0}, {0, 4}, {1, 1}, 0, 1, 0)),
              HasSubstr("has the place 3"));
  EXPECT_THAT(refuse(strided("6{N}x4", {0, 0}, {0, 4}, {-1, 1}, 1, 1, 0)),
              HasSubstr("accepted: from a number on"));
  EXPECT_THAT(refuse(strided("6{N}x4", {3, 0}, {4, 4}, {1, 1}, 0, 0, 1)),
              HasSubstr("has the place 3"));
}

TEST(TFLiteExtents, SlicesOfOtherRanks) {
  auto slice = [](const std::string &dims, std::vector<int32_t> begins,
                  std::vector<int32_t> ends, int endMask, int ellipsisMask,
                  int newAxisMask, int shrinkMask) {
    return unary<schema::StridedSliceOptions>(
        BuiltinOperator::STRIDED_SLICE, dims,
        {begins, ends, std::vector<int32_t>(begins.size(), 1)},
        [&](Builder &b) {
          return schema::CreateStridedSliceOptions(
              b.fbb(), 0, endMask, ellipsisMask, newAxisMask, shrinkMask);
        });
  };
  // x[..., -1], x[..., 1:, :], x[newaxis, :, 1:-1] and x[0, newaxis, ..., -1].
  check(slice("3x4{M}x6{N}", {0, -1}, {0, 0}, 0, 1, 0, 2));
  check(slice("6{N}x6{M + 2}x3", {0, 1, 0}, {0, 0, 0}, 6, 1, 0, 0));
  check(slice("6{N}x6{M + 2}x3", {0, 0, 1}, {0, 0, -1}, 2, 0, 1, 0));
  check(slice("6{N}x2x4{M}x3", {0, 0, 0, -1}, {1, 0, 0, 0}, 0, 4, 2, 9));
  EXPECT_THAT(refuse(slice("6{N}x3", {0, 0, 0}, {0, 0, 0}, 7, 0, 0, 0)),
              HasSubstr("3 dimensions of 2 are sliced"));
}

TEST(TFLiteExtents, Blocks) {
  auto toSpace = [](const std::string &dims) {
    return unary<schema::DepthToSpaceOptions>(
        BuiltinOperator::DEPTH_TO_SPACE, dims, {}, [](Builder &b) {
          return schema::CreateDepthToSpaceOptions(b.fbb(), 2);
        });
  };
  check(toSpace("6{N}x3x2x8"));
  check(toSpace("2x6{N}x4{M}x8"));
  auto toDepth = [](const std::string &dims) {
    return unary<schema::SpaceToDepthOptions>(
        BuiltinOperator::SPACE_TO_DEPTH, dims, {}, [](Builder &b) {
          return schema::CreateSpaceToDepthOptions(b.fbb(), 2);
        });
  };
  check(toDepth("6{N}x4x2x3"));
  check(toDepth("2x12{2*N}x2x3"));
  check(toDepth("2x6{N}x2x3"), /*atLeast=*/1, /*divisor=*/2);
  auto toBatch = [](const std::string &dims, std::vector<int32_t> pads) {
    return unary(BuiltinOperator::SPACE_TO_BATCH_ND, dims, {{2, 2}, pads});
  };
  check(toBatch("6{N}x3x4x2", {1, 0, 0, 0}));
  check(toBatch("6{N}x8{2*M}x4x2", {1, 1, 0, 0}));
  auto fromBatch = [](const std::string &dims, std::vector<int32_t> crops) {
    return unary(BuiltinOperator::BATCH_TO_SPACE_ND, dims, {{2, 2}, crops});
  };
  check(fromBatch("24{4*N}x3x4x2", {1, 1, 0, 2}));
  check(fromBatch("24{4*N}x4{M}x4x2", {1, 0, 0, 2}));
  EXPECT_THAT(refuse(fromBatch("8x4{M}x4x2", {0, 1, 0, 0})),
              HasSubstr("an extent of dimension 1 that no run decides"));
}

TEST(TFLiteExtents, Indexing) {
  auto gather = [](const std::string &data, const std::string &indices,
                   int axis, int batchDims) {
    Builder model;
    int x = model.input("x", data), i = model.input("i", indices, i32);
    model.op(BuiltinOperator::GATHER, {x, i}, {model.result()},
             schema::CreateGatherOptions(model.fbb(), axis, batchDims));
    return model.end();
  };
  check(gather("6{N}x3", "4{M}", 1, 0));
  check(gather("3x6{N}", "4{M}x2", 0, 0));
  check(gather("6{N}x3x2", "6{N}x5", 1, 1));
  check(gather("6{N}x3x2", "6{N}x4", 2, 1));
  for (const char *indices : {"6{7 - N}x5", "6x5"})
    EXPECT_THAT(refuse(gather("6{N}x3", indices, 1, 1)),
                HasSubstr("the extents of input 0 in the first dimensions"));
  Builder nd;
  int x = nd.input("x", "6{N}x3x4{M}"), i = nd.input("i", "4{M}x2", i32);
  // Of one image they take the first alone.
  nd.op(BuiltinOperator::GATHER_ND, {x, i}, {nd.result()});
  check(nd.end(), /*atLeast=*/2);
  Builder hot;
  i = hot.input("i", "6{N}x4{M}", i32);
  int on = hot.weights({}),
      off = hot.tensor("off", {}, f32, {}, getTFLiteBytes<float>({0.5f}));
  hot.op(BuiltinOperator::ONE_HOT, {i, hot.number(3), on, off}, {hot.result()},
         schema::CreateOneHotOptions(hot.fbb(), 1));
  check(hot.end());
  auto top = [](const std::string &dims, int count) {
    Builder model;
    int x = model.input("x", dims);
    model.op(BuiltinOperator::TOPK_V2, {x, model.number(count)},
             {model.result(), model.result(i32)});
    return model.end();
  };
  check(top("6{N}x5", 3));
  check(top("8{N + 2}", 3));
  EXPECT_THAT(refuse(top("2x6{N}", 3)), HasSubstr("node 'y' "));
}

//===- Shapes -------------------------------------------------------------===//

static OpenModel reshape(const std::string &dims, std::vector<int32_t> shape) {
  return unary(BuiltinOperator::RESHAPE, dims, {shape});
}

/// Of a file for one sample, [1, 2, 3].
static OpenModel reshapeOne(const std::string &dims,
                            std::vector<int32_t> shape) {
  Builder model;
  int x = model.tensor("x", {1, 2, 3}, f32);
  model.op(BuiltinOperator::RESHAPE, {x, model.ints(shape)}, {model.result()});
  return {model.finish({x}, model.sinks), {{"x", "float<" + dims + ">"}}};
}

TEST(TFLiteExtents, ReshapesOfOneSample) {
  check(reshapeOne("6{N}x2x3", {1, 6}), /*atLeast=*/2);
  check(reshapeOne("6{N}x2x3", {1, 3, 2}), /*atLeast=*/2);
  for (const char *dims : {"6{N}x2x4", "6{N}x4{M}x3", "1x2x6{N}"})
    EXPECT_THAT(refuse(reshapeOne(dims, {1, 6})),
                HasSubstr("node 'y' (RESHAPE): its input is float<"));
  EXPECT_THAT(refuse(reshapeOne("6{N}x2x3", {2, 3})),
              HasSubstr("accepted: -1 for one of its dimensions"));
}

TEST(TFLiteExtents, ReshapeByConstants) {
  check(reshape("6{N}x2x3", {-1, 6}));
  check(reshape("6{N}x2x3", {1, -1}));
  // The constant dimension is the outer one.
  check(reshape("6{N}x8", {4, -1}));
  check(reshape("3x6{N}x4{M}", {-1}));
  check(reshape("6{N}x4{M}x2", {-1, 2}));
  check(reshape("3x6{N}", {-1, 3}));
  check(reshape("6{N}x2", {-1, 4}), /*atLeast=*/1, /*divisor=*/2);
  EXPECT_THAT(refuse(reshape("6{N}x1001", {1, 1001})),
              HasSubstr("node 'y' (RESHAPE): its input is float<6{N}x1001>, "
                        "and the new shape has always 1001 elements; accepted: "
                        "-1 for one of its dimensions"));
  EXPECT_THAT(refuse(reshape("6{N}x2", {-1, -1})),
              HasSubstr("the new shape has the extent -1"));
}

/// [\p x's extent \p dim], of its shape.
static int takeExtent(Builder &model, int shape, int dim) {
  int extent = model.value(i32);
  model.op(BuiltinOperator::STRIDED_SLICE,
           {shape, model.ints({dim}), model.ints({dim + 1}), model.ints({1})},
           {extent},
           schema::CreateStridedSliceOptions(model.fbb(), 0, 0, 0, 0, 1));
  return extent;
}

static int takeShape(Builder &model, int x) {
  int shape = model.value(i32);
  model.op(BuiltinOperator::SHAPE, {x}, {shape},
           schema::CreateShapeOptions(model.fbb(), i32));
  return shape;
}

TEST(TFLiteExtents, ShapeArithmetic) {
  // As Keras' Flatten: [batch, -1], and by the number of columns.
  for (int columns : {-1, 6}) {
    Builder model;
    int x = model.input("x", "6{N}x2x3");
    int batch = takeExtent(model, takeShape(model, x), 0);
    int shape = model.value(i32);
    model.op(BuiltinOperator::PACK, {batch, model.number(columns)}, {shape},
             schema::CreatePackOptions(model.fbb(), 2, 0));
    model.op(BuiltinOperator::RESHAPE, {x, shape}, {model.result()});
    check(model.end());
  }
  // Known extents of an open shape: reduced, they are a constant.
  Builder model;
  int x = model.input("x", "6{N}x2x3");
  int shape = takeShape(model, x), rest = model.value(i32);
  model.op(BuiltinOperator::STRIDED_SLICE,
           {shape, model.ints({1}), model.ints({3}), model.ints({1})}, {rest});
  int columns = model.value(i32), whole = model.value(i32);
  model.op(BuiltinOperator::REDUCE_PROD, {rest, model.ints({0})}, {columns},
           schema::CreateReducerOptions(model.fbb(), true));
  model.op(BuiltinOperator::CONCATENATION, {model.ints({-1}), columns}, {whole},
           schema::CreateConcatenationOptions(model.fbb(), 0));
  model.op(BuiltinOperator::RESHAPE, {x, whole}, {model.result()});
  check(model.end());
  // Heads: [batch, length, 2, 3], joined as [2*batch, length, 3].
  Builder heads;
  x = heads.input("x", "6{N}x4{M}x6");
  shape = takeShape(heads, x);
  int n = takeExtent(heads, shape, 0), m = takeExtent(heads, shape, 1);
  int first = heads.value(i32), second = heads.value(i32);
  heads.op(BuiltinOperator::PACK, {n, m, heads.number(2), heads.number(3)},
           {first}, schema::CreatePackOptions(heads.fbb(), 4, 0));
  int split = heads.value(), turned = heads.value(), twice = heads.value(i32);
  heads.op(BuiltinOperator::RESHAPE, {x, first}, {split});
  heads.op(BuiltinOperator::TRANSPOSE, {split, heads.ints({0, 2, 1, 3})},
           {turned});
  heads.op(BuiltinOperator::MUL, {n, heads.number(2)}, {twice},
           schema::CreateMulOptions(heads.fbb()));
  heads.op(BuiltinOperator::PACK, {twice, m, heads.number(3)}, {second},
           schema::CreatePackOptions(heads.fbb(), 3, 0));
  heads.op(BuiltinOperator::RESHAPE, {turned, second}, {heads.result()});
  check(heads.end());
}

TEST(TFLiteExtents, ValuesOfExtents) {
  // [N, M, 3], and how many there are.
  Builder shape;
  shape.sinks = {takeShape(shape, shape.input("x", "6{N}x4{M}x3"))};
  check(shape.end());
  // FILL, BROADCAST_TO, TILE and RANGE by extents.
  Builder model;
  int x = model.input("x", "6{N}x4{M}");
  int own = takeShape(model, x);
  int n = takeExtent(model, own, 0), m = takeExtent(model, own, 1);
  int one = model.tensor("one", {}, f32, {}, getTFLiteBytes<float>({2}));
  model.op(BuiltinOperator::FILL, {own, one}, {model.result()});
  model.op(BuiltinOperator::BROADCAST_TO, {model.weights({6, 1}), own},
           {model.value()});
  OpenModel refused = model.end();
  EXPECT_THAT(refuse(refused), HasSubstr("(BROADCAST_TO): input 0 "
                                         "('weights') is float<6x1>; accepted: "
                                         "N or 1 in dimension 0"));
  Builder others;
  x = others.input("x", "6{N}x4{M}");
  own = takeShape(others, x);
  n = takeExtent(others, own, 0);
  m = takeExtent(others, own, 1);
  one = others.tensor("one", {}, f32, {}, getTFLiteBytes<float>({2}));
  others.op(BuiltinOperator::FILL, {own, one}, {others.result()});
  others.op(BuiltinOperator::BROADCAST_TO, {others.weights({1}), own},
            {others.result()});
  int repeats = others.value(i32);
  others.op(BuiltinOperator::PACK, {n, others.number(1)}, {repeats},
            schema::CreatePackOptions(others.fbb(), 2, 0));
  others.op(BuiltinOperator::TILE, {others.weights({2, 3}), repeats},
            {others.result()});
  others.op(BuiltinOperator::RANGE, {others.number(1), m, others.number(1)},
            {others.result(i32)});
  others.op(BuiltinOperator::RANGE, {others.number(0), n, others.number(2)},
            {others.result(i32)});
  // The first of a table, by the length.
  int end = others.value(i32);
  others.op(BuiltinOperator::PACK, {m, others.number(0)}, {end},
            schema::CreatePackOptions(others.fbb(), 2, 0));
  others.op(
      BuiltinOperator::STRIDED_SLICE,
      {others.weights({4, 3}), others.ints({0, 0}), end, others.ints({1, 1})},
      {others.result()},
      schema::CreateStridedSliceOptions(others.fbb(), 3, 2, 0, 0, 0));
  check(others.end());
}

//===- Inputs, outputs, subgraphs -----------------------------------------===//

TEST(TFLiteExtents, SymbolsAndOutputs) {
  OpenModel model = unary(BuiltinOperator::ABS, "6{N}x3");
  auto module = importTFLiteBytes(model.bytes, getOptions(model, nullptr));
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  ASSERT_TRUE((*module)->findStated("N"));
  ASSERT_TRUE((*module)->findPlaceholder("y.extents"));
  EXPECT_EQ((*module)->findPlaceholder("x")->getType().str(), "float<6{N}x3>");
  ImportOptions options;
  options.symbolRanges["batch"] = {1, 4};
  EXPECT_THAT(getTFLiteError(model.bytes, options),
              HasSubstr("no dimension of an input is 'batch', for which "
                        "«define-symbol» gives 1..4"));
  options.symbolRanges.clear();
  options.symbols["batch"] = 4;
  EXPECT_THAT(getTFLiteError(model.bytes, options),
              HasSubstr("no dimension of an input is 'batch', for which "
                        "«define-symbol» gives 4"));
}

TEST(TFLiteExtents, AnInputWithTheNameOfASymbol) {
  Builder model;
  int x = model.input("N", "6{N}x3");
  model.op(BuiltinOperator::ADD, {x, x}, {model.result()});
  check(model.end());
}

TEST(TFLiteExtents, FloatInputsAndOutputs) {
  OpenModel model = unary(BuiltinOperator::LOGISTIC, "6{N}x3", {}, {}, 1, i8,
                          {{0.05f}, {3}}, i8);
  auto format = std::make_shared<TFLiteOptions>();
  format->hasFloatInputs = format->hasFloatOutputs = true;
  model.inputs["x"] = "float<6{N}x3>";
  model.format = format;
  check(model);
}

TEST(TFLiteExtents, RunsThatDontFit) {
  OpenModel model = reshape("6{N}x2", {-1, 4});
  llvm::Expected<Program> program = compile(model, nullptr, false);
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  auto set = [&](const char *name, Tensor tensor) {
    return getMessage(
        program->session->setInput(program->find(name), std::move(tensor)));
  };
  Tensor extent(Type(ElemKind::Int64, {}));
  extent.setFromDouble(0, 3);
  EXPECT_EQ(set("N", extent.clone()), "");
  EXPECT_EQ(set("x", Tensor(Type(ElemKind::Float, {3, 2}))), "");
  // 6 elements are no rows of 4.
  EXPECT_NE(getMessage(program->session->run()), "");
  EXPECT_THAT(set("x", Tensor(Type(ElemKind::Float, {7, 2}))),
              HasSubstr("dimension 0 is N, which is 1 to 6"));
}

/// y = x + x by a subgraph, which \p kind runs.
static OpenModel callSubgraph(BuiltinOperator kind, bool isConstant) {
  Builder model;
  int x = model.input("x", "6{N}x3");
  int condition =
      isConstant ? model.tensor("c", {}, TensorType::BOOL, {}, {1}) : 0;
  if (kind == BuiltinOperator::IF && !isConstant)
    condition = model.tensor("c", {}, TensorType::BOOL);
  int y = model.tensor("y", {1, 3}, f32);
  if (kind == BuiltinOperator::CALL)
    model.op(kind, {x}, {y}, schema::CreateCallOptions(model.fbb(), 1));
  else if (kind == BuiltinOperator::IF)
    model.op(kind, {condition, x}, {y},
             schema::CreateIfOptions(model.fbb(), 1, 1));
  else
    model.op(kind, {x}, {y}, schema::CreateWhileOptions(model.fbb(), 1, 1));
  std::vector<int> sources = {x};
  if (kind == BuiltinOperator::IF && !isConstant)
    sources.push_back(condition);
  model.endSubgraph(sources, {y});
  int a = model.tensor("a", {1, 3}, f32), b = model.tensor("b", {1, 3}, f32);
  model.op(BuiltinOperator::ADD, {a, a}, {b});
  model.endSubgraph({a}, {b}, "twice");
  std::string bytes = static_cast<TFLiteModel &>(model).finish();
  return {bytes, model.inputs};
}

TEST(TFLiteExtents, Subgraphs) {
  check(callSubgraph(BuiltinOperator::CALL, false));
  check(callSubgraph(BuiltinOperator::IF, true));
  for (BuiltinOperator kind : {BuiltinOperator::IF, BuiltinOperator::WHILE})
    EXPECT_THAT(refuse(callSubgraph(kind, false)),
                HasSubstr("is float<6{N}x3>; accepted: extents that no run "
                          "decides"));
}

TEST(TFLiteExtents, RefusesStates) {
  TFLiteControlModel model;
  int x = model.tensor("x", {2}, f32);
  model.assign(model.handle("v"), x);
  int y = model.tensor("y", {2}, f32);
  model.op(BuiltinOperator::ABS, {x}, {y});
  EXPECT_THAT(refuse({model.finish({x}, {y}), {{"x", "float<6{N}>"}}}),
              HasSubstr("(ASSIGN_VARIABLE): input 1 ('x') is float<6{N}>; "
                        "accepted: extents that no run decides"));
}
