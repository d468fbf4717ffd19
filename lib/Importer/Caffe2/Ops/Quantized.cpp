//===- Quantized.cpp - Int8 operators -------------------------------------===//

#include "Caffe2/Images.h"
#include "Caffe2/Matrix.h"
#include "Caffe2/Quantization.h"
#include "Common/MatMul.h"

using namespace glowish;
using namespace glowish::caffe2;

//===- Quantize and dequantize --------------------------------------------===//

static llvm::Error importQuantize(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(SharedQuantParams params, readOutputParams(op));
  if (!isFloatKind(op.input(0).getElemKind()))
    return op.refuseInput(0, "a float kind");
  NodeValue x = op.cast(op.input(0), ElemKind::Float);
  return op.setOutput(0, quantize(op, x, *params), params);
}

static llvm::Error importDequantize(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkQuantized(op, 0));
  return op.setOutput(0, dequantize(op, op.getBlob(0)));
}

//===- Element-wise -------------------------------------------------------===//

/// Clamps at the integer that represents 0.
static llvm::Error importRelu(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkQuantized(op, 0));
  GLOWISH_RETURN_IF_ERROR(checkSameParams(op));
  const Blob &x = op.getBlob(0);
  return op.setOutput(0, op.max(x.value, double(x.quant->offsets[0])), x.quant);
}

template <bool hasRelu> static llvm::Error importSum(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(SharedQuantParams params, readOutputParams(op));
  GLOWISH_RETURN_IF_ERROR(checkQuantized(op, 0));
  NodeValue sum = dequantize(op, op.getBlob(0));
  for (unsigned i = 1; i < op.getNumInputs(); ++i) {
    GLOWISH_RETURN_IF_ERROR(checkQuantized(op, i));
    sum = op.add(sum, dequantize(op, op.getBlob(i)));
  }
  if (hasRelu)
    sum = op.max(sum, 0);
  return op.setOutput(0, quantize(op, sum, *params), params);
}

static llvm::Error importSoftmax(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(SharedQuantParams params, readOutputParams(op));
  GLOWISH_RETURN_IF_ERROR(checkQuantized(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(Matrix matrix, readMatrix(op, 0, "axis"));
  Blob rows = {matrix.value, op.getBlob(0).quant};
  NodeValue result = op.make<SoftmaxNode>(dequantize(op, rows), 1);
  result = op.repack(result, op.input(0).getType());
  return op.setOutput(0, quantize(op, result, *params), params);
}

//===- Convolution and matrix multiplication ------------------------------===//

namespace {
/// Scales of int32 accumulators: one for the tensor, or one per output channel.
struct SumScale {
  std::vector<double> scales;

  /// Returns the scales as a float constant that broadcasts along the last
  /// dimension.
  NodeValue get(NetOp &op) const {
    int64_t count = int64_t(scales.size());
    return op.table(ElemKind::Float, {count},
                    [&](DimsRef index) { return scales[index[0]]; });
  }
};
} // namespace

/// Returns the bias, input 2, as int32 [OC] with \p scale.
static llvm::Expected<NodeValue> readBias(NetOp &op, const SumScale &scale,
                                          int64_t channels) {
  NodeValue bias = op.input(2);
  if (bias.getShape() != DimsRef({channels}))
    return op.refuseInput(2, llvm::formatv("[{0}]", channels));
  if (op.getBlob(2).quant) {
    GLOWISH_RETURN_IF_ERROR(checkQuantized(op, 2));
    bias = dequantize(op, op.getBlob(2));
  } else if (bias.getElemKind() == ElemKind::Int32) {
    return bias;
  }
  bias = op.div(op.cast(bias, ElemKind::Float), scale.get(op));
  return op.finish(op.cast(op.unary<RoundNode>(bias), ElemKind::Int32));
}

/// Converts \p sums, accumulators with \p scale, to int8 with \p params.
static NodeValue requantize(NetOp &op, NodeValue sums, SumScale scale,
                            const QuantParams &params, bool hasRelu) {
  for (double &each : scale.scales)
    each /= params.scales[0];
  NodeValue x = op.mul(op.cast(sums, ElemKind::Float), scale.get(op));
  if (hasRelu)
    x = op.max(x, 0);
  x = op.add(op.unary<RoundNode>(x), double(params.offsets[0]));
  return op.cast(x, ElemKind::Int8);
}

/// Reads scale and offset of each output channel of the filter \p name from
/// blobs that Glow's model writers store beside it.
static llvm::Expected<QuantParams>
readChannelParams(NetOp &op, llvm::StringRef name, int64_t channels) {
  QuantParams params;
  auto read = [&](const char *suffix) -> llvm::Expected<const Tensor *> {
    NodeValue value = op.getNet().blobs.lookup((name + suffix).str()).value;
    auto *constant = value.getNodeAs<Constant>();
    if (!constant || value.getShape() != DimsRef({channels}))
      return makeError("there is no constant '{0}{1}' with a value for each of "
                       "the {2} output channels",
                       name, suffix, channels);
    return &constant->getTensor();
  };
  GLOWISH_ASSIGN_OR_RETURN(const Tensor *scales, read("_loaded_scales"));
  GLOWISH_ASSIGN_OR_RETURN(const Tensor *offsets, read("_loaded_offsets"));
  for (int64_t i = 0; i < channels; ++i) {
    params.scales.push_back(float(scales->getAsDouble(i)));
    params.offsets.push_back(int32_t(offsets->getAsInt(i)));
  }
  params.axis = 0;
  return params;
}

/// The offset is subtracted before padding with 0, so padding has the value 0.
template <bool hasRelu> static llvm::Error importConv(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(SharedQuantParams params, readOutputParams(op));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 4));
  GLOWISH_RETURN_IF_ERROR(checkQuantized(op, 0));
  GLOWISH_RETURN_IF_ERROR(checkQuantized(op, 1));
  GLOWISH_ASSIGN_OR_RETURN(bool isNHWC, op.isNHWC());
  int64_t channels = op.input(1).getShape()[0];
  QuantParams filterParams = *op.getBlob(1).quant;
  NodeValue filter;
  if (op.getInt("quantize_groupwise", 0)) {
    GLOWISH_ASSIGN_OR_RETURN(
        filterParams, readChannelParams(op, op.getInputName(1), channels));
    NodeValue offsets =
        op.table(ElemKind::Int32, {channels, 1, 1, 1}, [&](DimsRef index) {
          return double(filterParams.offsets[index[0]]);
        });
    filter = op.sub(op.cast(op.input(1), ElemKind::Int32), offsets);
  } else {
    filter = subtractOffset(op, op.getBlob(1));
  }
  NodeValue images = toNHWC(op, subtractOffset(op, op.getBlob(0)), isNHWC);
  filter = toNHWC(op, filter, isNHWC);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(ImageWindow window, readWindow(op, images, filter));
  SumScale scale;
  for (float each : filterParams.scales)
    scale.scales.push_back(double(each) * op.getBlob(0).quant->scales[0]);
  NodeValue bias;
  if (op.hasInput(2)) {
    GLOWISH_ASSIGN_OR_RETURN(bias, readBias(op, scale, channels));
  }
  NodeValue sums = op.make<ConvolutionNode>(
      images, filter, bias, window.strides, window.pads, window.dilations,
      op.getInt("group", 1));
  NodeValue result = requantize(op, sums, scale, *params, hasRelu);
  return op.setOutput(0, fromNHWC(op, result, isNHWC), params);
}

