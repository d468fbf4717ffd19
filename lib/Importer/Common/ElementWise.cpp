//===- ElementWise.cpp - Composed functions of elements -------------------===//

#include "Common/ElementWise.h"
#include <limits>

using namespace glowish;

//===- Activations --------------------------------------------------------===//

NodeValue glowish::makeSoftplus(NodeBuilder &b, NodeValue x) {
  NodeValue power = b.unary<ExpNode>(b.unary<NegNode>(b.unary<AbsNode>(x)));
  NodeValue tail = b.unary<LogNode>(b.add(power, 1));
  return b.add(b.unary<ReluNode>(x), tail);
}

NodeValue glowish::makeMish(NodeBuilder &b, NodeValue x) {
  return b.mul(x, b.unary<TanhNode>(makeSoftplus(b, x)));
}

NodeValue glowish::makeCelu(NodeBuilder &b, NodeValue x, double alpha) {
  NodeValue scaled = b.div(x, alpha);
  NodeValue below = scaled ? b.make<EluNode>(scaled, alpha) : scaled;
  return b.select(b.less(x, 0), below, x);
}

NodeValue glowish::makeShrink(NodeBuilder &b, NodeValue x, double bound,
                              double bias, NodeValue inner) {
  NodeValue raised = bias == 0 ? x : b.add(x, bias);
  NodeValue lowered = bias == 0 ? x : b.sub(x, bias);
  NodeValue outer = b.select(b.greater(x, bound), lowered, inner);
  return b.select(b.less(x, -bound), raised, outer);
}

//===- Logarithms ---------------------------------------------------------===//

/// What 1 + x loses by rounding is made up for by the ratio of x and what is
/// left of it (Higham, Accuracy and Stability of Numerical Algorithms, 1.14.1).
NodeValue glowish::makeLog1p(NodeBuilder &b, NodeValue x) {
  NodeValue sum = b.add(x, 1), left = b.sub(sum, 1);
  NodeValue log = b.mul(b.unary<LogNode>(sum), b.div(x, left));
  // There is no such ratio if nothing is left, or if 1 + x is infinite.
  constexpr double inf = std::numeric_limits<double>::infinity();
  NodeValue isPlain = b.logicalOr(b.equal(left, 0), b.equal(left, inf));
  return b.select(isPlain, x, log);
}

NodeValue glowish::makeLogit(NodeBuilder &b, NodeValue x) {
  return b.unary<LogNode>(b.div(x, b.sub(1, x)));
}

//===- Division -----------------------------------------------------------===//

NodeValue glowish::truncate(NodeBuilder &b, NodeValue x) {
  return b.select(b.less(x, 0), b.unary<CeilNode>(x), b.unary<FloorNode>(x));
}

NodeValue glowish::divideTowardsZero(NodeBuilder &b, NodeValue x, NodeValue y) {
  NodeValue quotient = b.div(x, y);
  return quotient && isFloatKind(quotient.getElemKind()) ? truncate(b, quotient)
                                                         : quotient;
}

NodeValue glowish::divideDown(NodeBuilder &b, NodeValue x, NodeValue y) {
  NodeValue quotient = b.div(x, y);
  if (!quotient)
    return quotient;
  ElemKind kind = quotient.getElemKind();
  if (isFloatKind(kind))
    return b.unary<FloorNode>(quotient);
  if (!isSignedIntegerKind(kind))
    return quotient;
  // Truncated quotients are too large where they are negative and not whole.
  NodeValue isWhole = b.equal(b.mul(quotient, y), x);
  NodeValue isPositive = b.equal(b.less(x, 0), b.less(y, 0));
  return b.select(b.logicalOr(isWhole, isPositive), quotient,
                  b.sub(quotient, 1));
}

NodeValue glowish::getTruncatedRest(NodeBuilder &b, NodeValue x, NodeValue y) {
  return b.sub(x, b.mul(divideTowardsZero(b, x, y), y));
}

NodeValue glowish::getFlooredRest(NodeBuilder &b, NodeValue x, NodeValue y) {
  if (x && isFloatKind(x.getElemKind()))
    return b.sub(x, b.mul(divideDown(b, x, y), y));
  NodeValue rest = getTruncatedRest(b, x, y);
  if (!rest || !isSignedIntegerKind(rest.getElemKind()))
    return rest;
  NodeValue hasSign = b.equal(b.less(rest, 0), b.less(y, 0));
  NodeValue isFinal = b.logicalOr(hasSign, b.equal(rest, 0));
  return b.select(isFinal, rest, b.add(rest, y));
}

//===- Order --------------------------------------------------------------===//

NodeValue glowish::turnOrder(NodeBuilder &b, NodeValue x) {
  if (!x)
    return x;
  return isFloatKind(x.getElemKind()) ? b.unary<NegNode>(x) : b.complement(x);
}
