//===- MicrosoftNBits.cpp - Matmuls with weights of 8 and 4 bits ----------===//
//
// MatMulNBits of com.microsoft, as composed of what dequantizes the weights and
// a MatMul. Zero points may be floats: the nearest integers are those of the
// weights, and what these leave is subtracted from the result. So the weights
// stay integers. Source: ONNX Runtime's ContribOperators.md.
//
//===----------------------------------------------------------------------===//

#include "ONNX/DynamicDims.h"
#include "ONNX/MatMul.h"
#include "ONNX/Quantization.h"
#include "glowish/Importer/OperatorNotes.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

namespace {

/// The attributes.
struct NBitsShape {
  int64_t depth, columns, bits, block;

  ElemKind getKind() const {
    return bits == 8 ? ElemKind::UInt8 : ElemKind::UInt4;
  }
  int64_t getNumBlocks() const { return (depth + block - 1) / block; }
};

} // namespace

static llvm::Expected<NBitsShape> readShape(OpContext &op) {
  NBitsShape shape;
  GLOWISH_ASSIGN_OR_RETURN(shape.depth, op.getInt("K", 0));
  GLOWISH_ASSIGN_OR_RETURN(shape.columns, op.getInt("N", 0));
  GLOWISH_ASSIGN_OR_RETURN(shape.bits, op.getInt("bits", 4));
  GLOWISH_ASSIGN_OR_RETURN(shape.block, op.getInt("block_size", 0));
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

/// Transposes input \p index, for each column \p stored integers, of which the
/// first \p used are taken: [used, N]. Those of 4 bits lie side by side, the
/// first in the lower half of a byte.
static llvm::Expected<NodeValue> readIntegers(OpContext &op, unsigned index,
                                              const NBitsShape &shape,
                                              int64_t stored, int64_t used) {
  GLOWISH_ASSIGN_OR_RETURN(const Tensor *packed, op.getConstant(index));
  int64_t columnBytes = (stored * shape.bits + 7) / 8;
  if (packed->getType().getKind() != ElemKind::UInt8 ||
      packed->getNumElements() % shape.columns ||
      packed->getNumElements() / shape.columns != columnBytes)
    return makeError("input {0} is {1}; accepted: uint8, {2} bytes for each of "
                     "{3} columns",
                     index, packed->getType().str(), columnBytes,
                     shape.columns);
  Tensor integers(Type(shape.getKind(), {used, shape.columns}));
  const auto *from = static_cast<const uint8_t *>(packed->getBytes());
  auto *to = static_cast<uint8_t *>(integers.getBytes());
  for (int64_t n = 0; n < shape.columns; ++n)
    for (int64_t k = 0; k < used; ++k) {
      uint8_t byte = from[n * columnBytes + k * shape.bits / 8];
      to[k * shape.columns + n] =
          shape.bits == 8 ? byte : uint8_t(byte >> (k % 2 * 4) & 15);
    }
  return op.createConstant(std::move(integers));
}

/// Transposes input \p index, a float for each block: [blocks, N].
static llvm::Expected<Tensor> readFloats(OpContext &op, unsigned index,
                                         const NBitsShape &shape) {
  GLOWISH_ASSIGN_OR_RETURN(const Tensor *floats, op.getConstant(index));
  int64_t count = shape.getNumBlocks();
  if (!isFloatKind(floats->getType().getKind()) ||
      floats->getNumElements() % shape.columns ||
      floats->getNumElements() / shape.columns != count)
    return makeError("input {0} is {1}; accepted: floats, {2} for each of {3} "
                     "columns",
                     index, floats->getType().str(), count, shape.columns);
  Tensor transposed(Type(ElemKind::Float, {count, shape.columns}));
  for (int64_t n = 0; n < shape.columns; ++n)
    for (int64_t block = 0; block < count; ++block)
      transposed.setFromDouble(block * shape.columns + n,
                               floats->getAsDouble(n * count + block));
  return transposed;
}

/// Reads the zero points in input 3, floats. Returns the nearest that the
/// weights can have. \p rest becomes what these leave of the zero points times
/// \p scales, [blocks, N]; null if that is 0.
static llvm::Expected<NodeValue> readFloatZeroPoints(OpContext &op,
                                                     const NBitsShape &shape,
                                                     const Tensor &scales,
                                                     NodeValue &rest) {
  GLOWISH_ASSIGN_OR_RETURN(Tensor given, readFloats(op, 3, shape));
  double most = double((int64_t(1) << shape.bits) - 1);
  Tensor integers(Type(shape.getKind(), given.getType().getShape()));
  bool isExact = true;
  for (int64_t i = 0; i < given.getNumElements(); ++i) {
    double zeroPoint = given.getAsDouble(i);
    if (!std::isfinite(zeroPoint))
      return makeError("input 3 has the element {0}; accepted: finite numbers",
                       zeroPoint);
    double integer = std::clamp(std::nearbyint(zeroPoint), 0.0, most);
    integers.setFromDouble(i, integer);
    given.setFromDouble(i, (zeroPoint - integer) * scales.getAsDouble(i));
    isExact &= zeroPoint == integer;
  }
  if (!isExact)
    rest = op.createConstant(std::move(given));
  return op.createConstant(std::move(integers));
}

/// The zero points in input 3, [blocks, N]; without it half of the range. For
/// \p scales and \p rest see readFloatZeroPoints().
static llvm::Expected<NodeValue> readZeroPoints(OpContext &op,
                                                const NBitsShape &shape,
                                                const Tensor &scales,
                                                NodeValue &rest) {
  int64_t count = shape.getNumBlocks();
  if (op.hasInput(3) && isFloatKind(op.peekInput(3).getElemKind()))
    return readFloatZeroPoints(op, shape, scales, rest);
  if (op.hasInput(3))
    return readIntegers(op, 3, shape, count, count);
  Tensor middle(Type(shape.getKind(), {}));
  middle.setFromDouble(0, double(int64_t(1) << (shape.bits - 1)));
  return op.createConstant(std::move(middle));
}

/// Subtracts from \p result what \p rest, which readFloatZeroPoints() returns,
/// adds to weights: its MatMul with the sums of each block of \p x.
static llvm::Expected<NodeValue> subtractRest(OpContext &op, NodeValue result,
                                              NodeValue x, NodeValue rest,
                                              const NBitsShape &shape) {
  Composer c(op);
  Dims blocks(x.getShape());
  size_t rank = blocks.size();
  std::vector<int64_t> pads(2 * rank, 0);
  pads.back() = shape.getNumBlocks() * shape.block - shape.depth;
  x = c.cast(x, ElemKind::Float);
  if (pads.back() > 0)
    x = c.pad(x, pads, 0);
  blocks.back() = shape.getNumBlocks();
  blocks.push_back(shape.block);
  NodeValue sums = c.reduce(c.reshape(x, blocks), "sum", {int64_t(rank)},
                            /*keepDims=*/false);
  GLOWISH_ASSIGN_OR_RETURN(sums, c.finish(sums));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue added, makeMatMul(op, sums, rest));
  return c.finish(c.sub(result, c.cast(added, result.getElemKind())));
}

