//===- ElementWise.cpp - Composed functions of elements -------------------===//

#include "Common/ElementWise.h"
#include "Common/OpenBody.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

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

/// Returns whether floats are negative, or the zero that is.
static NodeValue isNegative(NodeBuilder &b, NodeValue x) {
  NodeValue isNegativeZero =
      b.logicalAnd(b.equal(x, 0), b.less(b.div(1, x), 0));
  return b.logicalOr(b.less(x, 0), isNegativeZero);
}

NodeValue glowish::getAngle(NodeBuilder &b, NodeValue y, NodeValue x) {
  // The magnitude of -0 has to be 0, whose reciprocal is infinity.
  NodeValue isBelow = isNegative(b, y), isLeft = isNegative(b, x);
  NodeValue height = b.select(isBelow, b.unary<NegNode>(y), y),
            width = b.select(isLeft, b.unary<NegNode>(x), x);
  // Two zeros have no ratio, nor do two infinities.
  NodeValue ofEqual =
      b.select(b.equal(height, 0), b.number(y, 0), b.number(y, 1));
  NodeValue angle = b.unary<AtanNode>(
      b.select(b.equal(height, width), ofEqual, b.div(height, width)));
  angle = b.select(isLeft, b.sub(std::numbers::pi, angle), angle);
  return b.select(isBelow, b.unary<NegNode>(angle), angle);
}

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

/// Returns the leading 53 - \p numBits bits of \p x, a double below 2^(1023 -
/// numBits), rounded to the nearest (Veltkamp's splitting).
static NodeValue roundToBits(NodeBuilder &b, NodeValue x, unsigned numBits) {
  NodeValue shifted = b.mul(x, std::ldexp(1.0, int(numBits)) + 1);
  return b.sub(shifted, b.sub(shifted, x));
}

/// Returns the leading 24 bits of \p quotient, a double, as a whole number,
/// whose gradient is 0.
static NodeValue takeLeadingBits(NodeBuilder &b, NodeValue quotient) {
  return b.unary<FloorNode>(roundToBits(b, quotient, 29));
}

/// Returns whether \p x is more than 2^60 \p y, both not negative; false where
/// x divided by y leaves NaN.
static NodeValue isFar(NodeBuilder &b, NodeValue x, NodeValue y) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  NodeValue isNumber = b.logicalAnd(b.less(x, inf), b.greater(y, 0));
  return b.logicalAnd(isNumber, b.greater(x, b.mul(y, 0x1p60)));
}

/// Returns \p x less a multiple of \p y, without rounding: at most 2^-23 of its
/// magnitude, where isFar(|x|, y) holds; \p x elsewhere.
static NodeValue takeLargeMultiple(NodeBuilder &b, NodeValue x, NodeValue y) {
  NodeValue magnitude = b.unary<AbsNode>(x);
  // Quotients of doubles have up to 2098 bits, doubles 1024. This keeps them
  // between 2^30 and 2^530.
  NodeValue divisor = y;
  for (unsigned i = 0; i < 4; ++i)
    divisor = b.select(b.greater(magnitude, b.mul(divisor, 0x1p530)),
                       b.mul(divisor, 0x1p500), divisor);
  NodeValue quotient = b.div(x, divisor);
  NodeValue bits = takeLeadingBits(b, quotient);
  // Products of bits that were rounded up may overflow.
  NodeValue isLarge = b.greater(magnitude, 0x1p1000);
  NodeValue scale = b.select(isLarge, b.number(x, 0x1p-10), b.number(x, 1));
  NodeValue scaled = b.mul(divisor, scale);
  NodeValue high = roundToBits(b, scaled, 29);
  NodeValue rest = b.sub(b.mul(x, scale), b.mul(bits, high));
  rest = b.div(b.sub(rest, b.mul(bits, b.sub(scaled, high))), scale);
  return b.select(isFar(b, magnitude, y), rest, x);
}

