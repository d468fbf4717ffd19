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
std::optional<OperandAxes> glowish::followReduce(const OpView &view,
                                                 const Type &, unsigned dim) {
  ReduceView op(view);
  if (!op.getKeepDims())
    for (int64_t axis : op.getAxes())
      dim += axis <= int64_t(dim);
  if (llvm::is_contained(op.getAxes(), int64_t(dim)))
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
