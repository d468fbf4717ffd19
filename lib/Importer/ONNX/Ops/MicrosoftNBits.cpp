//===- MicrosoftNBits.cpp - Matmuls with weights of 8 and 4 bits ----------===//
//
// MatMulNBits of com.microsoft, as a node MatMulNBits of the integers as they
// lie in the file. Zero points may be floats: the nearest integers are those of
// the node, and what these leave is subtracted from the result. Source: ONNX
// Runtime's ContribOperators.md.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Extents.h"
#include "ONNX/MatMul.h"
#include "ONNX/Quantization.h"
#include "glowish/Base/TensorSource.h"
#include "glowish/Graph/RepeatedBlocks.h"
#include "glowish/Importer/OperatorNotes.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

namespace {

/// The attributes.
struct NBitsShape {
  int64_t depth, columns, bits, block;

  ElemKind getKind(bool isSigned) const {
    if (isSigned)
      return bits == 8 ? ElemKind::Int8 : ElemKind::Int4;
    return bits == 8 ? ElemKind::UInt8 : ElemKind::UInt4;
  }
  /// The zero point of weights without others.
  int64_t getMiddle() const { return int64_t(1) << (bits - 1); }
  int64_t getNumBlocks() const { return (depth + block - 1) / block; }
};

} // namespace

static llvm::Expected<NBitsShape> readShape(OpContext &op) {
  NBitsShape shape;
  shape.depth = op.getInt("K", 0);
  shape.columns = op.getInt("N", 0);
  shape.bits = op.getInt("bits", 4);
  shape.block = op.getInt("block_size", 0);
  // How exactly ONNX Runtime may compute: here it is float.
  op.ignoreAttrs({"accuracy_level"});
  if (shape.bits != 8 && shape.bits != 4)
    return makeError("attribute 'bits' is {0}; accepted: 4, 8", shape.bits);
  constexpr int64_t limit = INT32_MAX;
  if (shape.block < 16 || shape.block > limit ||
      (shape.block & (shape.block - 1)))
    return makeError("attribute 'block_size' is {0}; accepted: powers of two "
                     "from 16 on",
                     shape.block);
  if (shape.depth < 1 || shape.depth > limit || shape.columns < 1 ||
      shape.columns > limit)
    return makeError("attributes 'K' and 'N' are {0} and {1}; accepted: at "
                     "least 1",
                     shape.depth, shape.columns);
  return shape;
}

/// Returns a constant of input \p index, in which each column has \p stored
/// integers, one after the other, of which the first \p used count: \p kind
/// [used, N]. Those of 4 bits lie side by side, the first in the lower half of
/// a byte. \p invertsSign: the integers less half of their range.
static llvm::Expected<NodeValue> readIntegers(OpContext &op, unsigned index,
                                              const NBitsShape &shape,
                                              int64_t stored, int64_t used,
                                              bool invertsSign) {
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<const Tensor> packed,
                           op.getConstantPayload(index));
  int64_t columnBytes = (stored * shape.bits + 7) / 8;
  const Type &type = packed->getType();
  if (type.getKind() != ElemKind::UInt8 ||
      type.getNumElements() % shape.columns ||
      type.getNumElements() / shape.columns != columnBytes)
    return makeError("input {0} is {1}; accepted: uint8, {2} bytes for each of "
                     "{3} columns",
                     index, type.str(), columnBytes, shape.columns);
  ElemKind kind = shape.getKind(invertsSign);
  StoredElements::Layout layout = {.stored = StoredBytes::of(packed),
                                   .kind = kind,
                                   .extents = {used, shape.columns},
                                   .strides = {shape.bits, columnBytes * 8},
                                   .invertsSign = invertsSign};
  return op.createConstant(
      Tensor::defer(Type(kind, {used, shape.columns}),
                    std::make_shared<StoredElements>(std::move(layout))));
}

