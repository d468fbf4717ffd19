//===- AxisRules.cpp - Axis rules of the operators ------------------------===//

#include "glowish/Ops/TypeRules.h"

using namespace glowish;

/// One axis per operand, none of them following.
static OperandAxes makeAxes(const OpView &op) {
  return OperandAxes(op.getNumInputs());
}

/// The dimension of an operand of type \p operand that is dimension \p dim of
/// \p result, to which it broadcasts.
static std::optional<OperandAxis>
followBroadcastOperand(const Type &operand, const Type &result, unsigned dim) {
  unsigned missing = result.getRank() - operand.getRank();
  if (dim < missing ||
      operand.getShape()[dim - missing] != result.getShape()[dim])
    return std::nullopt;
  return OperandAxis{dim - missing};
}

std::optional<OperandAxes>
glowish::followBroadcast(const OpView &op, const Type &result, unsigned dim) {
  OperandAxes axes = makeAxes(op);
  for (unsigned i = 0; i < axes.size(); ++i)
    axes[i] = followBroadcastOperand(op.getInput(i), result, dim);
  return axes;
}

/// The first operand has the same dimension, and the others have none.
static OperandAxes followFirst(const OpView &op, unsigned dim) {
  OperandAxes axes = makeAxes(op);
  axes[0] = OperandAxis{dim};
  return axes;
}

/// The dimension of an operand of a matmul that is dimension \p dim of
/// \p result: one of the leading dimensions, which broadcast, or the last but
/// \p fromEnd - 1, which is 2 for the rows of lhs and 1 for the columns of rhs.
static std::optional<OperandAxis> followMatrix(const Type &matrix,
                                               const Type &result, unsigned dim,
                                               unsigned fromEnd) {
  unsigned rank = result.getRank();
  if (dim + 2 < rank)
    return followBroadcastOperand(matrix, result, dim);
  if (rank - dim != fromEnd)
    return std::nullopt;
  return OperandAxis{matrix.getRank() - fromEnd};
}

std::optional<OperandAxes>
glowish::followMatMul(const OpView &view, const Type &result, unsigned dim) {
  OperandAxes axes = makeAxes(view);
  axes[0] = followMatrix(view.getInput(0), result, dim, /*fromEnd=*/2);
  axes[1] = followMatrix(view.getInput(1), result, dim, /*fromEnd=*/1);
  return axes;
}

std::optional<OperandAxes> glowish::followFullyConnected(const OpView &view,
                                                         const Type &result,
                                                         unsigned dim) {
  std::optional<OperandAxes> axes = followMatMul(view, result, dim);
  (*axes)[FullyConnectedView::biasIdx] =
      followBroadcastOperand(FullyConnectedView(view).getBias(), result, dim);
  return axes;
}

std::optional<OperandAxes> glowish::followMatMulInteger(const OpView &view,
                                                        const Type &result,
                                                        unsigned dim) {
  MatMulIntegerView op(view);
  std::optional<OperandAxes> axes = followMatMul(view, result, dim);
  if (dim + 1 == result.getRank() && op.hasRhsZeroPoint())
    (*axes)[2] = followBroadcastOperand(op.getRhsZeroPoint(), result, dim);
  return axes;
}

/// Where the update is along its dimension is not known.
std::optional<OperandAxes>
glowish::followDynamicUpdateSlice(const OpView &view, const Type & /*result*/,
                                  unsigned dim) {
  DynamicUpdateSliceView op(view);
  if (dim == op.getAxis())
    return std::nullopt;
  OperandAxes axes = makeAxes(view);
  axes[op.inputIdx] = axes[op.updateIdx] = OperandAxis{dim};
  return axes;
}

/// Weights are packed in blocks: columns stay together.
std::optional<OperandAxes> glowish::followMatMulNBits(const OpView &view,
                                                      const Type &result,
                                                      unsigned dim) {
  if (dim + 1 == result.getRank())
    return std::nullopt;
  MatMulNBitsView op(view);
  OperandAxes axes = makeAxes(view);
  axes[op.lhsIdx] = OperandAxis{dim};
  if (op.hasLhsScales())
    axes[op.lhsScalesIdx] = OperandAxis{dim};
  return axes;
}

