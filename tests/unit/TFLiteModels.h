//===- TFLiteModels.h - Small TensorFlow Lite models ------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_TFLITEMODELS_H
#define GLOWISH_TESTS_UNIT_TFLITEMODELS_H

#include "TFLite/tflite_generated.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstring>
#include <string>
#include <vector>

namespace glowish {

/// The quantization of a tensor; none without a scale.
struct TFLiteScales {
  std::vector<float> scales = {};
  std::vector<int64_t> zeroPoints = {};
  int axis = 0;
};

/// Writes a model piece by piece: one subgraph, or several.
class TFLiteModel {
public:
  TFLiteModel() {
    buffers.push_back(tflite::schema::CreateBufferDirect(builder));
  }

  /// Adds a tensor and returns its number. \p bytes: of a constant.
  int tensor(const char *name, std::vector<int32_t> shape,
             tflite::schema::TensorType type, TFLiteScales scales = {},
             std::vector<uint8_t> bytes = {}, bool isVariable = false) {
    flatbuffers::Offset<tflite::schema::QuantizationParameters> quantization;
    if (!scales.scales.empty())
      quantization = tflite::schema::CreateQuantizationParametersDirect(
          builder, nullptr, nullptr, &scales.scales, &scales.zeroPoints,
          tflite::schema::QuantizationDetails::NONE, 0, scales.axis);
    uint32_t buffer = bytes.empty() ? 0 : this->buffer(bytes);
    return tensor(tflite::schema::CreateTensorDirect(
        builder, &shape, type, buffer, name, quantization, isVariable));
  }
  int tensor(flatbuffers::Offset<tflite::schema::Tensor> stored) {
    tensors.push_back(stored);
    return int(tensors.size()) - 1;
  }
  /// Adds a buffer and returns its number.
  uint32_t buffer(const std::vector<uint8_t> &bytes) {
    buffers.push_back(tflite::schema::CreateBufferDirect(builder, &bytes));
    return uint32_t(buffers.size()) - 1;
  }

  /// Adds a buffer whose bytes are said to lie behind the tables.
  void storedBehind(uint64_t offset, uint64_t size) {
    buffers.push_back(
        tflite::schema::CreateBufferDirect(builder, nullptr, offset, size));
  }

  /// Adds an operator with an options table, if \p options makes one.
  template <typename T>
  void op(tflite::schema::BuiltinOperator kind, std::vector<int32_t> inputs,
          std::vector<int32_t> outputs, flatbuffers::Offset<T> options) {
    op(kind, inputs, outputs,
       tflite::schema::BuiltinOptionsTraits<T>::enum_value, options.Union());
  }
  void op(tflite::schema::BuiltinOperator kind, std::vector<int32_t> inputs,
          std::vector<int32_t> outputs, tflite::schema::BuiltinOptions type,
          flatbuffers::Offset<void> options) {
    add(kind, nullptr, inputs, outputs, type, options);
  }
  void op(tflite::schema::BuiltinOperator kind, std::vector<int32_t> inputs,
          std::vector<int32_t> outputs) {
    add(kind, nullptr, inputs, outputs, tflite::schema::BuiltinOptions::NONE,
        0);
  }
  void custom(const char *name, std::vector<int32_t> inputs,
              std::vector<int32_t> outputs, std::vector<uint8_t> options = {}) {
    add(tflite::schema::BuiltinOperator::CUSTOM, name, inputs, outputs,
        tflite::schema::BuiltinOptions::NONE, 0,
        options.empty() ? 0 : builder.CreateVector(options));
  }

  /// Adds an operator of the name \p name that subgraph \p subgraph stands for.
  void composite(const char *name, int subgraph,
                 const std::vector<int32_t> &inputs,
                 const std::vector<int32_t> &outputs) {
    std::vector<uint8_t> attributes = {1, 2, 3};
    auto options = tflite::schema::CreateStableHLOCompositeOptionsDirect(
        builder, name, subgraph, &attributes,
        tflite::schema::CustomOptionsFormat::FLEXBUFFERS, /*version=*/2);
    uint32_t code =
        addCode(tflite::schema::BuiltinOperator::STABLEHLO_COMPOSITE, nullptr);
    auto listed = builder.CreateVector(inputs),
         results = builder.CreateVector(outputs);
    tflite::schema::OperatorBuilder op(builder);
    op.add_opcode_index(code);
    op.add_inputs(listed);
    op.add_outputs(results);
    op.add_builtin_options_2_type(
        tflite::schema::BuiltinOptions2::StableHLOCompositeOptions);
    op.add_builtin_options_2(options.Union());
    operators.push_back(op.Finish());
  }

