//===- QuantizedMatMul.cpp - Integer matmuls and convolutions -------------===//
//
// Accumulators are int32, as in ONNX, and exact.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Extents.h"
#include "ONNX/Images.h"
#include "ONNX/MatMul.h"
#include "ONNX/Quantization.h"

using namespace glowish;
using namespace glowish::onnximport;

/// Reads input \p index, a zero point of \p kind or, without a kind, a scale of
/// the matrix \p x [..., rows, columns]: one value, or one per row (\p
/// isOfRows) or per column. Null if it is absent.
static llvm::Expected<NodeValue>
readOfMatrix(OpContext &op, unsigned index, NodeValue x, bool isOfRows,
             std::optional<ElemKind> kind = std::nullopt) {
  NodeValue parameter = op.input(index);
  if (!parameter)
    return parameter;
  GLOWISH_RETURN_IF_ERROR(checkParameterKind(op, index, parameter, kind));
  if (parameter.getType().getNumElements() == 1)
    return op.reshape(parameter, {}, ".one");
  DimsRef shape = x.getShape();
  if (shape.size() >= 2) {
    size_t rows = shape.size() - 2, columns = rows + 1;
    int64_t count = shape[isOfRows ? rows : columns];
    if (parameter.getShape() == DimsRef({count}))
      return isOfRows ? op.reshape(parameter, {count, 1}, ".rows")
                      : llvm::Expected<NodeValue>(parameter);
    Dims ofMatrices(shape);
    ofMatrices[isOfRows ? columns : rows] = 1;
    if (parameter.getShape() == DimsRef(ofMatrices))
      return parameter;
  }
  return op.refuseInput(
      index, llvm::formatv("one value, or one for each {0} of {1}",
                           isOfRows ? "row" : "column", x.getType().str()));
}

/// Returns input \p index minus its zero point, input \p zeroIndex if present.
static llvm::Expected<NodeValue> readFactor(OpContext &op, unsigned index,
                                            unsigned zeroIndex, bool isOfRows) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(index));
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue zeroPoint,
      readOfMatrix(op, zeroIndex, x, isOfRows, x.getElemKind()));
  return subtractZeroPoint(op, x, zeroPoint);
}

static llvm::Error importMatMulInteger(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue a,
                           readFactor(op, 0, 2, /*isOfRows=*/true));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue b,
                           readFactor(op, 1, 3, /*isOfRows=*/false));
  return op.setOutput(0, makeMatMul(op, a, b));
}

static llvm::Error importQLinearMatMul(OpContext &op) {
  for (unsigned index : {1, 4, 6})
    GLOWISH_RETURN_IF_ERROR(op.getInput(index).takeError());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue a,
                           readFactor(op, 0, 2, /*isOfRows=*/true));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue b,
                           readFactor(op, 3, 5, /*isOfRows=*/false));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue sums, makeMatMul(op, a, b));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scaleA,
                           readOfMatrix(op, 1, a, /*isOfRows=*/true));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scaleB,
                           readOfMatrix(op, 4, b, /*isOfRows=*/false));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scale,
                           readOfMatrix(op, 6, sums, /*isOfRows=*/true));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue given, op.getInput(7));
  ElemKind kind = given.getElemKind();
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue zeroPoint,
      readOfMatrix(op, 7, sums, /*isOfRows=*/true,
                   isIntegerKind(kind) ? kind : ElemKind::UInt8));
  for (NodeValue *factor : {&scaleA, &scaleB, &scale}) {
    GLOWISH_ASSIGN_OR_RETURN(*factor, castTo(op, *factor, ElemKind::Float));
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue factor,
                           op.create<MulNode>(scaleA, scaleB));
  return op.setOutput(0,
                      requantize(op, sums, factor, {kind, scale, zeroPoint}));
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

llvm::Expected<NodeValue> onnximport::makeFloatMatMul(OpContext &op,
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
  return op.setOutput(0, makeFloatMatMul(op, a, b, op.input(6)));
}

static llvm::Error importDynamicQuantizeMatMul(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(Quantized a, quantizeDynamically(op, x));
  GLOWISH_ASSIGN_OR_RETURN(Quantized b, readColumns(op, 1, 2, 3));
  return op.setOutput(0, makeFloatMatMul(op, a, b, op.input(4)));
}

/// The bias is int32, of the scale of the sums. The result is float without
/// inputs 7 and 8.
static llvm::Error importQGemm(OpContext &op) {
  double alpha = op.getFloat("alpha", 1);
  int64_t transA = op.getInt("transA", 0);
  int64_t transB = op.getInt("transB", 0);
  for (unsigned i : {0, 3}) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue matrix, op.getInput(i));
    if (matrix.getShape().size() != 2)
      return op.refuseInput(i, "rank 2");
  }
  if (op.hasInput(7) != op.hasInput(8))
    return makeError("one of inputs 7 and 8 is absent; accepted: both or none");
  GLOWISH_ASSIGN_OR_RETURN(Quantized a, readQuantized(op, 0, 1, 2));
  GLOWISH_ASSIGN_OR_RETURN(Quantized b, readColumns(op, 3, 4, 5, transB != 0));
  if (transA) {
    GLOWISH_ASSIGN_OR_RETURN(a.value, op.finish(op.transpose(a.value, {1, 0})));
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue sums, multiplyIntegers(op, a, b));
  GLOWISH_ASSIGN_OR_RETURN(sums, addBias(op, sums, op.input(6)));
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue factor,
      op.create<MulNode>(a.scale, op.scalar(ElemKind::Float, alpha)));
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