/// Returns input \p index, a float for each block of a column: [blocks, N].
static llvm::Expected<Tensor> readFloats(OpContext &op, unsigned index,
                                         const NBitsShape &shape) {
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<const Tensor> floats,
                           op.getConstantPayload(index));
  int64_t count = shape.getNumBlocks();
  const Type &type = floats->getType();
  if (!isFloatKind(type.getKind()) || type.getNumElements() % shape.columns ||
      type.getNumElements() / shape.columns != count)
    return makeError("input {0} is {1}; accepted: floats, {2} for each of {3} "
                     "columns",
                     index, type.str(), count, shape.columns);
  Type result(ElemKind::Float, {count, shape.columns});
  int64_t bits = getElemBits(type.getKind());
  if (bits <= 32)
    return Tensor::defer(
        result, std::make_shared<StoredElements>(
                    StoredElements::Layout{.stored = StoredBytes::of(floats),
                                           .kind = type.getKind(),
                                           .extents = {count, shape.columns},
                                           .strides = {bits, count * bits}}));
  Tensor transposed(result);
  for (int64_t n = 0; n < shape.columns; ++n)
    for (int64_t block = 0; block < count; ++block)
      transposed.setFromDouble(block * shape.columns + n,
                               floats->getAsDouble(n * count + block));
  return transposed;
}

namespace {

/// Parameters that make weights of integers.
struct NBitsParameters {
  /// [blocks, N].
  NodeValue scales;
  /// [blocks, N]; null where all zero points are half of the range, so that the
  /// weights are signed integers.
  NodeValue zeroPoints;
  /// Zero points that are floats, less the nearest integers, times the scales:
  /// [blocks, N]; null if that is 0.
  NodeValue rest;
};

} // namespace

/// Reads the zero points in input 3, floats: the nearest that the weights can
/// have, and what these leave, times \p scales.
static llvm::Error readFloatZeroPoints(OpContext &op, const NBitsShape &shape,
                                       const Tensor &scales,
                                       NBitsParameters &parameters) {
  GLOWISH_ASSIGN_OR_RETURN(Tensor given, readFloats(op, 3, shape));
  double most = double((int64_t(1) << shape.bits) - 1);
  Tensor integers(Type(shape.getKind(false), given.getType().getShape()));
  bool isExact = true, isMiddle = true;
  for (int64_t i = 0; i < given.getNumElements(); ++i) {
    double zeroPoint = given.getAsDouble(i);
    if (!std::isfinite(zeroPoint))
      return makeError("input 3 has the element {0}; accepted: finite numbers",
                       zeroPoint);
    double integer = std::clamp(std::nearbyint(zeroPoint), 0.0, most);
    integers.setFromDouble(i, integer);
    given.setFromDouble(i, (zeroPoint - integer) * scales.getAsDouble(i));
    isExact &= zeroPoint == integer;
    isMiddle &= integer == shape.getMiddle();
  }
  if (!isExact)
    parameters.rest = op.createConstant(std::move(given));
  if (!isMiddle)
    parameters.zeroPoints = op.createConstant(std::move(integers));
  return llvm::Error::success();
}

static bool isAllMiddle(NodeValue zeroPoints, const NBitsShape &shape) {
  const Tensor &tensor = zeroPoints.getNodeAs<Constant>()->getTensor();
  for (uint8_t zeroPoint : tensor.getByteRange())
    if (zeroPoint != shape.getMiddle())
      return false;
  return true;
}

/// Reads inputs 2 and 3. Without zero points they are half of the range.
static llvm::Expected<NBitsParameters> readParameters(OpContext &op,
                                                      const NBitsShape &shape) {
  NBitsParameters parameters;
  GLOWISH_ASSIGN_OR_RETURN(Tensor scales, readFloats(op, 2, shape));
  if (op.hasInput(3) && isFloatKind(op.peekInput(3).getElemKind())) {
    GLOWISH_RETURN_IF_ERROR(readFloatZeroPoints(op, shape, scales, parameters));
  } else if (op.hasInput(3)) {
    int64_t count = shape.getNumBlocks();
    GLOWISH_ASSIGN_OR_RETURN(parameters.zeroPoints,
                             readIntegers(op, 3, shape, count, count,
                                          /*invertsSign=*/false));
    if (isAllMiddle(parameters.zeroPoints, shape))
      parameters.zeroPoints = NodeValue();
  }
  parameters.scales = op.createConstant(std::move(scales));
  return parameters;
}

