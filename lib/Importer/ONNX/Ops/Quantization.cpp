//===- Quantization.cpp - Quantize and dequantize -------------------------===//

#include "ONNX/Quantization.h"
#include "ONNX/Conversion.h"
#include "ONNX/Extents.h"
#include "ONNX/ModelFile.h"

using namespace glowish;
using namespace glowish::onnximport;

llvm::Expected<NodeValue> onnximport::castTo(OpContext &op, NodeValue x,
                                             ElemKind kind) {
  return op.finish(op.cast(x, kind));
}

/// The numbers of \p kind if it is an integer under 8 bits.
static std::optional<std::pair<int, int>> findLowRange(ElemKind kind) {
  return dispatchElemKind(kind,
                          [](auto zero) -> std::optional<std::pair<int, int>> {
                            using T = decltype(zero);
                            if constexpr (isLowInt<T>)
                              return std::pair(T::lowest, T::highest);
                            return std::nullopt;
                          });
}

llvm::Expected<NodeValue> onnximport::roundToKind(OpContext &op, NodeValue x,
                                                  NodeValue zeroPoint,
                                                  ElemKind kind) {
  ElemKind own = x.getElemKind();
  x = op.unary<RoundNode>(x);
  if (zeroPoint)
    x = op.add(x, op.cast(zeroPoint, own));
  // Cast saturates, but takes the low bits for integers under 8 bits.
  if (std::optional range = findLowRange(kind))
    x = op.clip(x, range->first, range->second);
  return op.finish(op.cast(x, kind));
}

/// float8 and float4e2m1, but for float8e8m0: that is for scales.
static bool isQuantizedFloat(ElemKind kind) {
  return isLowPrecisionKind(kind) && !isLowIntegerKind(kind) &&
         kind != ElemKind::Float8E8M0;
}

/// Whether tensors of \p kind are quantized: QuantizeLinear can make them.
static bool canBeQuantized(ElemKind kind) {
  return isIntegerKind(kind) || isLowIntegerKind(kind) ||
         isQuantizedFloat(kind);
}

llvm::Expected<NodeValue>
onnximport::subtractZeroPoint(OpContext &op, NodeValue x, NodeValue zeroPoint) {
  ElemKind kind =
      isQuantizedFloat(x.getElemKind()) ? ElemKind::Float : ElemKind::Int32;
  x = op.cast(x, kind);
  if (zeroPoint)
    x = op.sub(x, op.cast(zeroPoint, kind));
  return op.finish(x);
}

llvm::Expected<NodeValue> onnximport::dequantize(OpContext &op,
                                                 const Quantized &x) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value,
                           subtractZeroPoint(op, x.value, x.zeroPoint));
  // In half precisions x * scale is rounded once.
  value = op.cast(value, ElemKind::Float);
  return op.finish(op.mul(value, op.cast(x.scale, ElemKind::Float)));
}

/// Returns \p x / scale as float.
static llvm::Expected<NodeValue> divideByScale(OpContext &op, NodeValue x,
                                               NodeValue scale) {
  NodeValue quotient = op.div(op.cast(x, scale.getElemKind()), scale);
  return op.finish(op.cast(quotient, ElemKind::Float));
}

llvm::Expected<NodeValue> onnximport::quantize(OpContext &op, NodeValue x,
                                               const Quantization &result) {
  GLOWISH_ASSIGN_OR_RETURN(x, divideByScale(op, x, result.scale));
  return roundToKind(op, x, result.zeroPoint, result.kind);
}

/// The same to a float of low precision. The zero point of float8 must be 0; it
/// is not added, so that -0 stays what it is.
static llvm::Expected<NodeValue> quantizeToFloat(OpContext &op, NodeValue x,
                                                 const Quantization &result,
                                                 const Conversion &conversion) {
  GLOWISH_ASSIGN_OR_RETURN(x, divideByScale(op, x, result.scale));
  if (result.zeroPoint && getElemBits(result.kind) < 8)
    x = op.add(x, op.cast(result.zeroPoint, ElemKind::Float));
  return op.finish(convert(op, x, result.kind, conversion));
}