  flatbuffers::FlatBufferBuilder &fbb() { return builder; }

  /// Ends a subgraph, the first of which is the main one; what is added from
  /// now on is the next one's.
  void endSubgraph(std::vector<int32_t> inputs, std::vector<int32_t> outputs,
                   const char *name = "main") {
    graphs.push_back(tflite::schema::CreateSubGraphDirect(
        builder, &tensors, &inputs, &outputs, &operators, name));
    tensors.clear();
    operators.clear();
  }

  /// The bytes of a file whose only, or last, subgraph has these inputs and
  /// outputs.
  std::string finish(std::vector<int32_t> inputs,
                     std::vector<int32_t> outputs) {
    endSubgraph(std::move(inputs), std::move(outputs));
    return finish();
  }

  /// The bytes of a file of the subgraphs that were ended.
  std::string finish() {
    tflite::schema::FinishModelBuffer(
        builder, tflite::schema::CreateModelDirect(builder, 3, &codes, &graphs,
                                                   "test", &buffers));
    return std::string(
        reinterpret_cast<const char *>(builder.GetBufferPointer()),
        builder.GetSize());
  }

private:
  void add(tflite::schema::BuiltinOperator kind, const char *name,
           const std::vector<int32_t> &inputs,
           const std::vector<int32_t> &outputs,
           tflite::schema::BuiltinOptions type,
           flatbuffers::Offset<void> options,
           flatbuffers::Offset<flatbuffers::Vector<uint8_t>> custom = 0) {
    uint32_t code = addCode(kind, name);
    operators.push_back(tflite::schema::CreateOperator(
        builder, code, builder.CreateVector(inputs),
        builder.CreateVector(outputs), type, options, custom));
  }
  /// Returns the number of the operator.
  uint32_t addCode(tflite::schema::BuiltinOperator kind, const char *name) {
    codes.push_back(tflite::schema::CreateOperatorCodeDirect(
        builder, int8_t(std::min(int(kind), 127)), name, 1, kind));
    return uint32_t(codes.size()) - 1;
  }

  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<tflite::schema::Buffer>> buffers;
  std::vector<flatbuffers::Offset<tflite::schema::Tensor>> tensors;
  std::vector<flatbuffers::Offset<tflite::schema::OperatorCode>> codes;
  std::vector<flatbuffers::Offset<tflite::schema::Operator>> operators;
  std::vector<flatbuffers::Offset<tflite::schema::SubGraph>> graphs;
};

/// The bytes of \p values, for a constant.
template <typename T>
std::vector<uint8_t> getTFLiteBytes(std::vector<T> values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Has operators that control flow consists of; variables are two floats each.
struct TFLiteControlModel : TFLiteModel {
  int handle(const char *sharedName, const char *container = "") {
    int tensor =
        this->tensor("handle", {}, tflite::schema::TensorType::RESOURCE);
    op(tflite::schema::BuiltinOperator::VAR_HANDLE, {}, {tensor},
       tflite::schema::CreateVarHandleOptionsDirect(fbb(), container,
                                                    sharedName));
    return tensor;
  }
  int read(
      int handle, const char *name, TFLiteScales scales = {},
      tflite::schema::TensorType type = tflite::schema::TensorType::FLOAT32) {
    int value = tensor(name, {2}, type, scales);
    op(tflite::schema::BuiltinOperator::READ_VARIABLE, {handle}, {value});
    return value;
  }
  void assign(int handle, int value) {
    op(tflite::schema::BuiltinOperator::ASSIGN_VARIABLE, {handle, value}, {});
  }
  int floats(std::vector<float> values) {
    return tensor("constant", {int(values.size())},
                  tflite::schema::TensorType::FLOAT32, {},
                  getTFLiteBytes(values));
  }
  int add(int a, int b, const char *name) {
    int sum = tensor(name, {2}, tflite::schema::TensorType::FLOAT32);
    op(tflite::schema::BuiltinOperator::ADD, {a, b}, {sum});
    return sum;
  }
  /// Whether the largest element of \p x, of rank 1, is less than \p limit.
  int isBelow(int x, float limit) {
    int axis = tensor("axis", {1}, tflite::schema::TensorType::INT32, {},
                      getTFLiteBytes<int32_t>({0}));
    int bound = tensor("limit", {}, tflite::schema::TensorType::FLOAT32, {},
                       getTFLiteBytes<float>({limit}));
    int most = tensor("most", {}, tflite::schema::TensorType::FLOAT32);
    int less = tensor("less", {}, tflite::schema::TensorType::BOOL);
    op(tflite::schema::BuiltinOperator::REDUCE_MAX, {x, axis}, {most});
    op(tflite::schema::BuiltinOperator::LESS, {most, bound}, {less});
    return less;
  }
  void callOnce(int subgraph) {
    op(tflite::schema::BuiltinOperator::CALL_ONCE, {}, {},
       tflite::schema::CreateCallOnceOptions(fbb(), subgraph));
  }
};

/// A loop that adds a variable to x while its largest element is less than 10,
/// and counts in the variable; and a branch by p of what it gives.
inline std::string makeControlFlow() {
  using tflite::schema::BuiltinOperator;
  using tflite::schema::TensorType;
  TFLiteControlModel model;
  int p = model.tensor("p", {}, TensorType::BOOL);
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  int z = model.tensor("z", {2}, TensorType::FLOAT32);
  int passed = model.tensor("passed", {}, TensorType::RESOURCE);
  model.callOnce(1);
  int handle = model.handle("count");
  model.op(BuiltinOperator::WHILE, {x, handle}, {y, passed},
           tflite::schema::CreateWhileOptions(model.fbb(), 2, 3));
  model.op(BuiltinOperator::IF, {p, y, passed}, {z},
           tflite::schema::CreateIfOptions(model.fbb(), 4, 5));
  model.endSubgraph({p, x}, {z});

  model.assign(model.handle("count"), model.floats({1, 2}));
  model.endSubgraph({}, {}, "init");

  int a = model.tensor("a", {2}, TensorType::FLOAT32);
  int variable = model.tensor("variable", {}, TensorType::RESOURCE);
  model.endSubgraph({a, variable}, {model.isBelow(a, 10)}, "cond");

  a = model.tensor("a", {2}, TensorType::FLOAT32);
  variable = model.tensor("variable", {}, TensorType::RESOURCE);
  int count = model.add(model.read(variable, "old"), model.floats({1, 1}), "n");
  model.assign(variable, count);
  model.endSubgraph({a, variable}, {model.add(a, count, "b"), variable},
                    "body");

  for (const char *name : {"then", "else"}) {
    a = model.tensor("a", {2}, TensorType::FLOAT32);
    variable = model.tensor("variable", {}, TensorType::RESOURCE);
    int sum = model.add(a, model.read(variable, "n"), "sum");
    if (name[0] == 'e')
      model.assign(variable, sum);
    model.endSubgraph({a, variable}, {sum}, name);
  }
  return model.finish();
}

/// A quantized convolution of 4x4 pixels with two channels, whose filter has a
/// scale for each of three channels, and the softmax of its channels.
inline std::string makeQuantizedConvolution() {
  using tflite::schema::BuiltinOperator;
  using tflite::schema::TensorType;
  TFLiteModel model;
  std::vector<uint8_t> filter, bias;
  for (int i = 0; i < 3 * 2 * 2 * 2; ++i)
    filter.push_back(uint8_t(i * 11 - 120));
  for (int i = 0; i < 3 * 4; ++i)
    bias.push_back(i % 4 == 0 ? uint8_t(40 * i) : 0);
  int x = model.tensor("x", {1, 4, 4, 2}, TensorType::INT8, {{0.05f}, {-3}});
  int f = model.tensor("filter", {3, 2, 2, 2}, TensorType::INT8,
                       {{0.01f, 0.02f, 0.03f}, {0, 0, 0}, 0}, filter);
  int b = model.tensor("bias", {3}, TensorType::INT32,
                       {{0.0005f, 0.001f, 0.0015f}, {0, 0, 0}, 0}, bias);
  int c = model.tensor("conv", {1, 2, 2, 3}, TensorType::INT8, {{0.1f}, {5}});
  int s = model.tensor("softmax", {1, 2, 2, 3}, TensorType::INT8,
                       {{1.0f / 256}, {-128}});
  model.op(BuiltinOperator::CONV_2D, {x, f, b}, {c},
           tflite::schema::CreateConv2DOptions(
               model.fbb(), tflite::schema::Padding::SAME, 2, 2,
               tflite::schema::ActivationFunctionType::RELU6));
  model.op(BuiltinOperator::SOFTMAX, {c}, {s},
           tflite::schema::CreateSoftmaxOptions(model.fbb(), 1.0f));
  return model.finish({x}, {s});
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_TFLITEMODELS_H
