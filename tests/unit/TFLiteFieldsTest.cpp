//===- TFLiteFieldsTest.cpp - Fields of files that nothing reads ----------===//

#include "TFLiteRuns.h"
#include "flatbuffers/flexbuffers.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;
using testing::StartsWith;
using tflite::schema::ActivationFunctionType;
using tflite::schema::BuiltinOperator;
using tflite::schema::BuiltinOptions;
using tflite::schema::TensorType;
namespace schema = tflite::schema;

/// Returns what the import says of z = \p kind(x, y) of floats, with \p options
/// of \p type.
static std::string getErrorWith(BuiltinOperator kind, BuiltinOptions type,
                                llvm::function_ref<flatbuffers::Offset<void>(
                                    flatbuffers::FlatBufferBuilder &)>
                                    options) {
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  int z = model.tensor("z", {2}, TensorType::FLOAT32);
  model.op(kind, {x, y}, {z}, type, options(model.fbb()));
  return getTFLiteError(model.finish({x, y}, {z}));
}

/// Returns a table that has \p value in the field of number \p field.
template <typename T>
static flatbuffers::Offset<void> makeTable(flatbuffers::FlatBufferBuilder &fbb,
                                           unsigned field, T value) {
  flatbuffers::uoffset_t start = fbb.StartTable();
  fbb.ForceDefaults(true);
  fbb.AddElement<T>(flatbuffers::voffset_t(4 + 2 * field), value, T(0));
  fbb.ForceDefaults(false);
  return fbb.EndTable(start);
}

TEST(TFLiteFields, OptionsOfAnotherOperator) {
  // TensorFlow Lite takes the defaults of ADD then.
  auto getError = [](ActivationFunctionType activation) {
    return getErrorWith(
        BuiltinOperator::ADD, BuiltinOptions::MulOptions,
        [&](flatbuffers::FlatBufferBuilder &fbb) {
          return schema::CreateMulOptions(fbb, activation).Union();
        });
  };
  EXPECT_EQ(getError(ActivationFunctionType::NONE), "imported");
  EXPECT_THAT(getError(ActivationFunctionType::RELU),
              HasSubstr("node 'z' (ADD): field 'fused_activation_function' of "
                        "MulOptions is RELU; accepted: NONE"));
}

/// Writers may state fields that have their default.
TEST(TFLiteFields, StatedDefaults) {
  auto getError = [](BuiltinOperator kind, BuiltinOptions type, auto create) {
    return getErrorWith(kind, type, [&](flatbuffers::FlatBufferBuilder &fbb) {
      fbb.ForceDefaults(true);
      flatbuffers::Offset<void> options = create(fbb).Union();
      fbb.ForceDefaults(false);
      return options;
    });
  };
  EXPECT_EQ(getError(BuiltinOperator::ADD, BuiltinOptions::AddOptions,
                     [](auto &fbb) { return schema::CreateAddOptions(fbb); }),
            "imported");
  EXPECT_EQ(getError(BuiltinOperator::SUB, BuiltinOptions::SubOptions,
                     [](auto &fbb) { return schema::CreateSubOptions(fbb); }),
            "imported");
  // Options of another operator, all of whose fields have their default.
  EXPECT_EQ(
      getError(BuiltinOperator::MAXIMUM, BuiltinOptions::Conv2DOptions,
               [](auto &fbb) { return schema::CreateConv2DOptions(fbb); }),
      "imported");
}

