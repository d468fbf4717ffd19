//===- QuantizedProducts.cpp - Products and convolutions of integers ------===//
//
// Sums are int32, as in ONNX, and exact.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Images.h"
#include "ONNX/MatMul.h"
#include "ONNX/Quantization.h"

using namespace glowish;

/// Zero point or scale \p parameter of a matrix [..., rows, columns]: one
/// value, one a row (\p isOfRows) or one a column. Null stays null.
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

/// Inputs \p index and, if there, \p zeroIndex: their difference.
static llvm::Expected<NodeValue> readFactor(OpContext &op, unsigned index,
                                            unsigned zeroIndex, bool isOfRows) {
  GLOWISH_TRY(NodeValue x, op.getInput(index));
  NodeValue zeroPoint = op.getOptionalInput(zeroIndex);
  GLOWISH_TRY(zeroPoint, alignParameter(op, zeroPoint, isOfRows));
  return subtractZeroPoint(op, x, zeroPoint);
}

static llvm::Error importMatMulInteger(OpContext &op) {
  GLOWISH_TRY(NodeValue a, readFactor(op, 0, 2, /*isOfRows=*/true));
  GLOWISH_TRY(NodeValue b, readFactor(op, 1, 3, /*isOfRows=*/false));
  return op.setOutput(0, makeMatMul(op, a, b));
}

/// \p sums, which stand for multiples of \p scaleA * \p scaleB, as numbers of
/// the scale and zero point of inputs \p index and \p index + 1.
static llvm::Expected<NodeValue> requantize(OpContext &op, NodeValue sums,
                                            NodeValue scaleA, NodeValue scaleB,
                                            unsigned index) {
  GLOWISH_TRY(NodeValue scale, op.getInput(index));
  GLOWISH_TRY(NodeValue zeroPoint, op.getInput(index + 1));
  for (NodeValue *parameter : {&scale, &zeroPoint})
    if (parameter->getType().getNumElements() == 1) {
      GLOWISH_TRY(*parameter, op.reshape(*parameter, {}, ".one"));
    }
  for (NodeValue *factor : {&scaleA, &scaleB, &scale}) {
    GLOWISH_TRY(*factor, castTo(op, *factor, ElemKind::Float));
  }
  GLOWISH_TRY(NodeValue factor, op.create<MulNode>(scaleA, scaleB));
  GLOWISH_TRY(factor, op.create<DivNode>(factor, scale));
  GLOWISH_TRY(sums, castTo(op, sums, ElemKind::Float));
  GLOWISH_TRY(sums, op.create<MulNode>(sums, factor));
  return roundToKind(op, sums, zeroPoint, zeroPoint.getElemKind());
}

static llvm::Error importQLinearMatMul(OpContext &op) {
  GLOWISH_TRY(NodeValue a, readFactor(op, 0, 2, /*isOfRows=*/true));
  GLOWISH_TRY(NodeValue b, readFactor(op, 3, 5, /*isOfRows=*/false));
  GLOWISH_TRY(NodeValue scaleA, op.getInput(1));
  GLOWISH_TRY(NodeValue scaleB, op.getInput(4));
  GLOWISH_TRY(scaleA, alignParameter(op, scaleA, /*isOfRows=*/true));
  GLOWISH_TRY(scaleB, alignParameter(op, scaleB, /*isOfRows=*/false));
  GLOWISH_TRY(NodeValue sums, makeMatMul(op, a, b));
  return op.setOutput(0, requantize(op, sums, scaleA, scaleB, 6));
}

/// Images of inputs \p index minus their zero point, which is one value or, of
/// filters, one for each output channel.
static llvm::Expected<Images> readIntegerImages(OpContext &op, unsigned index,
                                                unsigned zeroIndex) {
  GLOWISH_TRY(Images images, readImages(op, index));
  NodeValue zeroPoint = op.getOptionalInput(zeroIndex);
  if (zeroPoint) {
    int64_t count = zeroPoint.getType().getNumElements();
    GLOWISH_TRY(zeroPoint,
                count == 1 ? op.reshape(zeroPoint, {}, ".one")
                           : op.reshape(zeroPoint, {count, 1, 1, 1}, ".one"));
  }
  GLOWISH_TRY(images.value, subtractZeroPoint(op, images.value, zeroPoint));
  return images;
}

static llvm::Error importConvInteger(OpContext &op) {
  GLOWISH_TRY(Images input, readIntegerImages(op, 0, 2));
  GLOWISH_TRY(Images filter, readIntegerImages(op, 1, 3));
  GLOWISH_TRY(Images sums,
              makeConvolution(op, std::move(input), filter, NodeValue()));
  return setImages(op, sums.value, sums.isOneDimensional);
}

/// The bias counts in multiples of the scales' product.
static llvm::Error importQLinearConv(OpContext &op) {
  GLOWISH_TRY(Images input, readIntegerImages(op, 0, 2));
  GLOWISH_TRY(Images filter, readIntegerImages(op, 3, 5));
  GLOWISH_TRY(NodeValue scaleX, op.getInput(1));
  GLOWISH_TRY(NodeValue scaleW, op.getInput(4));
  GLOWISH_TRY(scaleX, alignParameter(op, scaleX, /*isOfRows=*/false));
  GLOWISH_TRY(scaleW, alignParameter(op, scaleW, /*isOfRows=*/false));
  GLOWISH_TRY(Images sums, makeConvolution(op, std::move(input), filter,
                                           op.getOptionalInput(8)));
  GLOWISH_TRY(sums.value, requantize(op, sums.value, scaleX, scaleW, 6));
  return setImages(op, sums.value, sums.isOneDimensional);
}

static OnnxOperator matMulIntegerOp("MatMulInteger", 10, importMatMulInteger);
static OnnxOperator qLinearMatMulOp("QLinearMatMul", 10, importQLinearMatMul);
static OnnxOperator convIntegerOp("ConvInteger", 10, importConvInteger);
static OnnxOperator qLinearConvOp("QLinearConv", 10, importQLinearConv);