static llvm::Error importMatMulNBits(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NBitsShape shape, readShape(op));
  if (op.hasInput(4))
    return makeError("input 4, 'g_idx', is present; accepted: blocks of rows "
                     "in their order");
  if (x.getShape().empty() || x.getShape().back() != shape.depth ||
      !isFloatKind(x.getElemKind()))
    return makeError("input 0 is {0}; accepted: rows of {1} floats",
                     x.getType().str(), shape.depth);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue integers,
                           readIntegers(op, 1, shape,
                                        shape.getNumBlocks() * shape.block,
                                        shape.depth));
  GLOWISH_ASSIGN_OR_RETURN(Tensor scaleValues, readFloats(op, 2, shape));
  NodeValue rest;
  GLOWISH_ASSIGN_OR_RETURN(NodeValue zeroPoints,
                           readZeroPoints(op, shape, scaleValues, rest));
  NodeValue scales = op.createConstant(std::move(scaleValues));
  for (NodeValue *parameter : {&scales, &zeroPoints})
    if (!parameter->getShape().empty()) {
      GLOWISH_ASSIGN_OR_RETURN(*parameter,
                               repeatBlocks(op, *parameter, integers.getShape(),
                                            /*axis=*/0, shape.block));
    }
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue weights,
      dequantize(op, {{shape.getKind(), scales, zeroPoints}, integers}));
  GLOWISH_ASSIGN_OR_RETURN(weights, castTo(op, weights, x.getElemKind()));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, makeMatMul(op, x, weights));
  if (rest) {
    GLOWISH_ASSIGN_OR_RETURN(result, subtractRest(op, result, x, rest, shape));
  }
  if (NodeValue bias = op.getOptionalInput(5))
    return op.setOutput(0, op.create<AddNode>(result, bias));
  return op.setOutput(0, result);
}

/// Gives the result the extents of the rows. A row has an element for each row
/// of the weights, however its extent is computed.
static llvm::Error importMatMulNBitsOfRows(OpContext &op) {
  GLOWISH_RETURN_IF_ERROR(importMatMulNBits(op));
  Extents extents = op.getExtents(0);
  size_t last = op.getOutputs()[0].getShape().size() - 1;
  if (extents.size() > last)
    extents[last] = {};
  op.setExtents(0, std::move(extents));
  return llvm::Error::success();
}

static OnnxOperator matMulNBitsOp("MatMulNBits", 1, importMatMulNBitsOfRows,
                                  microsoftDomain);
static constexpr OperatorNotes limits = {.limit = "4 and 8 bits; no `g_idx`"};
static OnnxOperatorNotes matMulNBitsNotes("MatMulNBits", limits,
                                          microsoftDomain);