/// Returns whether isFar(|x|, y) holds for some elements, a scalar.
static NodeValue isAnyFar(NodeBuilder &b, NodeValue x, NodeValue y) {
  NodeValue far = b.cast(isFar(b, b.unary<AbsNode>(x), y), ElemKind::Int32);
  if (!far)
    return far;
  std::vector<int64_t> axes(far.getShape().size());
  std::iota(axes.begin(), axes.end(), 0);
  return b.greater(b.reduce(far, "max", axes, /*keepDims=*/false), 0);
}

/// Returns a number of at most 2^60 \p y that leaves what \p x leaves, of
/// doubles that are not negative. Few programs have larger quotients, so that
/// it is a loop, of most often no iteration.
static NodeValue reduceLargeQuotients(NodeBuilder &b, NodeValue x,
                                      NodeValue y) {
  NodeValue sum = b.add(x, y);
  if (!sum || sum.getType().getNumElements() == 0)
    return x;
  x = b.broadcast(x, sum.getShape());
  NodeValue begins = isAnyFar(b, x, y);
  if (!begins)
    return begins;
  OpenBody loop(b.getFunction().getModule(), "body");
  loop.addParameter("iteration", Type(ElemKind::Int64, {}));
  loop.addParameter("condition", Type(ElemKind::Bool, {}));
  NodeValue rest = loop.addParameter("rest", x.getType());
  NodeValue divisor = loop.enter(y);
  NodeBuilder inside(loop.getFunction(), b.getName());
  rest = takeLargeMultiple(inside, rest, divisor);
  NodeValue continues = isAnyFar(inside, rest, divisor);
  if (!continues)
    return continues;
  loop.getFunction().addResult("next", continues);
  loop.getFunction().addResult("next", rest);
  std::vector<NodeValue> values{x};
  llvm::append_range(values, loop.getCaptures());
  // Each takes 24 of at most 2098 bits.
  constexpr int64_t maxTripCount = 100;
  return b.make<LoopNode>(b.scalar(ElemKind::Int64, double(maxTripCount)),
                          begins, loop.getAttr(), /*numStates=*/1, maxTripCount,
                          values);
}

/// Returns x - n * y, where n is the whole number towards 0 from x / y, without
/// rounding, as fmod() of C has it. Each step takes 24 bits off the quotient:
/// they times 24 bits are a double, and so is what they leave. Doubles have
/// more bits, of which the others are taken off apart.
static NodeValue getFloatRest(NodeBuilder &b, NodeValue x, NodeValue y) {
  ElemKind kind = x.getElemKind();
  bool isDouble = kind == ElemKind::Double;
  unsigned numSteps = isDouble ? 3 : kind == ElemKind::Float16 ? 2 : 12;
  NodeValue divisor = b.cast(b.unary<AbsNode>(y), ElemKind::Double);
  NodeValue rest = b.cast(b.unary<AbsNode>(x), ElemKind::Double);
  NodeValue high, scale;
  if (isDouble) {
    rest = reduceLargeQuotients(b, rest, divisor);
    scale = b.select(b.greater(divisor, 0x1p900), b.number(divisor, 0x1p-100),
                     b.number(divisor, 1));
    rest = b.mul(rest, scale);
    divisor = b.mul(divisor, scale);
    high = roundToBits(b, divisor, 29);
  }
  for (unsigned i = 0; i < numSteps; ++i) {
    NodeValue bits = takeLeadingBits(b, b.div(rest, divisor));
    rest = b.sub(rest, b.mul(bits, isDouble ? high : divisor));
    if (isDouble)
      rest = b.sub(rest, b.mul(bits, b.sub(divisor, high)));
  }
  // Bits that were rounded up leave less than nothing.
  rest = b.select(b.less(rest, 0), b.add(rest, divisor), rest);
  rest = b.select(b.greaterOrEqual(rest, divisor), b.sub(rest, divisor), rest);
  if (isDouble)
    rest = b.div(rest, scale);
  rest = b.cast(rest, kind);
  rest = b.select(b.less(x, 0), b.unary<NegNode>(rest), rest);
  return b.select(b.less(b.unary<AbsNode>(x), b.unary<AbsNode>(y)), x, rest);
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
