//===- Quantization.cpp - Quantize and dequantize -------------------------===//

#include "ONNX/Quantization.h"
#include "ONNX/ModelFile.h"

using namespace glowish;

llvm::Expected<NodeValue> glowish::castTo(OpContext &op, NodeValue x,
                                          ElemKind kind) {
  if (x.getElemKind() == kind)
    return x;
  return op.create<CastNode>(x, kind);
}

llvm::Expected<NodeValue> glowish::roundToKind(OpContext &op, NodeValue x,
                                               NodeValue zeroPoint,
                                               ElemKind kind) {
  GLOWISH_ASSIGN_OR_RETURN(x, op.create<RoundNode>(x));
  if (zeroPoint) {
    GLOWISH_ASSIGN_OR_RETURN(zeroPoint, castTo(op, zeroPoint, x.getElemKind()));
    GLOWISH_ASSIGN_OR_RETURN(x, op.create<AddNode>(x, zeroPoint));
  }
  // Cast saturates.
  return op.create<CastNode>(x, kind);
}

llvm::Expected<NodeValue> glowish::subtractZeroPoint(OpContext &op, NodeValue x,
                                                     NodeValue zeroPoint) {
  GLOWISH_ASSIGN_OR_RETURN(x, castTo(op, x, ElemKind::Int32));
  if (!zeroPoint)
    return x;
  GLOWISH_ASSIGN_OR_RETURN(zeroPoint, castTo(op, zeroPoint, ElemKind::Int32));
  return op.create<SubNode>(x, zeroPoint);
}

//===- Parameters ---------------------------------------------------------===//

/// Repeats \p parameter, one value per block of \p block elements along \p axis
/// of a tensor of \p shape, for each element.
static llvm::Expected<NodeValue> repeatBlocks(OpContext &op,
                                              NodeValue parameter,
                                              DimsRef shape, int64_t axis,
                                              int64_t block) {
  Dims expected(shape);
  expected[axis] = (shape[axis] + block - 1) / block;
  if (parameter.getShape() != DimsRef(expected))
    return makeError("a parameter is {0}; accepted: one value for each {1} "
                     "elements along dimension {2}",
                     parameter.getType().str(), block, axis);
  Dims split = expected, repeated = expected;
  split.insert(split.begin() + axis + 1, 1);
  GLOWISH_ASSIGN_OR_RETURN(parameter, op.reshape(parameter, split, ".blocks"));
  split[axis + 1] = block;
  GLOWISH_ASSIGN_OR_RETURN(parameter,
                           op.create<BroadcastNode>(parameter, split));
  repeated[axis] *= block;
  GLOWISH_ASSIGN_OR_RETURN(parameter,
                           op.reshape(parameter, repeated, ".elements"));
  if (repeated[axis] == shape[axis])
    return parameter;
  std::vector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
  return op.create<SliceNode>(
      parameter, zeros, std::vector<int64_t>(shape.begin(), shape.end()), ones);
}

/// Reads input \p index, a scale or zero point, in a shape that broadcasts to
/// \p x: one value, one per index of the attribute `axis`, or one per block of
/// `block_size` elements. Null if it is absent.
static llvm::Expected<NodeValue> readParameter(OpContext &op, unsigned index,
                                               NodeValue x) {
  NodeValue parameter = op.getOptionalInput(index);
  GLOWISH_ASSIGN_OR_RETURN(int64_t block, op.getInt("block_size", 0));
  DimsRef shape = x.getShape();
  int64_t axis = 0;
  if (!shape.empty()) {
    GLOWISH_ASSIGN_OR_RETURN(axis, op.getInt("axis", 1));
  }
  if (!parameter || parameter.getType().getNumElements() == 1)
    return parameter ? op.reshape(parameter, {}, ".one")
                     : llvm::Expected<NodeValue>(parameter);
  GLOWISH_ASSIGN_OR_RETURN(axis, normalizeAxis(axis, shape.size()));
  if (block < 0)
    return makeError("attribute 'block_size' is {0}; accepted: 0 or more",
                     block);
  if (block > 0)
    return repeatBlocks(op, parameter, shape, axis, block);
  if (parameter.getShape() != DimsRef({shape[axis]}))
    return makeError("input {0} is {1}; accepted: one value, or {2} for "
                     "dimension {3}",
                     index, parameter.getType().str(), shape[axis], axis);
  Dims broadcast(shape.size(), 1);
  broadcast[axis] = shape[axis];
  return op.reshape(parameter, broadcast, ".channels");
}

