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
  TFLiteModel() { buffers.push_back(tflite::CreateBufferDirect(builder)); }

  /// Adds a tensor and returns its number. \p bytes: of a constant.
  int tensor(const char *name, std::vector<int32_t> shape,
             tflite::TensorType type, TFLiteScales scales = {},
             std::vector<uint8_t> bytes = {}, bool isVariable = false) {
    flatbuffers::Offset<tflite::QuantizationParameters> quantization;
    if (!scales.scales.empty())
      quantization = tflite::CreateQuantizationParametersDirect(
          builder, nullptr, nullptr, &scales.scales, &scales.zeroPoints,
          tflite::QuantizationDetails::NONE, 0, scales.axis);
    uint32_t buffer = 0;
    if (!bytes.empty()) {
      buffer = uint32_t(buffers.size());
      buffers.push_back(tflite::CreateBufferDirect(builder, &bytes));
    }
    tensors.push_back(tflite::CreateTensorDirect(
        builder, &shape, type, buffer, name, quantization, isVariable));
    return int(tensors.size()) - 1;
  }

  /// Adds an operator with an options table, if \p options makes one.
  template <typename T>
  void op(tflite::BuiltinOperator kind, std::vector<int32_t> inputs,
          std::vector<int32_t> outputs, flatbuffers::Offset<T> options) {
    add(kind, nullptr, inputs, outputs,
        tflite::BuiltinOptionsTraits<T>::enum_value, options.Union());
  }
  void op(tflite::BuiltinOperator kind, std::vector<int32_t> inputs,
          std::vector<int32_t> outputs) {
    add(kind, nullptr, inputs, outputs, tflite::BuiltinOptions::NONE, 0);
  }
  void custom(const char *name, std::vector<int32_t> inputs,
              std::vector<int32_t> outputs) {
    add(tflite::BuiltinOperator::CUSTOM, name, inputs, outputs,
        tflite::BuiltinOptions::NONE, 0);
  }

  flatbuffers::FlatBufferBuilder &fbb() { return builder; }

  /// Ends a subgraph, the first of which is the main one; what is added from
  /// now on is the next one's.
  void endSubgraph(std::vector<int32_t> inputs, std::vector<int32_t> outputs,
                   const char *name = "main") {
    graphs.push_back(tflite::CreateSubGraphDirect(builder, &tensors, &inputs,
                                                  &outputs, &operators, name));
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
    tflite::FinishModelBuffer(
        builder, tflite::CreateModelDirect(builder, 3, &codes, &graphs, "test",
                                           &buffers));
    return std::string(
        reinterpret_cast<const char *>(builder.GetBufferPointer()),
        builder.GetSize());
  }

private:
  void add(tflite::BuiltinOperator kind, const char *name,
           const std::vector<int32_t> &inputs,
           const std::vector<int32_t> &outputs, tflite::BuiltinOptions type,
           flatbuffers::Offset<void> options) {
    codes.push_back(tflite::CreateOperatorCodeDirect(
        builder, int8_t(std::min(int(kind), 127)), name, 1, kind));
    operators.push_back(tflite::CreateOperatorDirect(
        builder, uint32_t(codes.size()) - 1, &inputs, &outputs, type, options));
  }

  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<tflite::Buffer>> buffers;
  std::vector<flatbuffers::Offset<tflite::Tensor>> tensors;
  std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes;
  std::vector<flatbuffers::Offset<tflite::Operator>> operators;
  std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs;
};

/// The bytes of \p values, for a constant.
template <typename T>
std::vector<uint8_t> getTFLiteBytes(std::vector<T> values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// A quantized convolution of 4x4 pixels with two channels, whose filter has a
/// scale for each of three channels, and the softmax of its channels.
inline std::string makeQuantizedConvolution() {
  using tflite::BuiltinOperator;
  using tflite::TensorType;
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
           tflite::CreateConv2DOptions(model.fbb(), tflite::Padding::SAME, 2, 2,
                                       tflite::ActivationFunctionType::RELU6));
  model.op(BuiltinOperator::SOFTMAX, {c}, {s},
           tflite::CreateSoftmaxOptions(model.fbb(), 1.0f));
  return model.finish({x}, {s});
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_TFLITEMODELS_H
