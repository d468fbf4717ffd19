//===- QuantizedWeights.cpp - Floats are multiplied with stored integers --===//
//
// A matmul of floats and constant weights that are composed of integers of 8 or
// 4 bits, (q - zero point) * scale, becomes a MatMulNBits of these integers.
// The parameters are one for all weights, one a column, or one for a block of
// rows of a column.
//
// The pass runs before constants are folded, so that weights are still
// integers, and after what multiplies two quantized values as integers.
//
//===----------------------------------------------------------------------===//

#include "Util/Dequantization.h"
#include "glowish/Graph/RepeatedBlocks.h"

using namespace glowish;

namespace {

/// Scales or zero points of a matrix.
struct Parameter {
  const Tensor *values = nullptr;
  /// The rows that share one.
  int64_t block;
  /// Elements from one block, and from one column, to the next.
  int64_t blockStride = 0, columnStride = 0;

  double get(int64_t row, int64_t column) const {
    return values ? values->getAsDouble(row / block * blockStride +
                                        column * columnStride)
                  : 0;
  }
};

/// Constant weights [rows, columns] of integers of at most 8 bits.
struct Weights {
  const Tensor *integers;
  int64_t rows, columns;
  /// Elements from one row, and from one column, to the next.
  int64_t rowStride, columnStride;
  Parameter scale, zeroPoint;

  /// The rows that share a scale and a zero point.
  int64_t getBlock() const { return std::min(scale.block, zeroPoint.block); }
  int64_t getInteger(int64_t row, int64_t column) const {
    int64_t index = row * rowStride + column * columnStride;
    // In memory an element has a byte.
    uint8_t byte = static_cast<const uint8_t *>(integers->getBytes())[index];
    ElemKind kind = integers->getType().getKind();
    bool isSigned = kind == ElemKind::Int8 || kind == ElemKind::Int4;
    return isSigned ? int64_t(int8_t(byte)) : int64_t(byte);
  }
};

} // namespace

//===- Parameters ---------------------------------------------------------===//

/// The constant that \p value is, but for a conversion and its shape.
static const Tensor *findConstant(NodeValue value) {
  if (auto *cast = value.getNodeAs<CastNode>())
    value = cast->getX();
  return getOrderedElements(value);
}

/// Matches \p value, each element of a constant repeated along \p rowAxis of a
/// matrix. \p shape: that of the matrix.
static std::optional<Parameter> matchBlocks(NodeValue value, DimsRef shape,
                                            unsigned rowAxis) {
  auto repeated = matchRepeatedBlocks(value);
  if (!repeated || repeated->axis != rowAxis || value.getShape().size() != 2 ||
      value.getShape()[1 - rowAxis] != shape[1 - rowAxis])
    return std::nullopt;
  const Tensor *values = findConstant(repeated->parameter);
  if (!values)
    return std::nullopt;
  DimsRef from = repeated->parameter.getShape();
  return Parameter{.values = values,
                   .block = repeated->block,
                   .blockStride = rowAxis == 0 ? from[2] : 1,
                   .columnStride = rowAxis == 0 ? 1 : from[rowAxis]};
}

/// The parameter \p value, null for 0, of a matrix of \p shape whose rows are
/// along \p rowAxis.
static std::optional<Parameter> matchParameter(NodeValue value, DimsRef shape,
                                               unsigned rowAxis) {
  int64_t rows = shape[rowAxis];
  if (!value)
    return Parameter{.block = rows};
  if (auto blocks = matchBlocks(value, shape, rowAxis))
    return blocks;
  const Tensor *values = findConstant(value);
  if (!values)
    return std::nullopt;
  if (hasOneElement(value))
    return Parameter{.values = values, .block = rows};
  Dims own(2 - std::min<size_t>(value.getShape().size(), 2), 1);
  llvm::append_range(own, value.getShape());
  if (own.size() != 2 || own[rowAxis] != 1 ||
      own[1 - rowAxis] != shape[1 - rowAxis])
    return std::nullopt;
  return Parameter{.values = values, .block = rows, .columnStride = 1};
}

//===- Weights ------------------------------------------------------------===//

static bool isWeightKind(ElemKind kind) {
  return kind == ElemKind::Int8 || kind == ElemKind::UInt8 ||
         kind == ElemKind::Int4 || kind == ElemKind::UInt4;
}