/// A float input is multiplied by the dequantized weights.
static llvm::Error importFloatFC(NetOp &op, const Matrix &input,
                                 const Matrix &weights) {
  Blob rows = {weights.value, op.getBlob(1).quant};
  NodeValue bias =
      op.getBlob(2).quant ? dequantize(op, op.getBlob(2)) : op.input(2);
  NodeValue result = makeFullyConnected(
      op, input.value, op.transposeLast(dequantize(op, rows)), bias);
  return op.setOutput(0, input.unflatten(op, result));
}

static llvm::Error importFC(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(SharedQuantParams params, readOutputParams(op));
  GLOWISH_RETURN_IF_ERROR(checkQuantized(op, 1));
  GLOWISH_ASSIGN_OR_RETURN(Matrix input, readMatrix(op, 0, "axis"));
  GLOWISH_ASSIGN_OR_RETURN(Matrix weights, readMatrix(op, 1, "axis_w"));
  bool isFloat = op.getInt("dequantize_output", 0) != 0;
  if (!op.getBlob(0).quant && input.value.getElemKind() == ElemKind::Float) {
    GLOWISH_RETURN_IF_ERROR(importFloatFC(op, input, weights));
    NodeValue result = op.getOutputs()[0].value;
    return isFloat ? llvm::Error::success()
                   : op.setOutput(0, quantize(op, result, *params), params);
  }
  GLOWISH_RETURN_IF_ERROR(checkQuantized(op, 0));
  Blob x = {input.value, op.getBlob(0).quant};
  Blob w = {weights.value, op.getBlob(1).quant};
  SumScale scale = {{double(x.quant->scales[0]) * w.quant->scales[0]}};
  int64_t channels = weights.getNumRows();
  GLOWISH_ASSIGN_OR_RETURN(NodeValue bias, readBias(op, scale, channels));
  NodeValue sums = op.add(
      op.matMul(subtractOffset(op, x), op.transposeLast(subtractOffset(op, w))),
      bias);
  NodeValue result =
      isFloat ? op.mul(op.cast(sums, ElemKind::Float), scale.get(op))
              : requantize(op, sums, scale, *params, /*hasRelu=*/false);
  result = input.unflatten(op, result);
  return op.setOutput(0, result, isFloat ? nullptr : params);
}

//===- Pooling ------------------------------------------------------------===//

static llvm::Error importAveragePool(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(SharedQuantParams params, readOutputParams(op));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_RETURN_IF_ERROR(checkQuantized(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(bool isNHWC, op.isNHWC());
  NodeValue images = toNHWC(op, dequantize(op, op.getBlob(0)), isNHWC);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, averagePool(op, images));
  return op.setOutput(0, fromNHWC(op, quantize(op, result, *params), isNHWC),
                      params);
}

//===- Registrations ------------------------------------------------------===//

static constexpr NetOpTraits quantized{.isQuantized = true};
static constexpr NetOpTraits anyNumber{.inputs = {1, manyInputs},
                                       .isQuantized = true};
static constexpr NetOpTraits convTraits{
    .inputs = {2, 3}, .isQuantized = true, .limit = "2 spatial dimensions"};

static const Caffe2Operators operators = {
    {"Int8Quantize", importQuantize},
    {"Int8Dequantize", importDequantize, quantized},
    {"Int8Relu", importRelu, quantized},
    {"Int8Sum", importSum<false>, anyNumber},
    {"Int8Add", importSum<false>, anyNumber},
    {"Int8SumRelu", importSum<true>, anyNumber},
    {"Int8Softmax", importSoftmax, quantized},
    {"Int8Conv", importConv<false>, convTraits},
    {"Int8ConvRelu", importConv<true>, convTraits},
    {"Int8FC",
     importFC,
     {.inputs = 3,
      .isQuantized = true,
      .limit = "a float input is multiplied without being quantized"}},
    {"Int8AveragePool", importAveragePool, quantized}};