TEST(TFLiteFields, OptionsThatAnOperatorDoesNotRead) {
  auto getError = [](BuiltinOptions type, unsigned field, auto value) {
    return getErrorWith(BuiltinOperator::MAXIMUM, type,
                        [&](flatbuffers::FlatBufferBuilder &fbb) {
                          return makeTable(fbb, field, value);
                        });
  };
  EXPECT_THAT(getError(BuiltinOptions::LeakyReluOptions, 0, 0.5f),
              HasSubstr("node 'z' (MAXIMUM): field 'alpha' of LeakyReluOptions "
                        "is 0.5; accepted: 0"));
  EXPECT_THAT(getError(BuiltinOptions::CumsumOptions, 1, uint8_t(1)),
              HasSubstr("field 'reverse' of CumsumOptions is true; accepted: "
                        "false"));
  EXPECT_THAT(getError(BuiltinOptions::AddOptions, 1, uint8_t(0)),
              HasSubstr("field 'pot_scale_int16' of AddOptions is false; "
                        "accepted: true"));
  // It is marked as one that changes nothing.
  EXPECT_EQ(getError(BuiltinOptions::BatchMatMulOptions, 2, uint8_t(1)),
            "imported");
  EXPECT_THAT(
      getErrorWith(
          BuiltinOperator::MAXIMUM, BuiltinOptions::ReshapeOptions,
          [](flatbuffers::FlatBufferBuilder &fbb) {
            std::vector<int32_t> shape = {2, 1};
            return schema::CreateReshapeOptionsDirect(fbb, &shape).Union();
          }),
      HasSubstr("field 'new_shape' of ReshapeOptions is 2 elements; "
                "accepted: none"));
  EXPECT_THAT(
      getErrorWith(BuiltinOperator::MAXIMUM, BuiltinOptions::VarHandleOptions,
                   [](flatbuffers::FlatBufferBuilder &fbb) {
                     return schema::CreateVarHandleOptionsDirect(fbb, nullptr,
                                                                 "v")
                         .Union();
                   }),
      HasSubstr("field 'shared_name' of VarHandleOptions is 'v'; "
                "accepted: none"));
}

TEST(TFLiteFields, FieldsOfLaterSchemas) {
  auto getError = [](unsigned field, auto value) {
    return getErrorWith(BuiltinOperator::ADD, BuiltinOptions::AddOptions,
                        [&](flatbuffers::FlatBufferBuilder &fbb) {
                          return makeTable(fbb, field, value);
                        });
  };
  EXPECT_THAT(
      getError(2, int32_t(7)),
      HasSubstr("node 'z' (ADD): field 2 of AddOptions is set, which is "
                "none of the known schema; accepted: the first 2"));
  EXPECT_THAT(getError(30000, int64_t(1) << 40), HasSubstr("field 30000 of"));
  EXPECT_EQ(getError(2, int32_t(0)), "imported");
  EXPECT_EQ(getError(9, double(0)), "imported");
  EXPECT_THAT(getErrorWith(BuiltinOperator::ADD, BuiltinOptions(200),
                           [](flatbuffers::FlatBufferBuilder &fbb) {
                             return makeTable(fbb, 0, int8_t(1));
                           }),
              HasSubstr("node 'z' (ADD): field 'builtin_options_type' of "
                        "Operator is 200; accepted: 0 to 126"));
}

TEST(TFLiteFields, NumbersOutsideOfEnumerations) {
  EXPECT_THAT(getErrorWith(BuiltinOperator::ADD, BuiltinOptions::AddOptions,
                           [](flatbuffers::FlatBufferBuilder &fbb) {
                             return makeTable(fbb, 0, int8_t(9));
                           }),
              HasSubstr("node 'z' (ADD): field 'fused_activation_function' of "
                        "AddOptions is 9; accepted: NONE, RELU, RELU_N1_TO_1, "
                        "RELU6, TANH, SIGN_BIT"));
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType(77));
  EXPECT_THAT(getTFLiteError(model.finish({x}, {x})),
              HasSubstr("tensor 'x': field 'type' of Tensor is 77; accepted: 0 "
                        "to 22"));
}

/// Returns what the import says of y = |x| where x is \p tensor.
static std::string getTensorError(TFLiteModel &model,
                                  flatbuffers::Offset<schema::Tensor> tensor) {
  int x = model.tensor(tensor);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::ABS, {x}, {y});
  return getTFLiteError(model.finish({x}, {y}));
}

TEST(TFLiteFields, FieldsOfTensors) {
  auto getError = [](auto add) {
    TFLiteModel model;
    auto name = model.fbb().CreateString("x");
    auto shape = model.fbb().CreateVector(std::vector<int32_t>{2});
    auto sparsity = schema::CreateSparsityParameters(model.fbb());
    auto variants = model.fbb().CreateVector(
        std::vector{schema::CreateVariantSubType(model.fbb())});
    schema::TensorBuilder tensor(model.fbb());
    tensor.add_name(name);
    tensor.add_shape(shape);
    add(tensor, shape, sparsity, variants);
    return getTensorError(model, tensor.Finish());
  };
  EXPECT_THAT(getError([](auto &tensor, auto, auto, auto) {
                tensor.add_external_buffer(3);
              }),
              HasSubstr("tensor 'x': field 'external_buffer' of Tensor is 3; "
                        "accepted: 0"));
  EXPECT_THAT(getError([](auto &tensor, auto, auto sparsity, auto) {
                tensor.add_sparsity(sparsity);
              }),
              HasSubstr("tensor 'x': field 'sparsity' of Tensor is a table; "
                        "accepted: none"));
  EXPECT_THAT(getError([](auto &tensor, auto, auto, auto variants) {
                tensor.add_variant_tensors(variants);
              }),
              HasSubstr("field 'variant_tensors' of Tensor is 1 element"));
  EXPECT_EQ(getError([](auto &tensor, auto shape, auto, auto) {
              tensor.add_shape_signature(shape);
              tensor.add_has_rank(true);
            }),
            "imported");
}