static std::optional<Weights> matchWeights(NodeValue value) {
  // Of a model of half precision.
  if (auto *cast = value.getNodeAs<CastNode>();
      cast && value.getElemKind() != ElemKind::Float)
    value = cast->getX();
  std::optional<Dequantization> found = matchDequantization(value);
  if (!found || !found->scale || !isWeightKind(found->integer.getElemKind()))
    return std::nullopt;
  const Tensor *integers = getConstantTensor(found->integer);
  DimsRef shape = found->integer.getShape();
  if (!integers || shape.size() != 2 || integers->getNumElements() == 0)
    return std::nullopt;
  bool isTransposed = false;
  for (Node *move : found->moves) {
    auto *transpose = llvm::dyn_cast<TransposeNode>(move);
    if (!transpose || transpose->getType().getRank() != 2)
      return std::nullopt;
    isTransposed ^= transpose->getPermutation()[0] == 1;
  }
  unsigned rowAxis = isTransposed ? 1 : 0;
  auto scale = matchParameter(found->scale, shape, rowAxis);
  auto zeroPoint = matchParameter(found->zeroPoint, shape, rowAxis);
  if (!scale || !zeroPoint)
    return std::nullopt;
  int64_t rows = shape[rowAxis];
  auto isWhole = [&](int64_t block) { return block >= rows; };
  if (scale->block != zeroPoint->block && !isWhole(scale->block) &&
      !isWhole(zeroPoint->block))
    return std::nullopt;
  return Weights{.integers = integers,
                 .rows = rows,
                 .columns = shape[1 - rowAxis],
                 .rowStride = isTransposed ? 1 : shape[1],
                 .columnStride = isTransposed ? shape[1] : 1,
                 .scale = *scale,
                 .zeroPoint = *zeroPoint};
}

/// Calls \p fn with each row, column and zero point of \p weights.
template <typename Fn>
static void forEachWeight(const Weights &weights, Fn fn) {
  std::vector<int64_t> zeros(size_t(weights.columns));
  int64_t block = weights.getBlock();
  for (int64_t row = 0; row < weights.rows; ++row) {
    if (row % block == 0)
      for (int64_t n = 0; n < weights.columns; ++n)
        zeros[size_t(n)] = int64_t(weights.zeroPoint.get(row, n));
    for (int64_t n = 0; n < weights.columns; ++n)
      fn(row, n, zeros[size_t(n)]);
  }
}

/// Whether the signed kind of as many bits has all weights less their zero
/// points.
static bool fitsSigned(const Weights &weights) {
  int64_t limit = int64_t(1)
                  << (getElemBits(weights.integers->getType().getKind()) - 1);
  bool fits = true;
  forEachWeight(weights, [&](int64_t row, int64_t column, int64_t zero) {
    int64_t value = weights.getInteger(row, column) - zero;
    fits &= value >= -limit && value < limit;
  });
  return fits;
}

/// One value of \p parameter for each block and column.
static Tensor spread(const Weights &weights, const Parameter &parameter,
                     ElemKind kind) {
  int64_t block = weights.getBlock();
  int64_t count = (weights.rows + block - 1) / block;
  Tensor result(Type(kind, {count, weights.columns}));
  for (int64_t b = 0; b < count; ++b)
    for (int64_t n = 0; n < weights.columns; ++n)
      result.setFromDouble(b * weights.columns + n,
                           parameter.get(b * block, n));
  return result;
}

static NodeValue multiply(NodeValue lhs, const Weights &weights,
                          RewriteContext &context) {
  ElemKind kind = weights.integers->getType().getKind();
  bool isSigned = fitsSigned(weights);
  bool hasZeros = !isSigned && weights.zeroPoint.values;
  if (isSigned)
    kind = getElemBits(kind) == 8 ? ElemKind::Int8 : ElemKind::Int4;
  Tensor integers(Type(kind, {weights.rows, weights.columns}));
  auto *to = reinterpret_cast<int8_t *>(integers.getBytes());
  forEachWeight(weights, [&](int64_t row, int64_t column, int64_t zero) {
    to[row * weights.columns + column] =
        int8_t(weights.getInteger(row, column) - (hasZeros ? 0 : zero));
  });
  NodeValue zeroPoints;
  if (hasZeros)
    zeroPoints =
        context.createConstant(spread(weights, weights.zeroPoint, kind));
  return context.create<MatMulNBitsNode>(
      lhs, context.createConstant(std::move(integers)),
      context.createConstant(spread(weights, weights.scale, ElemKind::Float)),
      zeroPoints, /*lhsScales=*/NodeValue(),
      std::min(weights.getBlock(), weights.rows));
}

//===- Matmuls ------------------------------------------------------------===//

/// \p lhs times \p rhs; null where it doesn't apply.
static NodeValue multiply(NodeValue lhs, NodeValue rhs,
                          RewriteContext &context) {
  ElemKind kind = lhs.getElemKind();
  if (!isFloatKind(kind) || kind == ElemKind::Double)
    return {};
  auto weights = matchWeights(rhs);
  return weights ? multiply(lhs, *weights, context) : NodeValue();
}

static NodeValue recognizeMatMul(MatMulNode &root, RewriteContext &context) {
  return multiply(root.getLhs(), root.getRhs(), context);
}

static NodeValue recognizeFullyConnected(FullyConnectedNode &root,
                                         RewriteContext &context) {
  NodeValue result = multiply(root.getInput(), root.getWeights(), context);
  return result ? context.create<AddNode>(result, root.getBias()) : result;
}

llvm::Expected<bool>
glowish::recognizeQuantizedWeights(Function &function,
                                   const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<recognizeMatMul>(NodeKind::MatMul);
    rewrites.add<recognizeFullyConnected>(NodeKind::FullyConnected);
  });
}