/// Reads input \p index, a zero point of \p kind or, without a kind, a scale of
/// convolutions: one value, or one for each of \p channels output channels
/// unless that is 0. Null if it is absent.
static llvm::Expected<NodeValue>
readOfChannels(OpContext &op, unsigned index, int64_t channels,
               std::optional<ElemKind> kind = std::nullopt) {
  NodeValue parameter = op.input(index);
  if (!parameter)
    return parameter;
  GLOWISH_RETURN_IF_ERROR(checkParameterKind(op, index, parameter, kind));
  int64_t count = parameter.getType().getNumElements();
  if (count == 1)
    return op.reshape(parameter, {}, ".one");
  if (channels && parameter.getShape() == DimsRef({channels}))
    return parameter;
  std::string more;
  if (channels)
    more = llvm::formatv(", or one for each of {0} output channels", channels);
  return op.refuseInput(index, llvm::formatv("one value{0}", more));
}

/// Returns the images in input \p index minus their zero point: one value or,
/// for filters, one per output channel.
static llvm::Expected<Images> readIntegerImages(OpContext &op, unsigned index,
                                                unsigned zeroIndex,
                                                bool isFilter) {
  GLOWISH_ASSIGN_OR_RETURN(Images images, readImages(op, index));
  int64_t channels = isFilter ? images.value.getShape()[0] : 0;
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue zeroPoint,
      readOfChannels(op, zeroIndex, channels, images.value.getElemKind()));
  if (zeroPoint && !zeroPoint.getShape().empty()) {
    GLOWISH_ASSIGN_OR_RETURN(
        zeroPoint, op.reshape(zeroPoint, {channels, 1, 1, 1}, ".channels"));
  }
  GLOWISH_ASSIGN_OR_RETURN(images.value,
                           subtractZeroPoint(op, images.value, zeroPoint));
  return images;
}

static llvm::Error importConvInteger(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(Images input, readIntegerImages(op, 0, 2, false));
  GLOWISH_ASSIGN_OR_RETURN(Images filter, readIntegerImages(op, 1, 3, true));
  GLOWISH_ASSIGN_OR_RETURN(Images sums,
                           makeConvolution(op, input, filter, NodeValue()));
  return setImages(op, sums.value, sums.isOneDimensional);
}

/// The scale of the bias is that of the sums.
static llvm::Error importQLinearConv(OpContext &op) {
  for (unsigned index : {1, 4, 6})
    GLOWISH_RETURN_IF_ERROR(op.getInput(index).takeError());
  GLOWISH_ASSIGN_OR_RETURN(Images input, readIntegerImages(op, 0, 2, false));
  GLOWISH_ASSIGN_OR_RETURN(Images filter, readIntegerImages(op, 3, 5, true));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scaleX, readOfChannels(op, 1, 0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scaleW,
                           readOfChannels(op, 4, filter.value.getShape()[0]));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue given, op.getInput(7));
  ElemKind kind = given.getElemKind();
  if (kind != ElemKind::UInt8 && kind != ElemKind::Int8)
    return op.refuseInput(7, "one uint8 or int8");
  GLOWISH_ASSIGN_OR_RETURN(Quantization result,
                           readQuantization(op, 6, 7, kind));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue factor,
                           op.create<MulNode>(scaleX, scaleW));
  GLOWISH_ASSIGN_OR_RETURN(Images sums,
                           makeConvolution(op, input, filter, op.input(8)));
  GLOWISH_ASSIGN_OR_RETURN(sums.value,
                           requantize(op, sums.value, factor, result));
  return setImages(op, sums.value, sums.isOneDimensional);
}

static OnnxOperator matMulIntegerOp("MatMulInteger", 10,
                                    withExtents<importMatMulInteger>);
static OnnxOperator qLinearMatMulOp("QLinearMatMul", 10,
                                    withExtents<importQLinearMatMul>);
static OnnxOperator
    matMulIntegerToFloatOp("MatMulIntegerToFloat", 1,
                           withExtents<importMatMulIntegerToFloat>,
                           microsoftDomain);
static OnnxOperator
    dynamicQuantizeMatMulOp("DynamicQuantizeMatMul", 1,
                            withExtents<importDynamicQuantizeMatMul>,
                            microsoftDomain);
static OnnxOperator qGemmOp("QGemm", 1, withExtents<importQGemm>,
                            microsoftDomain);
static OnnxOperator convIntegerOp("ConvInteger", 10,
                                  withExtents<importConvInteger>);
static OnnxOperator qLinearConvOp("QLinearConv", 10,
                                  withExtents<importQLinearConv>);