/// Each query by itself; where it attends to keys up to its own number, that
/// must not change.
std::optional<OperandAxes>
glowish::followAttention(const OpView &view, const Type &result, unsigned dim) {
  // The views of all attentions begin with the same operands and attributes.
  AttentionView op(view);
  unsigned rank = result.getRank();
  OperandAxes axes = makeAxes(view);
  if (dim + 2 == rank && op.getCausal())
    return std::nullopt;
  if (dim + 1 < rank) {
    axes[0] = OperandAxis{dim};
    if (op.hasMask())
      axes[3] = followBroadcastOperand(op.getMask(), result, dim);
  }
  if (dim + 2 != rank)
    axes[2] = OperandAxis{dim};
  if (dim + 2 < rank)
    axes[1] = OperandAxis{dim};
  return axes;
}

/// The attributes of windows over the height and width of NHWC images.
template <typename View>
static OperandAxis followWindow(const View &op, int64_t kernel, unsigned dim) {
  unsigned d = dim - 1;
  return {dim, op.getStrides()[d], op.getDilations()[d] * (kernel - 1),
          op.getPads()[d]};
}

static bool isHeightOrWidth(unsigned dim) { return dim == 1 || dim == 2; }

/// Each result channel needs all input channels of its group.
template <typename View>
static std::optional<OperandAxes> followImages(const View &op, unsigned dim) {
  OperandAxes axes = makeAxes(op);
  if (isHeightOrWidth(dim))
    axes[0] = followWindow(op, op.getFilter().getShape()[dim], dim);
  else if (dim == 0)
    axes[0] = OperandAxis{dim};
  else
    return std::nullopt;
  return axes;
}

std::optional<OperandAxes>
glowish::followConvolution(const OpView &view, const Type &, unsigned dim) {
  return followImages(ConvolutionView(view), dim);
}

std::optional<OperandAxes> glowish::followConvolutionInteger(const OpView &view,
                                                             const Type &,
                                                             unsigned dim) {
  return followImages(ConvolutionIntegerView(view), dim);
}

std::optional<OperandAxes> glowish::followWindows(const OpView &view,
                                                  const Type &, unsigned dim) {
  // The views of all pools have the same attributes.
  MaxPoolView op(view);
  OperandAxes axes = followFirst(op, dim);
  if (isHeightOrWidth(dim))
    axes[0] = followWindow(op, op.getKernels()[dim - 1], dim);
  return axes;
}

/// Along the dimensions that are left.
template <typename View>
static std::optional<OperandAxes> followReduction(const View &op,
                                                  unsigned dim) {
  if (!op.getKeepDims())
    for (int64_t axis : op.getAxes())
      dim += axis <= int64_t(dim);
  if (llvm::is_contained(op.getAxes(), int64_t(dim)))
    return std::nullopt;
  return followFirst(op, dim);
}

std::optional<OperandAxes> glowish::followReduce(const OpView &view,
                                                 const Type &, unsigned dim) {
  return followReduction(ReduceView(view), dim);
}

std::optional<OperandAxes>
glowish::followReduceInteger(const OpView &view, const Type &, unsigned dim) {
  return followReduction(ReduceIntegerView(view), dim);
}

std::optional<OperandAxes> glowish::followArgMax(const OpView &view,
                                                 const Type &, unsigned dim) {
  ArgMaxView op(view);
  if (int64_t(dim) == op.getAxis() && op.getKeepDims())
    return std::nullopt;
  bool isBehind = !op.getKeepDims() && int64_t(dim) >= op.getAxis();
  return followFirst(op, dim + isBehind);
}

std::optional<OperandAxes>
glowish::followOutermost(const OpView &op, const Type &, unsigned dim) {
  if (dim != 0)
    return std::nullopt;
  return followFirst(op, dim);
}

std::optional<OperandAxes>
glowish::followImagesAndChannels(const OpView &op, const Type &, unsigned dim) {
  if (isHeightOrWidth(dim))
    return std::nullopt;
  return followFirst(op, dim);
}