llvm::Expected<NodeValue> onnximport::requantize(OpContext &op, NodeValue sums,
                                                 NodeValue factor,
                                                 const Quantization &result) {
  factor = op.div(factor, result.scale);
  sums = op.mul(op.cast(sums, ElemKind::Float), factor);
  GLOWISH_ASSIGN_OR_RETURN(sums, op.finish(sums));
  return roundToKind(op, sums, result.zeroPoint, result.kind);
}

llvm::Expected<Quantized> onnximport::quantizeDynamically(OpContext &op,
                                                          NodeValue x) {
  std::vector<int64_t> axes = getAllDims(x.getShape().size());
  // 0 is always in the range: beyond extents it may stand for both reductions.
  NodeValue all = op.dropExtents(op.fillOutside(x, axes, 0));
  NodeValue largest =
      op.max(op.reduce(all, "max", axes, /*keepDims=*/false), 0);
  NodeValue smallest =
      op.min(op.reduce(all, "min", axes, /*keepDims=*/false), 0);
  NodeValue range = op.sub(largest, smallest);
  // All zeros have the scale 1.
  NodeValue scale = op.select(op.equal(range, 0), op.number(x, 1),
                              op.div(range, op.number(x, 255)));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue zeroPoint,
                           op.finish(op.div(op.sub(0, smallest), scale)));
  Quantized result = {{ElemKind::UInt8, scale, {}}, {}};
  GLOWISH_ASSIGN_OR_RETURN(
      result.zeroPoint, roundToKind(op, zeroPoint, NodeValue(), result.kind));
  GLOWISH_ASSIGN_OR_RETURN(result.value, quantize(op, x, result));
  return result;
}

//===- Parameters ---------------------------------------------------------===//

llvm::Error onnximport::checkParameterKind(const OpContext &op, unsigned index,
                                           NodeValue parameter,
                                           std::optional<ElemKind> kind) {
  ElemKind own = parameter.getElemKind();
  if (kind ? own == *kind : isFloatKind(own) || own == ElemKind::Float8E8M0)
    return llvm::Error::success();
  return op.refuseInput(index, kind ? getElemKindName(*kind) : "floats");
}

/// Reads input \p index, one value of \p kind, as a scalar. Null if absent.
static llvm::Expected<NodeValue> readScalar(OpContext &op, unsigned index,
                                            ElemKind kind) {
  NodeValue value = op.input(index);
  if (!value)
    return value;
  if (value.getType().getNumElements() != 1 || value.getElemKind() != kind)
    return op.refuseInput(index,
                          llvm::formatv("one {0}", getElemKindName(kind)));
  return op.reshape(value, {}, ".one");
}

llvm::Expected<Quantization> onnximport::readQuantization(OpContext &op,
                                                          unsigned scaleIndex,
                                                          unsigned zeroIndex,
                                                          ElemKind kind) {
  GLOWISH_RETURN_IF_ERROR(op.getInput(scaleIndex).takeError());
  Quantization result = {kind, {}, {}};
  GLOWISH_ASSIGN_OR_RETURN(result.scale,
                           readScalar(op, scaleIndex, ElemKind::Float));
  GLOWISH_ASSIGN_OR_RETURN(result.zeroPoint, readScalar(op, zeroIndex, kind));
  return result;
}

llvm::Expected<NodeValue> onnximport::readBytes(OpContext &op, unsigned index) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(index));
  ElemKind kind = value.getElemKind();
  if (kind != ElemKind::UInt8 && kind != ElemKind::Int8)
    return op.refuseInput(index, "uint8, int8");
  return value;
}

llvm::Expected<Quantized> onnximport::readQuantized(OpContext &op,
                                                    unsigned index,
                                                    unsigned scaleIndex,
                                                    unsigned zeroIndex) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, readBytes(op, index));
  GLOWISH_ASSIGN_OR_RETURN(
      Quantization quantization,
      readQuantization(op, scaleIndex, zeroIndex, value.getElemKind()));
  return Quantized{quantization, value};
}

