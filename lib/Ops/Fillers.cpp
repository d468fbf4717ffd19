//===- Fillers.cpp - Elements beyond extents that change no result --------===//

#include "glowish/Ops/ExtentRules.h"
#include <cmath>
#include <limits>

using namespace glowish;

using Filler = std::optional<double>;
static constexpr double lowest = -HUGE_VAL, highest = HUGE_VAL;

Filler glowish::fillNothing(const OpView &, unsigned, unsigned) { return {}; }

Filler glowish::fillLastWithZero(const OpView &op, unsigned operand,
                                 unsigned dim) {
  return dim + 1 == op.getInput(operand).getRank() ? Filler(0) : std::nullopt;
}

/// Of both matrices, as 0 times what is not a number would be none.
Filler glowish::fillDepthWithZero(const OpView &op, unsigned operand,
                                  unsigned dim) {
  unsigned fromEnd = op.getInput(operand).getRank() - dim;
  return fromEnd == operand + 1 ? Filler(0) : std::nullopt;
}

static bool isHeightOrWidth(unsigned dim) { return dim == 1 || dim == 2; }

/// Windows at the end reach beyond the extent, where the padding begins.
Filler glowish::fillWindowsWithZero(const OpView &, unsigned operand,
                                    unsigned dim) {
  return operand == 0 && isHeightOrWidth(dim) ? Filler(0) : std::nullopt;
}

Filler glowish::fillWindowsWithLowest(const OpView &, unsigned, unsigned dim) {
  return isHeightOrWidth(dim) ? Filler(lowest) : std::nullopt;
}

Filler glowish::fillSoftmax(const OpView &view, unsigned, unsigned dim) {
  // The views of both have the same attributes.
  return dim == SoftmaxView(view).getAxis() ? Filler(lowest) : std::nullopt;
}

Filler glowish::fillReduceInteger(const OpView &view, unsigned, unsigned dim) {
  bool isReduced =
      llvm::is_contained(ReduceIntegerView(view).getAxes(), int64_t(dim));
  return isReduced ? Filler(0) : std::nullopt;
}

Filler glowish::fillCumSum(const OpView &view, unsigned, unsigned dim) {
  CumSumView op(view);
  return op.getReverse() && dim == op.getAxis() ? Filler(0) : std::nullopt;
}

Filler glowish::fillTopK(const OpView &view, unsigned, unsigned dim) {
  TopKView op(view);
  if (dim + 1 != op.getInput().getRank())
    return std::nullopt;
  if (op.getLargest())
    return lowest;
  // NaN is the greatest.
  return isFloatKind(op.getInput().getKind())
             ? std::numeric_limits<double>::quiet_NaN()
             : highest;
}
