//===- ElementWise.cpp - Composed functions of elements -------------------===//

#include "Common/ElementWise.h"
#include <cmath>

using namespace glowish;

//===- Activations --------------------------------------------------------===//

NodeValue glowish::makeCelu(NodeBuilder &b, NodeValue x, double alpha) {
  NodeValue scaled = b.div(x, alpha);
  if (!scaled)
    return scaled;
  // Elu has exponentials below 0 only, where negative alpha has none:
  // exp(s) - 1 = -exp(s) * (exp(-s) - 1).
  NodeValue below =
      alpha > 0 ? b.make<EluNode>(scaled, alpha)
                : b.mul(b.unary<ExpNode>(scaled),
                        b.make<EluNode>(b.unary<NegNode>(scaled), -alpha));
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

/// ln(x / (1 - x)); near 1/2, where that is near 0, ln(1 + (2 x - 1) / (1 -
/// x)), whose differences are exact.
NodeValue glowish::makeLogit(NodeBuilder &b, NodeValue x) {
  NodeValue rest = b.sub(1, x);
  NodeValue excess = b.div(b.sub(b.mul(x, 2), 1), rest);
  NodeValue isNear = b.less(b.unary<AbsNode>(b.sub(x, 0.5)), 0.25);
  return b.select(isNear, b.unary<Log1pNode>(excess),
                  b.unary<LogNode>(b.div(x, rest)));
}

//===- Powers -------------------------------------------------------------===//

/// Whether \p value is a constant of numbers that \p kind has.
static bool isConstantOf(NodeValue value, ElemKind kind) {
  auto *constant = value.getNodeAs<Constant>();
  if (!constant)
    return false;
  const Tensor &tensor = constant->getTensor();
  Tensor element(Type(kind, Dims()));
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    double number = tensor.getAsDouble(i);
    element.setFromDouble(0, number);
    if (element.getAsDouble(0) != number || std::fabs(number) > 0x1p53)
      return false;
  }
  return true;
}

/// \p x to the power \p y, both integers, in 64 bits: the lower bits do not
/// depend on the upper ones.
static NodeValue raiseIntegers(NodeBuilder &b, NodeValue x, NodeValue y) {
  ElemKind kind = x.getElemKind(), own = y.getElemKind();
  if (own == ElemKind::UInt64)
    return b.cast(b.pow(b.cast(x, own), y), kind);
  if (kind != ElemKind::UInt64)
    return b.cast(b.pow(b.cast(x, ElemKind::Int64), b.cast(y, ElemKind::Int64)),
                  kind);
  NodeValue power = b.pow(x, b.cast(b.max(y, 0), kind));
  NodeValue inverse = b.select(b.equal(x, 1), b.number(x, 1), b.number(x, 0));
  return b.select(b.less(y, 0), inverse, power);
}

NodeValue glowish::makePower(NodeBuilder &b, NodeValue x, NodeValue y) {
  if (!x || !y)
    return {};
  ElemKind kind = x.getElemKind(), own = y.getElemKind();
  if (kind == own || (isFloatKind(kind) && isConstantOf(y, kind)))
    return b.pow(x, b.cast(y, kind));
  auto inDouble = [&] {
    return b.cast(
        b.pow(b.cast(x, ElemKind::Double), b.cast(y, ElemKind::Double)), kind);
  };
  if (isFloatKind(kind))
    return inDouble();
  if (!isFloatKind(own))
    return raiseIntegers(b, x, y);
  NodeValue integer = b.cast(y, ElemKind::Int64);
  NodeValue ofInteger = raiseIntegers(b, x, integer);
  if (isConstantOf(y, ElemKind::Int64))
    return ofInteger;
  NodeValue isIntegral = b.logicalAnd(b.equal(b.unary<FloorNode>(y), y),
                                      b.less(b.unary<AbsNode>(y), 0x1p63));
  return b.select(isIntegral, ofInteger, inDouble());
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

/// Returns the leading 24 bits of \p quotient, a double, as a whole number.
static NodeValue takeLeadingBits(NodeBuilder &b, NodeValue quotient) {
  // A float has 24 bits, but fewer exponents.
  constexpr double bound = 0x1p100, scale = 0x1p150;
  NodeValue isLarge = b.greater(quotient, bound);
  NodeValue scaled = b.select(isLarge, b.mul(quotient, 1 / scale), quotient);
  NodeValue bits = b.cast(b.cast(scaled, ElemKind::Float), ElemKind::Double);
  return b.select(isLarge, b.mul(bits, scale), b.unary<FloorNode>(bits));
}

/// Returns x - n * y, where n is the whole number towards 0 from x / y, without
/// rounding, as fmod() of C has it. Each step takes 24 bits off the quotient:
/// they times 24 bits are a double, and so is what they leave. Doubles have
/// more bits; of them it is exact where |x / y| is below 2^90 and |y| within
/// 2^-100 and 2^100, and rounded elsewhere.
static NodeValue getFloatRest(NodeBuilder &b, NodeValue x, NodeValue y) {
  ElemKind kind = x.getElemKind();
  bool isDouble = kind == ElemKind::Double;
  unsigned numSteps = isDouble ? 4 : kind == ElemKind::Float16 ? 2 : 12;
  NodeValue divisor = b.cast(b.unary<AbsNode>(y), ElemKind::Double);
  NodeValue rest = b.cast(b.unary<AbsNode>(x), ElemKind::Double);
  NodeValue high = b.cast(b.cast(divisor, ElemKind::Float), ElemKind::Double);
  for (unsigned i = 0; i < numSteps; ++i) {
    NodeValue bits = takeLeadingBits(b, b.div(rest, divisor));
    rest = b.sub(rest, b.mul(bits, high));
    if (isDouble)
      rest = b.sub(rest, b.mul(bits, b.sub(divisor, high)));
  }
  if (isDouble) {
    NodeValue quotient = b.div(b.unary<AbsNode>(x), divisor);
    NodeValue isExact = b.logicalAnd(
        b.less(quotient, 0x1p90),
        b.logicalAnd(b.less(divisor, 0x1p100), b.greater(divisor, 0x1p-100)));
    NodeValue rounded = b.sub(b.unary<AbsNode>(x),
                              b.mul(b.unary<FloorNode>(quotient), divisor));
    rest = b.select(isExact, rest, rounded);
  }
  // Bits that were rounded up leave less than nothing.
  rest = b.select(b.less(rest, 0), b.add(rest, divisor), rest);
  rest = b.select(b.greaterOrEqual(rest, divisor), b.sub(rest, divisor), rest);
  rest = b.cast(rest, kind);
  rest = b.select(b.less(x, 0), b.unary<NegNode>(rest), rest);
  constexpr double inf = std::numeric_limits<double>::infinity();
  NodeValue isAll = b.logicalAnd(b.equal(b.unary<AbsNode>(y), inf),
                                 b.less(b.unary<AbsNode>(x), inf));
  return b.select(isAll, x, rest);
}

NodeValue glowish::getTruncatedRest(NodeBuilder &b, NodeValue x, NodeValue y) {
  if (x && y && isFloatKind(x.getElemKind()))
    return getFloatRest(b, x, y);
  return b.sub(x, b.mul(divideTowardsZero(b, x, y), y));
}

NodeValue glowish::getFlooredRest(NodeBuilder &b, NodeValue x, NodeValue y) {
  NodeValue rest = getTruncatedRest(b, x, y);
  ElemKind kind = rest ? rest.getElemKind() : ElemKind::Float;
  if (!rest || !(isFloatKind(kind) || isSignedIntegerKind(kind)))
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