/// Subtracts from \p result what \p rest, which readFloatZeroPoints() returns,
/// adds to weights: its MatMul with the sums of each block of \p x.
static llvm::Expected<NodeValue> subtractRest(OpContext &op, NodeValue result,
                                              NodeValue x, NodeValue rest,
                                              const NBitsShape &shape) {
  Dims blocks(x.getShape());
  size_t rank = blocks.size();
  std::vector<int64_t> pads(2 * rank, 0);
  pads.back() = shape.getNumBlocks() * shape.block - shape.depth;
  x = op.cast(x, ElemKind::Float);
  if (pads.back() > 0)
    x = op.pad(x, pads, 0);
  blocks.back() = shape.getNumBlocks();
  blocks.push_back(shape.block);
  NodeValue sums = op.reduce(op.reshape(x, blocks), "sum", {int64_t(rank)},
                             /*keepDims=*/false);
  GLOWISH_ASSIGN_OR_RETURN(sums, op.finish(sums));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue added, makeMatMul(op, sums, rest));
  return op.finish(op.sub(result, op.cast(added, result.getElemKind())));
}

/// Returns the same as multiply() of what dequantizes the weights, for models
/// that are trained: gradients go through it.
static llvm::Expected<NodeValue>
multiplyFloats(OpContext &op, NodeValue x, NodeValue weights,
               const NBitsParameters &parameters, const NBitsShape &shape) {
  NodeValue floats =
      dequantizeRows(op.getFunction(), "weights", weights, parameters.scales,
                     parameters.zeroPoints, std::min(shape.block, shape.depth));
  GLOWISH_ASSIGN_OR_RETURN(floats, castTo(op, floats, x.getElemKind()));
  return makeMatMul(op, x, floats);
}

/// Returns the MatMulNBits of \p x, which may be one row without others.
static llvm::Expected<NodeValue> multiply(OpContext &op, NodeValue x,
                                          NodeValue weights,
                                          const NBitsParameters &parameters,
                                          const NBitsShape &shape) {
  if (op.isTraining())
    return multiplyFloats(op, x, weights, parameters, shape);
  bool isRow = x.getShape().size() == 1;
  if (isRow) {
    GLOWISH_ASSIGN_OR_RETURN(x, op.reshape(x, {1, shape.depth}, "_row"));
  }
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue result,
      op.create<MatMulNBitsNode>(
          x, weights, parameters.scales, parameters.zeroPoints,
          /*lhsScales=*/NodeValue(), std::min(shape.block, shape.depth)));
  return isRow ? op.reshape(result, {shape.columns}, "_row") : result;
}

static llvm::Error importMatMulNBits(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NBitsShape shape, readShape(op));
  if (op.hasInput(4))
    return makeError("input 4, 'g_idx', is present; accepted: blocks of rows "
                     "in their order");
  if (x.getShape().empty() || x.getShape().back() != shape.depth ||
      !isFloatKind(x.getElemKind()) || x.getElemKind() == ElemKind::Double)
    return op.refuseInput(
        0, llvm::formatv("rows of {0} floats of at most 32 bits", shape.depth));
  GLOWISH_ASSIGN_OR_RETURN(NBitsParameters parameters,
                           readParameters(op, shape));
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue weights,
      readIntegers(op, 1, shape, shape.getNumBlocks() * shape.block,
                   shape.depth, /*invertsSign=*/!parameters.zeroPoints));
  // A row has an element for each row of the weights, however its extent is
  // computed.
  GLOWISH_RETURN_IF_ERROR(
      align(op, x, unsigned(x.getShape().size()) - 1, weights, 0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result,
                           multiply(op, x, weights, parameters, shape));
  if (parameters.rest) {
    GLOWISH_ASSIGN_OR_RETURN(
        result, subtractRest(op, result, x, parameters.rest, shape));
  }
  if (NodeValue bias = op.input(5))
    return op.setOutput(0, op.create<AddNode>(result, bias));
  return op.setOutput(0, result);
}

static OnnxOperator matMulNBitsOp("MatMulNBits", 1,
                                  withExtents<importMatMulNBits>,
                                  microsoftDomain);
static constexpr OperatorNotes limits = {.limit = "4 and 8 bits; no `g_idx`"};
static OnnxOperatorNotes matMulNBitsNotes("MatMulNBits", limits,
                                          microsoftDomain);