/// Reads input \p index, one value of \p kind or one per column of \p matrix.
/// Null if absent.
static llvm::Expected<NodeValue>
readPerColumn(OpContext &op, unsigned index, NodeValue matrix, ElemKind kind) {
  NodeValue value = op.input(index);
  DimsRef shape = matrix.getShape();
  if (!value || value.getType().getNumElements() == 1 || shape.size() < 2)
    return readScalar(op, index, kind);
  Dims ofMatrices(shape);
  ofMatrices[shape.size() - 2] = 1;
  if (value.getElemKind() != kind ||
      (value.getShape() != DimsRef({shape.back()}) &&
       value.getShape() != DimsRef(ofMatrices)))
    return op.refuseInput(
        index, llvm::formatv("one {0}, or one for each of {1} columns",
                             getElemKindName(kind), shape.back()));
  return value;
}

llvm::Expected<Quantized> onnximport::readColumns(OpContext &op, unsigned index,
                                                  unsigned scaleIndex,
                                                  unsigned zeroIndex,
                                                  bool isTransposed) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, readBytes(op, index));
  if (isTransposed) {
    GLOWISH_ASSIGN_OR_RETURN(value, op.finish(op.transpose(value, {1, 0})));
  }
  ElemKind kind = value.getElemKind();
  Quantized result = {{kind, {}, {}}, value};
  GLOWISH_RETURN_IF_ERROR(op.getInput(scaleIndex).takeError());
  GLOWISH_ASSIGN_OR_RETURN(
      result.scale, readPerColumn(op, scaleIndex, value, ElemKind::Float));
  GLOWISH_ASSIGN_OR_RETURN(result.zeroPoint,
                           readPerColumn(op, zeroIndex, value, kind));
  return result;
}

llvm::Expected<NodeValue> onnximport::repeatBlocks(OpContext &op,
                                                   NodeValue parameter,
                                                   DimsRef shape, int64_t axis,
                                                   int64_t block) {
  Dims expected(shape);
  expected[axis] = shape[axis] / block + (shape[axis] % block != 0);
  if (parameter.getShape() != DimsRef(expected))
    return makeError("a parameter is {0}; accepted: one value for each {1} "
                     "elements along dimension {2}",
                     parameter.getType().str(), block, axis);
  Dims split = expected, repeated = expected;
  split.insert(split.begin() + axis + 1, 1);
  GLOWISH_ASSIGN_OR_RETURN(parameter, op.reshape(parameter, split, ".blocks"));
  split[axis + 1] = block;
  // Not folded: the optimizer reads from it how long blocks are.
  GLOWISH_ASSIGN_OR_RETURN(auto *broadcast,
                           op.createNode<BroadcastNode>(parameter, split));
  parameter = broadcast->getResult();
  repeated[axis] *= block;
  GLOWISH_ASSIGN_OR_RETURN(parameter,
                           op.reshape(parameter, repeated, ".elements"));
  if (repeated[axis] == shape[axis])
    return parameter;
  std::vector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
  return op.create<SliceNode>(
      parameter, zeros, std::vector<int64_t>(shape.begin(), shape.end()), ones);
}

/// Reads input \p index, a zero point of \p kind or, without a kind, a scale,
/// in a shape that broadcasts to \p x: one value, one per index of the
/// attribute `axis`, or one per block of `block_size` elements. Null if it is
/// absent.
static llvm::Expected<NodeValue>
readParameter(OpContext &op, unsigned index, NodeValue x,
              std::optional<ElemKind> kind = std::nullopt) {
  NodeValue parameter = op.input(index);
  // Both are read where they don't matter, too: an attribute that is not read
  // is one that is not supported.
  int64_t block = op.getInt("block_size", 0);
  op.getInt("axis", 1);
  if (!parameter)
    return parameter;
  GLOWISH_RETURN_IF_ERROR(checkParameterKind(op, index, parameter, kind));
  if (parameter.getType().getNumElements() == 1)
    return op.reshape(parameter, {}, ".one");
  DimsRef shape = x.getShape();
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getAxis("axis", 1, shape.size()));
  if (block < 0)
    return makeError("attribute 'block_size' is {0}; accepted: 0 or more",
                     block);
  if (block > 0)
    return repeatBlocks(op, parameter, shape, axis, block);
  if (parameter.getShape() != DimsRef({shape[axis]}))
    return op.refuseInput(index,
                          llvm::formatv("one value, or {0} for dimension {1}",
                                        shape[axis], axis));
  Dims broadcast(shape.size(), 1);
  broadcast[axis] = shape[axis];
  return op.reshape(parameter, broadcast, ".channels");
}

