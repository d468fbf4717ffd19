//===- Quantization.cpp - To and from quantized numbers -------------------===//

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
  GLOWISH_TRY(x, op.create<RoundNode>(x));
  if (zeroPoint) {
    GLOWISH_TRY(zeroPoint, castTo(op, zeroPoint, x.getElemKind()));
    GLOWISH_TRY(x, op.create<AddNode>(x, zeroPoint));
  }
  // A Cast saturates.
  return op.create<CastNode>(x, kind);
}

llvm::Expected<NodeValue> glowish::subtractZeroPoint(OpContext &op, NodeValue x,
                                                     NodeValue zeroPoint) {
  GLOWISH_TRY(x, castTo(op, x, ElemKind::Int32));
  if (!zeroPoint)
    return x;
  GLOWISH_TRY(zeroPoint, castTo(op, zeroPoint, ElemKind::Int32));
  return op.create<SubNode>(x, zeroPoint);
}

//===- Parameters ---------------------------------------------------------===//

/// \p parameter, one value for each block of \p block elements along \p axis of
/// a tensor of \p shape, once for each element.
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
  GLOWISH_TRY(parameter, op.reshape(parameter, split, ".blocks"));
  split[axis + 1] = block;
  GLOWISH_TRY(parameter, op.create<BroadcastNode>(parameter, split));
  repeated[axis] *= block;
  GLOWISH_TRY(parameter, op.reshape(parameter, repeated, ".elements"));
  if (repeated[axis] == shape[axis])
    return parameter;
  std::vector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
  return op.create<SliceNode>(
      parameter, zeros, std::vector<int64_t>(shape.begin(), shape.end()), ones);
}

/// Input \p index, a scale or a zero point, in a shape that broadcasts to
/// \p x: one value, one for each index of the attribute `axis`, or one for each
/// block of `block_size` elements. Null where there is none.
static llvm::Expected<NodeValue> readParameter(OpContext &op, unsigned index,
                                               NodeValue x) {
  NodeValue parameter = op.getOptionalInput(index);
  GLOWISH_TRY(int64_t block, op.getInt("block_size", 0));
  DimsRef shape = x.getShape();
  int64_t axis = 0;
  if (!shape.empty()) {
    GLOWISH_TRY(axis, op.getInt("axis", 1));
  }
  if (!parameter || parameter.getType().getNumElements() == 1)
    return parameter ? op.reshape(parameter, {}, ".one")
                     : llvm::Expected<NodeValue>(parameter);
  GLOWISH_TRY(axis, normalizeAxis(axis, shape.size()));
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

/// The kind that the attribute `output_dtype` states, or \p otherwise.
static llvm::Expected<ElemKind> readOutputKind(OpContext &op,
                                               ElemKind otherwise) {
  GLOWISH_TRY(int64_t type, op.getInt("output_dtype", 0));
  if (type == 0)
    return otherwise;
  return getElemKind(type);
}

//===- Operators ----------------------------------------------------------===//

static llvm::Error importDequantizeLinear(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_CHECK(op.getInput(1).takeError());
  GLOWISH_TRY(NodeValue scale, readParameter(op, 1, x));
  GLOWISH_TRY(NodeValue zeroPoint, readParameter(op, 2, x));
  GLOWISH_TRY(ElemKind kind, readOutputKind(op, scale.getElemKind()));
  if (!isIntegerKind(x.getElemKind()))
    return makeError("input 0 is {0}; accepted: integers", x.getType().str());
  GLOWISH_TRY(x, subtractZeroPoint(op, x, zeroPoint));
  // Products of half precisions are rounded once.
  GLOWISH_TRY(x, castTo(op, x, ElemKind::Float));
  GLOWISH_TRY(scale, castTo(op, scale, ElemKind::Float));
  GLOWISH_TRY(x, op.create<MulNode>(x, scale));
  return op.setOutput(0, castTo(op, x, kind));
}

/// The kind of the result is the zero point's, or uint8 without one.
static llvm::Error importQuantizeLinear(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_CHECK(op.getInput(1).takeError());
  GLOWISH_TRY(NodeValue scale, readParameter(op, 1, x));
  GLOWISH_TRY(NodeValue zeroPoint, readParameter(op, 2, x));
  GLOWISH_TRY(ElemKind kind, readOutputKind(op, ElemKind::UInt8));
  op.ignoreAttrs({"saturate", "precision"}); // of float8; of what divides
  if (zeroPoint)
    kind = zeroPoint.getElemKind();
  if (!isIntegerKind(kind))
    return makeError("the result would be {0}; accepted: integers",
                     getElemKindName(kind));
  GLOWISH_TRY(x, castTo(op, x, scale.getElemKind()));
  GLOWISH_TRY(x, op.create<DivNode>(x, scale));
  GLOWISH_TRY(x, castTo(op, x, ElemKind::Float));
  return op.setOutput(0, roundToKind(op, x, zeroPoint, kind));
}

/// Scale and zero point are those that cover the elements and 0 with uint8.
static llvm::Error importDynamicQuantizeLinear(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  std::vector<int64_t> axes;
  for (size_t d = 0; d < x.getShape().size(); ++d)
    axes.push_back(int64_t(d));
  NodeValue zero = op.createScalar(ElemKind::Float, 0);
  NodeValue largestInteger = op.createScalar(ElemKind::Float, 255);
  auto reduce = [&](const char *mode) {
    return op.create<ReduceNode>(x, mode, axes, /*keepDims=*/false);
  };
  GLOWISH_TRY(NodeValue largest, reduce("max"));
  GLOWISH_TRY(largest, op.create<MaxNode>(largest, zero));
  GLOWISH_TRY(NodeValue smallest, reduce("min"));
  GLOWISH_TRY(smallest, op.create<MinNode>(smallest, zero));
  GLOWISH_TRY(NodeValue range, op.create<SubNode>(largest, smallest));
  GLOWISH_TRY(NodeValue scale, op.create<DivNode>(range, largestInteger));
  GLOWISH_TRY(NodeValue zeroPoint, op.create<SubNode>(zero, smallest));
  GLOWISH_TRY(zeroPoint, op.create<DivNode>(zeroPoint, scale));
  GLOWISH_TRY(zeroPoint,
              roundToKind(op, zeroPoint, NodeValue(), ElemKind::UInt8));
  GLOWISH_TRY(x, op.create<DivNode>(x, scale));
  GLOWISH_CHECK(
      op.setOutput(0, roundToKind(op, x, zeroPoint, ElemKind::UInt8)));
  GLOWISH_CHECK(op.setOutput(1, scale));
  return op.setOutput(2, zeroPoint);
}

static OnnxOperator dequantizeLinearOp("DequantizeLinear", 10,
                                       importDequantizeLinear);
static OnnxOperator quantizeLinearOp("QuantizeLinear", 10,
                                     importQuantizeLinear);
static OnnxOperator dynamicQuantizeLinearOp("DynamicQuantizeLinear", 11,
                                            importDynamicQuantizeLinear);
// ONNX Runtime's take 16-bit integers in models of any opset.
static OnnxOperator microsoftDequantizeOp("DequantizeLinear", 1,
                                          importDequantizeLinear,
                                          "com.microsoft");
static OnnxOperator microsoftQuantizeOp("QuantizeLinear", 1,
                                        importQuantizeLinear, "com.microsoft");
