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
static llvm::Expected<NodeValue>
requantizeToInputs(OpContext &op, NodeValue sums, NodeValue scaleA,
                   NodeValue scaleB, unsigned index) {
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
  return requantize(op, sums, factor,
                    {zeroPoint.getElemKind(), scale, zeroPoint});
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
  return op.setOutput(0, requantizeToInputs(op, sums, scaleA, scaleB, 6));
}

//===- com.microsoft ------------------------------------------------------===//

/// Returns the matmul of \p a and \p b without their scales, as int32.
static llvm::Expected<NodeValue>
multiplyIntegers(OpContext &op, const Quantized &a, const Quantized &b) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x,
                           subtractZeroPoint(op, a.value, a.zeroPoint));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue y,
                           subtractZeroPoint(op, b.value, b.zeroPoint));
  return makeMatMul(op, x, y);
}

/// Adds \p bias, which must broadcast to \p sums and may be null.
static llvm::Expected<NodeValue> addBias(OpContext &op, NodeValue sums,
                                         NodeValue bias) {
  if (!bias)
    return sums;
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, op.create<AddNode>(sums, bias));
  if (result.getShape() != sums.getShape())
    return makeError("the bias is {0}; accepted: what broadcasts to {1}",
                     bias.getType().str(), sums.getType().str());
  return result;
}

llvm::Expected<NodeValue> glowish::makeFloatMatMul(OpContext &op,
                                                   const Quantized &a,
                                                   const Quantized &b,
                                                   NodeValue bias) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue sums, multiplyIntegers(op, a, b));
  GLOWISH_ASSIGN_OR_RETURN(sums, castTo(op, sums, ElemKind::Float));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue factor,
                           op.create<MulNode>(a.scale, b.scale));
  GLOWISH_ASSIGN_OR_RETURN(sums, op.create<MulNode>(sums, factor));
  return addBias(op, sums, bias);
}

static llvm::Error importMatMulIntegerToFloat(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(Quantized a, readQuantized(op, 0, 2, 4));
  GLOWISH_ASSIGN_OR_RETURN(Quantized b, readColumns(op, 1, 3, 5));
  return op.setOutput(0, makeFloatMatMul(op, a, b, op.getOptionalInput(6)));
}

static llvm::Error importDynamicQuantizeMatMul(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(Quantized a, quantizeDynamically(op, x));
  GLOWISH_ASSIGN_OR_RETURN(Quantized b, readColumns(op, 1, 2, 3));
  return op.setOutput(0, makeFloatMatMul(op, a, b, op.getOptionalInput(4)));
}

/// The bias is int32, of the scale of the sums. The result is float without
/// inputs 7 and 8.
static llvm::Error importQGemm(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(double alpha, op.getFloat("alpha", 1));
  GLOWISH_ASSIGN_OR_RETURN(int64_t transA, op.getInt("transA", 0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t transB, op.getInt("transB", 0));
  for (unsigned i : {0, 3}) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue matrix, op.getInput(i));
    if (matrix.getShape().size() != 2)
      return makeError("input {0} is {1}; accepted: rank 2", i,
                       matrix.getType().str());
  }
  if (op.hasInput(7) != op.hasInput(8))
    return makeError("one of inputs 7 and 8 is absent; accepted: both or none");
  GLOWISH_ASSIGN_OR_RETURN(Quantized a, readQuantized(op, 0, 1, 2));
  GLOWISH_ASSIGN_OR_RETURN(Quantized b, readColumns(op, 3, 4, 5, transB != 0));
  if (transA) {
    GLOWISH_ASSIGN_OR_RETURN(a.value, op.transpose(a.value, {1, 0}));
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue sums, multiplyIntegers(op, a, b));
  GLOWISH_ASSIGN_OR_RETURN(sums, addBias(op, sums, op.getOptionalInput(6)));
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue factor,
      op.create<MulNode>(a.scale, op.createScalar(ElemKind::Float, alpha)));
  GLOWISH_ASSIGN_OR_RETURN(factor, op.create<MulNode>(factor, b.scale));
  if (!op.hasInput(7)) {
    GLOWISH_ASSIGN_OR_RETURN(sums, castTo(op, sums, ElemKind::Float));
    return op.setOutput(0, op.create<MulNode>(sums, factor));
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue zeroPoint, op.getInput(8));
  GLOWISH_ASSIGN_OR_RETURN(Quantization result,
                           readQuantization(op, 7, 8, zeroPoint.getElemKind()));
  return op.setOutput(0, requantize(op, sums, factor, result));
}

//===- Convolutions -------------------------------------------------------===//

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
  GLOWISH_ASSIGN_OR_RETURN(Images sums,
                           makeConvolution(op, input, filter, NodeValue()));
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
      Images sums, makeConvolution(op, input, filter, op.getOptionalInput(8)));
  GLOWISH_ASSIGN_OR_RETURN(
      sums.value, requantizeToInputs(op, sums.value, scaleX, scaleW, 6));
  return setImages(op, sums.value, sums.isOneDimensional);
}

static OnnxOperator matMulIntegerOp("MatMulInteger", 10, importMatMulInteger);
static OnnxOperator qLinearMatMulOp("QLinearMatMul", 10, importQLinearMatMul);
static OnnxOperator matMulIntegerToFloatOp("MatMulIntegerToFloat", 1,
                                           importMatMulIntegerToFloat,
                                           microsoftDomain);
static OnnxOperator dynamicQuantizeMatMulOp("DynamicQuantizeMatMul", 1,
                                            importDynamicQuantizeMatMul,
                                            microsoftDomain);
static OnnxOperator qGemmOp("QGemm", 1, importQGemm, microsoftDomain);
static OnnxOperator convIntegerOp("ConvInteger", 10, importConvInteger);
static OnnxOperator qLinearConvOp("QLinearConv", 10, importQLinearConv);