TEST(TFLiteFields, QuantizationOfOtherKinds) {
  using schema::QuantizationDetails;
  auto getError = [](QuantizationDetails type) {
    TFLiteModel model;
    flatbuffers::FlatBufferBuilder &fbb = model.fbb();
    // Scales have no meaning beside it.
    std::vector<float> scales = {0.5f};
    auto quantization = schema::CreateQuantizationParametersDirect(
        fbb, nullptr, nullptr, &scales, nullptr, type,
        schema::CreateCustomQuantization(fbb).Union());
    std::vector<int32_t> shape = {2};
    return getTensorError(
        model, schema::CreateTensorDirect(fbb, &shape, TensorType::FLOAT32, 0,
                                          "x", quantization));
  };
  EXPECT_THAT(getError(QuantizationDetails::CustomQuantization),
              HasSubstr("tensor 'x' has CustomQuantization; accepted: scales, "
                        "or BlockwiseQuantization"));
  EXPECT_THAT(getError(QuantizationDetails::MultiAxisQuantization),
              HasSubstr("tensor 'x' has MultiAxisQuantization"));
  EXPECT_THAT(getError(QuantizationDetails(9)),
              HasSubstr("tensor 'x': field 'details_type' of "
                        "QuantizationParameters is 9; accepted: NONE, "
                        "CustomQuantization, BlockwiseQuantization, "
                        "MultiAxisQuantization"));
}

TEST(TFLiteFields, FieldsOfOperators) {
  auto getError = [](auto add) {
    flatbuffers::FlatBufferBuilder fbb;
    auto ints = [&](std::vector<int32_t> values) {
      return fbb.CreateVector(values);
    };
    auto inputs = ints({0}), outputs = ints({1});
    auto dilate = schema::CreateDilateOptions(fbb).Union();
    auto custom = fbb.CreateVector(std::vector<uint8_t>{1, 2, 3, 4});
    schema::OperatorBuilder op(fbb);
    op.add_inputs(inputs);
    op.add_outputs(outputs);
    add(op, dilate, custom);
    std::vector operators = {op.Finish()};
    std::vector<int32_t> shape = {2}, in = {0}, out = {1};
    std::vector tensors = {
        schema::CreateTensorDirect(fbb, &shape, TensorType::FLOAT32, 0, "x"),
        schema::CreateTensorDirect(fbb, &shape, TensorType::FLOAT32, 0, "y")};
    std::vector graphs = {schema::CreateSubGraphDirect(fbb, &tensors, &in, &out,
                                                       &operators, "main")};
    std::vector codes = {schema::CreateOperatorCodeDirect(
        fbb, int8_t(BuiltinOperator::ABS), nullptr, 1, BuiltinOperator::ABS)};
    std::vector buffers = {schema::CreateBufferDirect(fbb)};
    schema::FinishModelBuffer(
        fbb,
        schema::CreateModelDirect(fbb, 3, &codes, &graphs, "test", &buffers));
    return getTFLiteError(std::string(
        reinterpret_cast<const char *>(fbb.GetBufferPointer()), fbb.GetSize()));
  };
  EXPECT_EQ(
      getError([](auto &op, auto, auto) { op.add_debug_metadata_index(4); }),
      "imported");
  // Options of another operator, which has none that may be set.
  EXPECT_EQ(getError([](auto &op, auto dilate, auto) {
              op.add_builtin_options_2_type(
                  schema::BuiltinOptions2::DilateOptions);
              op.add_builtin_options_2(dilate);
            }),
            "imported");
  EXPECT_THAT(getError([](auto &op, auto dilate, auto) {
                op.add_builtin_options_2_type(schema::BuiltinOptions2(99));
                op.add_builtin_options_2(dilate);
              }),
              HasSubstr("node 'y' (ABS): field 'builtin_options_2_type' of "
                        "Operator is 99; accepted: 0 to 23"));
  EXPECT_THAT(getError([](auto &op, auto, auto) {
                op.add_large_custom_options_size(8);
              }),
              HasSubstr("field 'large_custom_options_size' of Operator is 8; "
                        "accepted: 0"));
  EXPECT_THAT(getError([](auto &op, auto, auto custom) {
                op.add_custom_options(custom);
              }),
              HasSubstr("node 'y' (ABS): its custom options, 4 bytes, are no "
                        "FlexBuffers map; accepted: none"));
  EXPECT_THAT(getError([](auto &op, auto, auto) {
                op.add_custom_options_format(schema::CustomOptionsFormat(1));
              }),
              HasSubstr("field 'custom_options_format' of Operator is 1; "
                        "accepted: FLEXBUFFERS"));
}

