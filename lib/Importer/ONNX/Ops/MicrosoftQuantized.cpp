//===- MicrosoftQuantized.cpp - QLinear operators of com.microsoft --------===//
//
// Operators on quantized tensors, as ONNX Runtime's quantization tool writes
// them; for matmuls see QuantizedMatMul.cpp. Source: ONNX Runtime's
// ContribOperators.md.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Extents.h"
#include "ONNX/Images.h"
#include "ONNX/Quantization.h"
#include "ONNX/Softmax.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Element-wise -------------------------------------------------------===//

namespace {

/// Two operands of one kind and the quantization of the result.
struct QuantizedPair {
  Quantized x, y;
  Quantization result;
};

} // namespace

/// Reads the operands in inputs \p first and \p first + 3, each with its scale
/// and zero point, and the quantization of the result behind them.
static llvm::Expected<QuantizedPair> readPair(OpContext &op, unsigned first) {
  QuantizedPair pair;
  GLOWISH_ASSIGN_OR_RETURN(pair.x,
                           readQuantized(op, first, first + 1, first + 2));
  GLOWISH_ASSIGN_OR_RETURN(pair.y,
                           readQuantized(op, first + 3, first + 4, first + 5));
  if (pair.x.kind != pair.y.kind)
    return makeError("inputs {0} and {1} are {2} and {3}; accepted: one kind",
                     first, first + 3, pair.x.value.getType().str(),
                     pair.y.value.getType().str());
  GLOWISH_ASSIGN_OR_RETURN(
      pair.result, readQuantization(op, first + 6, first + 7, pair.x.kind));
  return pair;
}

static llvm::Error importQLinearAdd(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(QuantizedPair pair, readPair(op, 0));
  // In units of the result, for which each operand is multiplied once.
  for (Quantized *operand : {&pair.x, &pair.y}) {
    GLOWISH_ASSIGN_OR_RETURN(
        operand->scale, op.create<DivNode>(operand->scale, pair.result.scale));
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, dequantize(op, pair.x));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue y, dequantize(op, pair.y));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue sum, op.create<AddNode>(x, y));
  return op.setOutput(
      0, roundToKind(op, sum, pair.result.zeroPoint, pair.result.kind));
}

static llvm::Error importQLinearMul(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(QuantizedPair pair, readPair(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue x, subtractZeroPoint(op, pair.x.value, pair.x.zeroPoint));
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue y, subtractZeroPoint(op, pair.y.value, pair.y.zeroPoint));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue multiplied, op.create<MulNode>(x, y));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue factor,
                           op.create<MulNode>(pair.x.scale, pair.y.scale));
  return op.setOutput(0, requantize(op, multiplied, factor, pair.result));
}

static llvm::Error importQLinearWhere(OpContext &op, NodeValue condition) {
  GLOWISH_ASSIGN_OR_RETURN(QuantizedPair pair, readPair(op, 1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, dequantize(op, pair.x));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue y, dequantize(op, pair.y));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue selected,
                           op.create<SelectNode>(condition, x, y));
  return op.setOutput(0, quantize(op, selected, pair.result));
}

/// Sets output 0 to what \p compute makes of input 0, dequantized. Inputs 1 and
/// 2 are its scale and zero point, 3 and 4 those of the result.
static llvm::Error
importUnary(OpContext &op,
            llvm::function_ref<llvm::Expected<NodeValue>(NodeValue)> compute) {
  GLOWISH_ASSIGN_OR_RETURN(Quantized input, readQuantized(op, 0, 1, 2));
  GLOWISH_ASSIGN_OR_RETURN(Quantization result,
                           readQuantization(op, 3, 4, input.kind));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, dequantize(op, input));
  GLOWISH_ASSIGN_OR_RETURN(x, compute(x));
  return op.setOutput(0, quantize(op, x, result));
}

static llvm::Error importQLinearSigmoid(OpContext &op) {
  return importUnary(op,
                     [&](NodeValue x) { return op.create<SigmoidNode>(x); });
}

static llvm::Error importQLinearLeakyRelu(OpContext &op) {
  double alpha = op.getFloat("alpha", 0.01);
  return importUnary(
      op, [&](NodeValue x) { return op.create<LeakyReluNode>(x, alpha); });
}

/// The attribute `opset` is that of the Softmax quantized, but for the default
/// of `axis`.
static llvm::Error importQLinearSoftmax(OpContext &op) {
  int64_t opset = op.getInt("opset", 0);
  if (opset < 1)
    return makeError("attribute 'opset' is {0}; accepted: 1 or more", opset);
  return importUnary(op, [&](NodeValue x) {
    return makeSoftmaxAlongAxis(op, x, /*defaultAxis=*/-1,
                                /*isFlat=*/opset < 13);
  });
}

//===- Means --------------------------------------------------------------===//

/// Sets output 0 to the mean of input 0 over \p axes.
static llvm::Error importMean(OpContext &op, llvm::ArrayRef<int64_t> axes,
                              bool keepDims) {
  return importUnary(op, [&](NodeValue x) {
    return op.create<ReduceNode>(x, "mean", axes.vec(), keepDims);
  });
}