std::optional<OperandAxes>
glowish::followAllButLast(const OpView &op, const Type &result, unsigned dim) {
  if (dim + 1 == result.getRank())
    return std::nullopt;
  return followFirst(op, dim);
}

/// Nodes whose first attribute is the dimension from which on elements depend
/// on each other.
std::optional<OperandAxes>
glowish::followBeforeAxis(const OpView &op, const Type &, unsigned dim) {
  if (op.getAttr<int64_t>(0) <= int64_t(dim))
    return std::nullopt;
  return followFirst(op, dim);
}

std::optional<OperandAxes> glowish::followConcat(const OpView &view,
                                                 const Type &, unsigned dim) {
  ConcatView op(view);
  if (op.getAxis() == int64_t(dim))
    return std::nullopt;
  OperandAxes axes = makeAxes(op);
  std::fill(axes.begin(), axes.end(), OperandAxis{dim});
  return axes;
}

/// Along dimensions that are not padded.
std::optional<OperandAxes>
glowish::followPad(const OpView &view, const Type &result, unsigned dim) {
  PadView op(view);
  if (op.getPads()[dim] != 0 || op.getPads()[result.getRank() + dim] != 0)
    return std::nullopt;
  return followFirst(op, dim);
}

/// Along dimensions that are not repeated.
std::optional<OperandAxes> glowish::followTile(const OpView &view, const Type &,
                                               unsigned dim) {
  TileView op(view);
  if (op.getRepeats()[dim] != 1)
    return std::nullopt;
  return followFirst(op, dim);
}

/// Along the indices, and along the dimensions that no index is of.
std::optional<OperandAxes> glowish::followGather(const OpView &view,
                                                 const Type &, unsigned dim) {
  GatherView op(view);
  unsigned axis = unsigned(op.getAxis()), count = op.getIndices().getRank();
  OperandAxes axes = makeAxes(view);
  if (dim < axis)
    axes[op.inputIdx] = OperandAxis{dim};
  else if (dim < axis + count)
    axes[op.indicesIdx] = OperandAxis{dim - axis};
  else
    axes[op.inputIdx] = OperandAxis{dim - count + 1};
  return axes;
}

/// Along dimensions that are not sliced.
std::optional<OperandAxes> glowish::followSlice(const OpView &view,
                                                const Type &, unsigned dim) {
  SliceView op(view);
  if (op.getSizes()[dim] != op.getInput().getShape()[dim] ||
      op.getSteps()[dim] != 1)
    return std::nullopt;
  return followFirst(op, dim);
}

std::optional<OperandAxes>
glowish::followTranspose(const OpView &view, const Type &, unsigned dim) {
  TransposeView op(view);
  return followFirst(op, unsigned(op.getPermutation()[dim]));
}

/// Dimensions that are split or stay: indices of the operand's lie next to each
/// other in one of the result.
std::optional<OperandAxes>
glowish::followReshape(const OpView &view, const Type &result, unsigned dim) {
  DimsRef from = view.getInput(0).getShape(), to = result.getShape();
  if (result.getNumElements() == 0)
    return std::nullopt;
  int64_t size = countElements(to.drop_front(dim + 1));
  int64_t ownSize = 1;
  for (unsigned own = from.size(); own-- > 0; ownSize *= from[own]) {
    if (from[own] * ownSize != to[dim] * size || size % ownSize != 0)
      continue;
    OperandAxes axes = makeAxes(view);
    int64_t stride = size / ownSize;
    axes[0] = OperandAxis{own, stride, /*reach=*/stride - 1};
    return axes;
  }
  return std::nullopt;
}

std::optional<unsigned> glowish::findReshapedDim(DimsRef from, DimsRef to,
                                                 unsigned dim) {
  int64_t behind = countElements(from.drop_front(dim + 1)), own = 1;
  for (unsigned d = to.size(); d-- > 0; own *= to[d])
    if (own == behind && to[d] == from[dim])
      return d;
  return std::nullopt;
}
