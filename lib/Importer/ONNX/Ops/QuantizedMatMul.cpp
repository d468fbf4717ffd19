//===- QuantizedMatMul.cpp - Integer matmuls and convolutions -------------===//
//
// Accumulators are int32, as in ONNX, and exact.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Images.h"
#include "ONNX/MatMul.h"
#include "ONNX/Quantization.h"

using namespace glowish;

/// Reshapes zero point or scale \p parameter of a matrix [..., rows, columns]:
/// one value, one per row (\p isOfRows) or one per column. Null stays null.
static llvm::Expected<NodeValue>
alignParameter(OpContext &op, NodeValue parameter, bool isOfRows) {
  if (!parameter)
    return parameter;
  DimsRef shape = parameter.getShape();
  if (parameter.getType().getNumElements() == 1)
    return op.reshape(parameter, {}, ".one");
  if (shape.size() == 1 && isOfRows)
    return op.reshape(parameter, {shape[0], 1}, ".rows");
  return parameter;
}

/// Returns input \p index minus its zero point, input \p zeroIndex if present.
static llvm::Expected<NodeValue> readFactor(OpContext &op, unsigned index,
                                            unsigned zeroIndex, bool isOfRows) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(index));
  NodeValue zeroPoint = op.getOptionalInput(zeroIndex);
  GLOWISH_ASSIGN_OR_RETURN(zeroPoint, alignParameter(op, zeroPoint, isOfRows));
  return subtractZeroPoint(op, x, zeroPoint);
}

static llvm::Error importMatMulInteger(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue a,
                           readFactor(op, 0, 2, /*isOfRows=*/true));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue b,
                           readFactor(op, 1, 3, /*isOfRows=*/false));
  return op.setOutput(0, makeMatMul(op, a, b));
}

/// Requantizes \p sums, accumulators with the scale \p scaleA * \p scaleB, to
/// the scale and zero point in inputs \p index and \p index + 1.
static llvm::Expected<NodeValue> requantize(OpContext &op, NodeValue sums,
                                            NodeValue scaleA, NodeValue scaleB,
                                            unsigned index) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scale, op.getInput(index));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue zeroPoint, op.getInput(index + 1));
  for (NodeValue *parameter : {&scale, &zeroPoint})
    if (parameter->getType().getNumElements() == 1) {
      GLOWISH_ASSIGN_OR_RETURN(*parameter, op.reshape(*parameter, {}, ".one"));
    }
  for (NodeValue *factor : {&scaleA, &scaleB, &scale}) {
    GLOWISH_ASSIGN_OR_RETURN(*factor, castTo(op, *factor, ElemKind::Float));
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue factor,
                           op.create<MulNode>(scaleA, scaleB));
  GLOWISH_ASSIGN_OR_RETURN(factor, op.create<DivNode>(factor, scale));
  GLOWISH_ASSIGN_OR_RETURN(sums, castTo(op, sums, ElemKind::Float));
  GLOWISH_ASSIGN_OR_RETURN(sums, op.create<MulNode>(sums, factor));
  return roundToKind(op, sums, zeroPoint, zeroPoint.getElemKind());
}

static llvm::Error importQLinearMatMul(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue a,
                           readFactor(op, 0, 2, /*isOfRows=*/true));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue b,
                           readFactor(op, 3, 5, /*isOfRows=*/false));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scaleA, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scaleB, op.getInput(4));
  GLOWISH_ASSIGN_OR_RETURN(scaleA,
                           alignParameter(op, scaleA, /*isOfRows=*/true));
  GLOWISH_ASSIGN_OR_RETURN(scaleB,
                           alignParameter(op, scaleB, /*isOfRows=*/false));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue sums, makeMatMul(op, a, b));
  return op.setOutput(0, requantize(op, sums, scaleA, scaleB, 6));
}

/// Returns the images in input \p index minus their zero point: one value or,
/// for filters, one per output channel.
static llvm::Expected<Images> readIntegerImages(OpContext &op, unsigned index,
                                                unsigned zeroIndex) {
  GLOWISH_ASSIGN_OR_RETURN(Images images, readImages(op, index));
  NodeValue zeroPoint = op.getOptionalInput(zeroIndex);
  if (zeroPoint) {
    int64_t count = zeroPoint.getType().getNumElements();
    GLOWISH_ASSIGN_OR_RETURN(
        zeroPoint, count == 1
                       ? op.reshape(zeroPoint, {}, ".one")
                       : op.reshape(zeroPoint, {count, 1, 1, 1}, ".one"));
  }
  GLOWISH_ASSIGN_OR_RETURN(images.value,
                           subtractZeroPoint(op, images.value, zeroPoint));
  return images;
}

static llvm::Error importConvInteger(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(Images input, readIntegerImages(op, 0, 2));
  GLOWISH_ASSIGN_OR_RETURN(Images filter, readIntegerImages(op, 1, 3));
  GLOWISH_ASSIGN_OR_RETURN(
      Images sums, makeConvolution(op, std::move(input), filter, NodeValue()));
  return setImages(op, sums.value, sums.isOneDimensional);
}

/// The scale of the bias is the product of the scales.
static llvm::Error importQLinearConv(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(Images input, readIntegerImages(op, 0, 2));
  GLOWISH_ASSIGN_OR_RETURN(Images filter, readIntegerImages(op, 3, 5));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scaleX, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scaleW, op.getInput(4));
  GLOWISH_ASSIGN_OR_RETURN(scaleX,
                           alignParameter(op, scaleX, /*isOfRows=*/false));
  GLOWISH_ASSIGN_OR_RETURN(scaleW,
                           alignParameter(op, scaleW, /*isOfRows=*/false));
  GLOWISH_ASSIGN_OR_RETURN(
      Images sums,
      makeConvolution(op, std::move(input), filter, op.getOptionalInput(8)));
  GLOWISH_ASSIGN_OR_RETURN(sums.value,
                           requantize(op, sums.value, scaleX, scaleW, 6));
  return setImages(op, sums.value, sums.isOneDimensional);
}

static OnnxOperator matMulIntegerOp("MatMulInteger", 10, importMatMulInteger);
static OnnxOperator qLinearMatMulOp("QLinearMatMul", 10, importQLinearMatMul);
static OnnxOperator convIntegerOp("ConvInteger", 10, importConvInteger);
static OnnxOperator qLinearConvOp("QLinearConv", 10, importQLinearConv);
