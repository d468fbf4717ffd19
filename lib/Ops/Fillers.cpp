//===- Fillers.cpp - Elements beyond extents that change no result --------===//

#include "glowish/Ops/ExtentRules.h"
#include <cmath>
#include <limits>

using namespace glowish;

static constexpr double lowest = -HUGE_VAL, highest = HUGE_VAL;

using MaybeFiller = std::optional<Filler>;

/// Returns \p value where \p matters.
static MaybeFiller fillIf(bool matters, double value, bool isBounded = false) {
  return matters ? MaybeFiller({value, isBounded}) : std::nullopt;
}

MaybeFiller glowish::fillNothing(const OpView &, unsigned, unsigned) {
  return {};
}

MaybeFiller glowish::fillLastWithZero(const OpView &op, unsigned operand,
                                      unsigned dim) {
  return fillIf(dim + 1 == op.getInput(operand).getRank(), 0);
}

/// Whether dimension \p dim is the depth of a matmul's operand \p operand.
static bool isDepth(const OpView &op, unsigned operand, unsigned dim) {
  return op.getInput(operand).getRank() - dim == operand + 1;
}

/// Of both matrices, as 0 times what is not a number would be none.
MaybeFiller glowish::fillDepthWithZero(const OpView &op, unsigned operand,
                                       unsigned dim) {
  return fillIf(isDepth(op, operand, dim), 0);
}

/// Whether the extent of dimension \p dim of operand \p operand is that of
/// dimension \p ownDim of operand \p own, which has the bound for both.
static bool isBoundedBy(const OpView &op, unsigned operand, unsigned dim,
                        unsigned own, unsigned ownDim) {
  const Extent *bound = op.getInput(own).getExtent(ownDim);
  const Extent *extent = op.getInput(operand).getExtent(dim);
  return bound && extent && *bound == *extent;
}

MaybeFiller glowish::boundDepth(const OpView &op, unsigned operand,
                                unsigned dim) {
  return fillIf(isDepth(op, operand, dim), 0,
                isBoundedBy(op, operand, dim, 0, op.getInput(0).getRank() - 1));
}

MaybeFiller glowish::boundKeys(const OpView &op, unsigned operand,
                               unsigned dim) {
  unsigned key = AttentionView::keyIdx;
  bool isOfKeys = operand == key || operand == AttentionView::valueIdx;
  return fillIf(
      isOfKeys && op.getInput(operand).getRank() - dim == 2, 0,
      isBoundedBy(op, operand, dim, key, op.getInput(key).getRank() - 2));
}

static bool isHeightOrWidth(unsigned dim) { return dim == 1 || dim == 2; }

MaybeFiller glowish::fillImagesWithZero(const OpView &, unsigned operand,
                                        unsigned dim) {
  return fillIf(operand == 0 && isHeightOrWidth(dim), 0);
}

MaybeFiller glowish::fillImagesWithLowest(const OpView &, unsigned,
                                          unsigned dim) {
  return fillIf(isHeightOrWidth(dim), lowest);
}

/// Returns whether windows reach beyond the end of dimension \p dim, by \p
/// pads, [top, left, bottom, right].
static bool reachesBehind(llvm::ArrayRef<int64_t> pads, unsigned dim) {
  return isHeightOrWidth(dim) && pads[dim + 1] > 0;
}

MaybeFiller glowish::fillConvolution(const OpView &view, unsigned operand,
                                     unsigned dim) {
  return fillIf(
      operand == 0 && reachesBehind(ConvolutionView(view).getPads(), dim), 0);
}

MaybeFiller glowish::fillMaxPool(const OpView &view, unsigned, unsigned dim) {
  return fillIf(reachesBehind(MaxPoolView(view).getPads(), dim), lowest);
}

MaybeFiller glowish::fillLogSoftmax(const OpView &view, unsigned,
                                    unsigned dim) {
  return fillIf(dim == LogSoftmaxView(view).getAxis(), lowest);
}

MaybeFiller glowish::boundSoftmax(const OpView &view, unsigned, unsigned dim) {
  SoftmaxView op(view);
  return fillIf(dim == op.getAxis(), lowest,
                /*isBounded=*/dim + 1 == op.getInput().getRank());
}

MaybeFiller glowish::fillReduce(const OpView &view, unsigned, unsigned dim) {
  ReduceView op(view);
  llvm::StringRef mode = op.getMode();
  bool isReduced = llvm::is_contained(op.getAxes(), int64_t(dim));
  return fillIf(isReduced, mode == "max"    ? lowest
                           : mode == "min"  ? highest
                           : mode == "prod" ? 1
                                            : 0);
}

MaybeFiller glowish::fillReduceInteger(const OpView &view, unsigned,
                                       unsigned dim) {
  bool isReduced =
      llvm::is_contained(ReduceIntegerView(view).getAxes(), int64_t(dim));
  return fillIf(isReduced, 0);
}

MaybeFiller glowish::fillCumSum(const OpView &view, unsigned, unsigned dim) {
  CumSumView op(view);
  return fillIf(op.getReverse() && dim == op.getAxis(), 0);
}

MaybeFiller glowish::fillTopK(const OpView &view, unsigned, unsigned dim) {
  TopKView op(view);
  // NaN is the greatest.
  double most = isFloatKind(op.getInput().getKind())
                    ? std::numeric_limits<double>::quiet_NaN()
                    : highest;
  return fillIf(dim + 1 == op.getInput().getRank(),
                op.getLargest() ? lowest : most);
}