static llvm::Error importQLinearReduceMean(OpContext &op, NodeValue x) {
  std::vector<int64_t> axes = op.getInts("axes", {});
  int64_t keepDims = op.getInt("keepdims", 1);
  unsigned rank = x.getShape().size();
  if (axes.empty())
    axes = getAllDims(rank);
  GLOWISH_ASSIGN_OR_RETURN(axes, normalizeAxes(std::move(axes), rank));
  return importMean(op, axes, keepDims != 0);
}

static llvm::Error importQLinearGlobalAveragePool(OpContext &op, NodeValue x) {
  int64_t isChannelsLast = op.getInt("channels_last", 0);
  unsigned rank = x.getShape().size();
  if (rank < 3)
    return op.refuseInput(0, "rank 3 or more");
  std::vector<int64_t> axes = getAllDims(rank);
  axes.erase(isChannelsLast ? axes.end() - 1 : axes.begin() + 1);
  axes.erase(axes.begin());
  return importMean(op, axes, /*keepDims=*/true);
}

/// Returns input 0, [N, W, C] or [N, H, W, C].
static llvm::Expected<Images> readChannelsLast(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(0));
  DimsRef shape = value.getShape();
  if (shape.size() != 3 && shape.size() != 4)
    return op.refuseInput(0, "rank 3 or 4 (one or two spatial dimensions)");
  Images images = {value, shape.size() == 3};
  if (images.isOneDimensional) {
    GLOWISH_ASSIGN_OR_RETURN(
        images.value,
        op.reshape(value, {shape[0], 1, shape[1], shape[2]}, ".image"));
  }
  return images;
}

static llvm::Error importQLinearAveragePool(OpContext &op) {
  int64_t isChannelsLast = op.getInt("channels_last", 0);
  GLOWISH_ASSIGN_OR_RETURN(Quantized input, readQuantized(op, 0, 1, 2));
  GLOWISH_ASSIGN_OR_RETURN(Quantization result,
                           readQuantization(op, 3, 4, input.kind));
  GLOWISH_ASSIGN_OR_RETURN(Images images, isChannelsLast ? readChannelsLast(op)
                                                         : readImages(op, 0));
  input.value = images.value;
  GLOWISH_ASSIGN_OR_RETURN(images.value, dequantize(op, input));
  GLOWISH_ASSIGN_OR_RETURN(images, averageImages(op, images));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, quantize(op, images.value, result));
  if (!isChannelsLast)
    return setImages(op, value, images.isOneDimensional);
  DimsRef shape = value.getShape();
  if (images.isOneDimensional)
    return op.setOutput(
        0, op.reshape(value, {shape[0], shape[2], shape[3]}, ".line"));
  return op.setOutput(0, value);
}

//===- Data movement ------------------------------------------------------===//

/// Inputs 0 and 1 are the quantization of the result; a tensor, its scale and
/// zero point follow for each part.
static llvm::Error importQLinearConcat(OpContext &op) {
  unsigned count = op.getNumInputs();
  if (count < 5 || (count - 2) % 3 != 0)
    return makeError("there are {0} inputs; accepted: 2, and 3 for each tensor",
                     count);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue zeroPoint, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(Quantization result,
                           readQuantization(op, 0, 1, zeroPoint.getElemKind()));
  std::vector<NodeValue> parts;
  for (unsigned i = 2; i < count; i += 3) {
    GLOWISH_ASSIGN_OR_RETURN(Quantized part,
                             readQuantized(op, i, i + 1, i + 2));
    GLOWISH_ASSIGN_OR_RETURN(NodeValue x, dequantize(op, part));
    GLOWISH_ASSIGN_OR_RETURN(x, quantize(op, x, result));
    parts.push_back(x);
  }
  if (!op.hasAttr("axis"))
    return makeError("attribute 'axis' is missing");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getAxis("axis", 0, parts[0].getShape().size()));
  return op.setOutput(0, op.create<ConcatNode>(parts, axis));
}

static OnnxOperator addOp("QLinearAdd", 1, elementWise<importQLinearAdd>,
                          microsoftDomain);
static OnnxOperator mulOp("QLinearMul", 1, elementWise<importQLinearMul>,
                          microsoftDomain);
static OnnxOperator whereOp("QLinearWhere", 1, elementWise<importQLinearWhere>,
                            microsoftDomain);
static OnnxOperator sigmoidOp("QLinearSigmoid", 1,
                              elementWise<importQLinearSigmoid>,
                              microsoftDomain);
static OnnxOperator leakyReluOp("QLinearLeakyRelu", 1,
                                elementWise<importQLinearLeakyRelu>,
                                microsoftDomain);
static OnnxOperator softmaxOp("QLinearSoftmax", 1,
                              withExtents<importQLinearSoftmax>,
                              microsoftDomain);
static OnnxOperator reduceMeanOp("QLinearReduceMean", 1,
                                 withExtents<importQLinearReduceMean>,
                                 microsoftDomain);
static OnnxOperator averagePoolOp("QLinearAveragePool", 1,
                                  withExtents<importQLinearAveragePool>,
                                  microsoftDomain);
static OnnxOperator
    globalAveragePoolOp("QLinearGlobalAveragePool", 1,
                        withExtents<importQLinearGlobalAveragePool>,
                        microsoftDomain);
static OnnxOperator concatOp("QLinearConcat", 1,
                             withExtents<importQLinearConcat>, microsoftDomain);