/// Returns the kind given by the attribute \p name, or \p otherwise.
static llvm::Expected<ElemKind> readKind(OpContext &op, llvm::StringRef name,
                                         ElemKind otherwise) {
  int64_t type = op.getInt(name, 0);
  if (type == 0)
    return otherwise;
  return getElemKind(type);
}

//===- Operators ----------------------------------------------------------===//

static constexpr llvm::StringLiteral quantizedKinds =
    "integers, float8 but for float8e8m0, and float4e2m1";

/// The kind to compute in with a scale of \p kind.
static ElemKind getValueOfScale(ElemKind kind) {
  return isLowPrecisionKind(kind) ? ElemKind::Float : kind;
}

static llvm::Error importDequantizeLinear(OpContext &op, NodeValue x) {
  GLOWISH_RETURN_IF_ERROR(op.getInput(1).takeError());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scale, readParameter(op, 1, x));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue zeroPoint,
                           readParameter(op, 2, x, x.getElemKind()));
  GLOWISH_ASSIGN_OR_RETURN(
      ElemKind kind,
      readKind(op, "output_dtype", getValueOfScale(scale.getElemKind())));
  if (!canBeQuantized(x.getElemKind()))
    return op.refuseInput(0, quantizedKinds);
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue result,
      dequantize(op, {{x.getElemKind(), scale, zeroPoint}, x}));
  return op.setOutput(0, castTo(op, result, kind));
}

/// The result has the kind of the zero point, or uint8 without one.
static llvm::Error importQuantizeLinear(OpContext &op, NodeValue x) {
  GLOWISH_RETURN_IF_ERROR(op.getInput(1).takeError());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scale, readParameter(op, 1, x));
  NodeValue given = op.input(2);
  GLOWISH_ASSIGN_OR_RETURN(
      ElemKind kind, readKind(op, "output_dtype",
                              given ? given.getElemKind() : ElemKind::UInt8));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue zeroPoint, readParameter(op, 2, x, kind));
  GLOWISH_ASSIGN_OR_RETURN(
      ElemKind precision,
      readKind(op, "precision", getValueOfScale(scale.getElemKind())));
  GLOWISH_ASSIGN_OR_RETURN(Conversion conversion, readConversion(op));
  if (!canBeQuantized(kind))
    return makeError("the result would be {0}; accepted: {1}",
                     getElemKindName(kind), quantizedKinds);
  GLOWISH_ASSIGN_OR_RETURN(scale, castTo(op, scale, precision));
  Quantization result = {kind, scale, zeroPoint};
  return op.setOutput(0, isQuantizedFloat(kind)
                             ? quantizeToFloat(op, x, result, conversion)
                             : quantize(op, x, result));
}

static llvm::Error importDynamicQuantizeLinear(OpContext &op, NodeValue x) {
  GLOWISH_ASSIGN_OR_RETURN(Quantized result, quantizeDynamically(op, x));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, result.value));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(1, result.scale));
  return op.setOutput(2, result.zeroPoint);
}

static OnnxOperator dequantizeLinearOp("DequantizeLinear", 10,
                                       withExtents<importDequantizeLinear>);
static OnnxOperator quantizeLinearOp("QuantizeLinear", 10,
                                     withExtents<importQuantizeLinear>);
static OnnxOperator
    dynamicQuantizeLinearOp("DynamicQuantizeLinear", 11,
                            withExtents<importDynamicQuantizeLinear>);
// ONNX Runtime's operators accept 16-bit integers in models of any opset.
static OnnxOperator microsoftDequantizeOp("DequantizeLinear", 1,
                                          withExtents<importDequantizeLinear>,
                                          microsoftDomain);
static OnnxOperator microsoftQuantizeOp("QuantizeLinear", 1,
                                        withExtents<importQuantizeLinear>,
                                        microsoftDomain);