TEST(TFLiteFields, OptionsOfCustomOperators) {
  auto getError = [](llvm::function_ref<void(flexbuffers::Builder &)> add) {
    flexbuffers::Builder options;
    options.Map([&] {
      options.Int("shift", 12);
      add(options);
    });
    options.Finish();
    TFLiteModel model;
    int x = model.tensor("x", {4}, TensorType::INT16);
    int w = model.tensor("w", {4}, TensorType::INT16);
    int y = model.tensor("y", {4}, TensorType::INT16);
    model.custom("SignalWindow", {x, w}, {y}, options.GetBuffer());
    return getTFLiteError(model.finish({x, w}, {y}));
  };
  EXPECT_EQ(getError([](flexbuffers::Builder &) {}), "imported");
  EXPECT_THAT(
      getError([](flexbuffers::Builder &options) { options.Int("hann", 1); }),
      HasSubstr("node 'y' (SignalWindow): option 'hann' is '1'; accepted: none "
                "of that name"));
  EXPECT_EQ(getError([](flexbuffers::Builder &options) {
              options.Int("hann", 0);
              options.Bool("_converted", true);
            }),
            "imported");
}

TEST(TFLiteFields, BuffersLieInTheFile) {
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::ABS, {x}, {y});
  model.storedBehind(1 << 20, 8);
  EXPECT_THAT(getTFLiteError(model.finish({x}, {y})),
              HasSubstr("it is malformed: buffer 1 has 8 bytes at 1048576"));
}

/// The shape is an option where it is no input.
TEST(TFLiteFields, ShapesOfOldModels) {
  auto getError = [](std::vector<int32_t> shape) {
    TFLiteModel model;
    int x = model.tensor("x", {2, 3}, TensorType::FLOAT32);
    int y = model.tensor("y", {3, 2}, TensorType::FLOAT32);
    model.op(BuiltinOperator::RESHAPE, {x}, {y},
             schema::CreateReshapeOptionsDirect(model.fbb(), &shape));
    return getTFLiteError(model.finish({x}, {y}));
  };
  EXPECT_EQ(getError({3, -1}), "imported");
  EXPECT_THAT(getError({6}),
              HasSubstr("node 'y' (RESHAPE): output 0 ('y') would "
                        "be float<6>, and the file states "
                        "float<3x2>"));
}

TEST(TFLiteFields, CountsThatAgree) {
  auto getError = [](int count) {
    TFLiteModel model;
    int x = model.tensor("x", {2}, TensorType::FLOAT32);
    int y = model.tensor("y", {2, 2}, TensorType::FLOAT32);
    model.op(BuiltinOperator::PACK, {x, x}, {y},
             schema::CreatePackOptions(model.fbb(), count, 0));
    return getTFLiteError(model.finish({x}, {y}));
  };
  EXPECT_EQ(getError(2), "imported");
  EXPECT_THAT(getError(3), HasSubstr("node 'y' (PACK): values_count is 3; "
                                     "accepted: 2"));
  auto getShapeError = [](TensorType type) {
    TFLiteModel model;
    int x = model.tensor("x", {2}, TensorType::FLOAT32);
    int y = model.tensor("y", {1}, TensorType::INT32);
    model.op(BuiltinOperator::SHAPE, {x}, {y},
             schema::CreateShapeOptions(model.fbb(), type));
    return getTFLiteError(model.finish({x}, {y}));
  };
  EXPECT_EQ(getShapeError(TensorType::INT32), "imported");
  EXPECT_THAT(getShapeError(TensorType::INT64),
              HasSubstr("node 'y' (SHAPE): out_type is INT64, and output 0 "
                        "('y') is int32<1>; accepted: one type"));
}