/// Returns the kind given by the attribute `output_dtype`, or \p otherwise.
static llvm::Expected<ElemKind> readOutputKind(OpContext &op,
                                               ElemKind otherwise) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t type, op.getInt("output_dtype", 0));
  if (type == 0)
    return otherwise;
  return getElemKind(type);
}

//===- Operators ----------------------------------------------------------===//

static llvm::Error importDequantizeLinear(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_RETURN_IF_ERROR(op.getInput(1).takeError());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scale, readParameter(op, 1, x));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue zeroPoint, readParameter(op, 2, x));
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind,
                           readOutputKind(op, scale.getElemKind()));
  if (!isIntegerKind(x.getElemKind()))
    return makeError("input 0 is {0}; accepted: integers", x.getType().str());
  GLOWISH_ASSIGN_OR_RETURN(x, subtractZeroPoint(op, x, zeroPoint));
  // In half precisions x * scale is rounded once.
  GLOWISH_ASSIGN_OR_RETURN(x, castTo(op, x, ElemKind::Float));
  GLOWISH_ASSIGN_OR_RETURN(scale, castTo(op, scale, ElemKind::Float));
  GLOWISH_ASSIGN_OR_RETURN(x, op.create<MulNode>(x, scale));
  return op.setOutput(0, castTo(op, x, kind));
}

/// The result has the kind of the zero point, or uint8 without one.
static llvm::Error importQuantizeLinear(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_RETURN_IF_ERROR(op.getInput(1).takeError());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scale, readParameter(op, 1, x));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue zeroPoint, readParameter(op, 2, x));
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, readOutputKind(op, ElemKind::UInt8));
  op.ignoreAttrs({"saturate", "precision"}); // for float8; for the division
  if (zeroPoint)
    kind = zeroPoint.getElemKind();
  if (!isIntegerKind(kind))
    return makeError("the result would be {0}; accepted: integers",
                     getElemKindName(kind));
  GLOWISH_ASSIGN_OR_RETURN(x, castTo(op, x, scale.getElemKind()));
  GLOWISH_ASSIGN_OR_RETURN(x, op.create<DivNode>(x, scale));
  GLOWISH_ASSIGN_OR_RETURN(x, castTo(op, x, ElemKind::Float));
  return op.setOutput(0, roundToKind(op, x, zeroPoint, kind));
}

/// Scale and zero point cover the elements and 0 with uint8.
static llvm::Error importDynamicQuantizeLinear(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  std::vector<int64_t> axes;
  for (size_t d = 0; d < x.getShape().size(); ++d)
    axes.push_back(int64_t(d));
  NodeValue zero = op.createScalar(ElemKind::Float, 0);
  NodeValue largestInteger = op.createScalar(ElemKind::Float, 255);
  auto reduce = [&](const char *mode) {
    return op.create<ReduceNode>(x, mode, axes, /*keepDims=*/false);
  };
  GLOWISH_ASSIGN_OR_RETURN(NodeValue largest, reduce("max"));
  GLOWISH_ASSIGN_OR_RETURN(largest, op.create<MaxNode>(largest, zero));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue smallest, reduce("min"));
  GLOWISH_ASSIGN_OR_RETURN(smallest, op.create<MinNode>(smallest, zero));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue range,
                           op.create<SubNode>(largest, smallest));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scale,
                           op.create<DivNode>(range, largestInteger));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue zeroPoint,
                           op.create<SubNode>(zero, smallest));
  GLOWISH_ASSIGN_OR_RETURN(zeroPoint, op.create<DivNode>(zeroPoint, scale));
  GLOWISH_ASSIGN_OR_RETURN(
      zeroPoint, roundToKind(op, zeroPoint, NodeValue(), ElemKind::UInt8));
  GLOWISH_ASSIGN_OR_RETURN(x, op.create<DivNode>(x, scale));
  GLOWISH_RETURN_IF_ERROR(
      op.setOutput(0, roundToKind(op, x, zeroPoint, ElemKind::UInt8)));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(1, scale));
  return op.setOutput(2, zeroPoint);
}

static OnnxOperator dequantizeLinearOp("DequantizeLinear", 10,
                                       importDequantizeLinear);
static OnnxOperator quantizeLinearOp("QuantizeLinear", 10,
                                     importQuantizeLinear);
static OnnxOperator dynamicQuantizeLinearOp("DynamicQuantizeLinear", 11,
                                            importDynamicQuantizeLinear);
// ONNX Runtime's operators accept 16-bit integers in models of any opset.
static OnnxOperator microsoftDequantizeOp("DequantizeLinear", 1,
                                          importDequantizeLinear,
                                          "com.microsoft");
static OnnxOperator microsoftQuantizeOp("QuantizeLinear", 1,
                                        importQuantizeLinear, "com.microsoft");
