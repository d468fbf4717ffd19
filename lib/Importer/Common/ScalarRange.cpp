//===- ScalarRange.cpp - Range arithmetic over scalar formulas ------------===//

#include "Common/ScalarRange.h"
#include "glowish/Ops/Scalar.h"

using namespace glowish;

ScalarRange glowish::getScalarRange(const Extent &extent,
                                    const SymbolRanges &symbols) {
  std::optional<IntRange> range = symbols.getRange(extent);
  if (!range)
    return {-HUGE_VAL, HUGE_VAL, extent};
  return {double(range->low), double(range->high), extent};
}

//===- Scalars ------------------------------------------------------------===//

// Found by argument-dependent lookup from the formulas, so that functions and
// types are in one namespace.
namespace {

/// A condition: which of its values are possible.
struct RangeBool {
  bool mayBeTrue = true, mayBeFalse = true;
};

/// A scalar with a range. Relations are not represented but by extents: x - x
/// is not known to be 0 if x is none.
struct RangeScalar {
  using Bool = RangeBool;
  ScalarRange range = {};
  bool isInteger = false;
  const SymbolRanges *symbols = nullptr;

  RangeScalar with(double low, double high) const {
    bool isUnknown = std::isnan(low) || std::isnan(high);
    return {isUnknown ? ScalarRange() : ScalarRange{low, high, {}}, isInteger,
            symbols};
  }
  RangeScalar with(const Extent &extent) const {
    return {getScalarRange(extent, *symbols), isInteger, symbols};
  }
  RangeScalar like(double literal) const {
    bool isExact =
        isInteger && std::trunc(literal) == literal && std::abs(literal) < 9e15;
    return isExact ? with(Extent(int64_t(literal))) : with(literal, literal);
  }
  RangeScalar unknown() const { return with(-HUGE_VAL, HUGE_VAL); }
};

using S = RangeScalar;

/// Returns what \p combine makes of the extents of \p x and \p y, or \p bounds
/// if that is none.
template <typename Combine>
S combineExtents(const S &x, const S &y, const S &bounds,
                 const Combine &combine) {
  std::optional<Extent> extent;
  if (x.isInteger && x.range.extent && y.range.extent)
    extent = combine(*x.range.extent, *y.range.extent);
  return extent ? x.with(*extent) : bounds;
}

S operator+(const S &x, const S &y) {
  return combineExtents(
      x, y, x.with(x.range.low + y.range.low, x.range.high + y.range.high),
      [](const Extent &a, const Extent &b) { return add(a, b); });
}
S operator-(const S &x, const S &y) {
  return combineExtents(
      x, y, x.with(x.range.low - y.range.high, x.range.high - y.range.low),
      [](const Extent &a, const Extent &b) { return subtract(a, b); });
}
S operator-(const S &x) { return x.like(0) - x; }

S operator*(const S &x, const S &y) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (double a : {x.range.low, x.range.high})
    for (double b : {y.range.low, y.range.high}) {
      double bound = a * b;
      if (std::isnan(bound)) // 0 * infinity
        bound = 0;
      low = std::min(low, bound);
      high = std::max(high, bound);
    }
  return combineExtents(
      x, y, x.with(low, high),
      [](const Extent &a, const Extent &b) { return multiply(a, b); });
}

/// By positive numbers only.
S operator/(const S &x, const S &y) {
  if (!(y.range.low > 0))
    return x.unknown();
  S bounds = x.with(x.range.low, x.range.high) *
             y.with(1 / y.range.high, 1 / y.range.low);
  if (!x.isInteger)
    return bounds;
  // Integers are divided towards 0, and the reciprocals are rounded.
  bounds = x.with(std::trunc(bounds.range.low - 1e-6),
                  std::trunc(bounds.range.high + 1e-6));
  // Quotients of extents are rounded down.
  return combineExtents(
      x, y, bounds,
      [&](const Extent &a, const Extent &b) -> std::optional<Extent> {
        std::optional<int64_t> divisor = b.getConstant();
        return divisor && x.range.low >= 0 ? divideDown(a, *divisor)
                                           : std::nullopt;
      });
}

/// Returns x - y where both are extents.
std::optional<Extent> getDifference(const S &x, const S &y) {
  if (!x.range.extent || !y.range.extent)
    return std::nullopt;
  return subtract(*x.range.extent, *y.range.extent);
}

RangeBool operator<(const S &x, const S &y) {
  RangeBool result = {x.range.low < y.range.high, x.range.high >= y.range.low};
  if (std::optional<Extent> difference = getDifference(x, y)) {
    result.mayBeFalse &= x.symbols->isAtMost(*difference, -1) != Certainty::Yes;
    result.mayBeTrue &= x.symbols->isAtMost(0, *difference) != Certainty::Yes;
  }
  return result;
}
RangeBool operator!(RangeBool x) { return {x.mayBeFalse, x.mayBeTrue}; }
RangeBool operator>(const S &x, const S &y) { return y < x; }
RangeBool operator<=(const S &x, const S &y) { return !(y < x); }
RangeBool operator>=(const S &x, const S &y) { return !(x < y); }
RangeBool operator==(const S &x, const S &y) {
  bool isOne = x.range.low == x.range.high && y.range.low == y.range.high;
  bool mayBe = x.range.low <= y.range.high && y.range.low <= x.range.high;
  RangeBool result = {mayBe, !isOne || !mayBe};
  if (std::optional<Extent> difference = getDifference(x, y)) {
    result.mayBeFalse &= x.symbols->areEqual(*difference, 0) != Certainty::Yes;
    result.mayBeTrue &= x.symbols->mayBe(*difference, 0) != Certainty::No;
  }
  return result;
}
RangeBool operator&&(RangeBool x, RangeBool y) {
  return {x.mayBeTrue && y.mayBeTrue, x.mayBeFalse || y.mayBeFalse};
}
RangeBool operator||(RangeBool x, RangeBool y) { return !(!x && !y); }
S select(RangeBool c, const S &x, const S &y) {
  if (!c.mayBeFalse)
    return x;
  if (!c.mayBeTrue)
    return y;
  return x.with(std::min(x.range.low, y.range.low),
                std::max(x.range.high, y.range.high));
}
/// Returns \p x or \p y where \p isX is the same in all runs.
const S *findOne(RangeBool isX, const S &x, const S &y) {
  return !isX.mayBeFalse ? &x : !isX.mayBeTrue ? &y : nullptr;
}
S max(const S &x, const S &y) {
  if (const S *one = findOne(y < x, x, y))
    return *one;
  return x.with(std::max(x.range.low, y.range.low),
                std::max(x.range.high, y.range.high));
}
S min(const S &x, const S &y) {
  if (const S *one = findOne(x < y, x, y))
    return *one;
  return x.with(std::min(x.range.low, y.range.low),
                std::min(x.range.high, y.range.high));
}

#define MONOTONIC(FN)                                                          \
  S FN(const S &x) {                                                           \
    return x.with(std::FN(x.range.low), std::FN(x.range.high));                \
  }
MONOTONIC(exp)
MONOTONIC(expm1)
MONOTONIC(log)
MONOTONIC(log1p)
MONOTONIC(sqrt)
MONOTONIC(floor)
MONOTONIC(ceil)
MONOTONIC(rint)
MONOTONIC(erf)
MONOTONIC(asin)
MONOTONIC(atan)
MONOTONIC(sinh)
MONOTONIC(tanh)
MONOTONIC(asinh)
MONOTONIC(acosh)
MONOTONIC(atanh)
#undef MONOTONIC
S erfc(const S &x) {
  return x.with(std::erfc(x.range.high), std::erfc(x.range.low));
}
S acos(const S &x) {
  return x.with(std::acos(x.range.high), std::acos(x.range.low));
}
S sin(const S &x) { return x.with(-1, 1); }
S cos(const S &x) { return x.with(-1, 1); }
S tan(const S &x) { return x.unknown(); }
S cosh(const S &x) { return x.with(1, HUGE_VAL); }
S pow(const S &x, const S &) { return x.unknown(); }
S operator&(const S &x, const S &) { return x.unknown(); }
S operator|(const S &x, const S &) { return x.unknown(); }
S operator^(const S &x, const S &) { return x.unknown(); }
S shiftLeft(const S &x, const S &) { return x.unknown(); }
S shiftRight(const S &x, const S &) { return x.unknown(); }
S arithmeticShiftRight(const S &x, const S &) { return x.unknown(); }
S roundedMultiplyHigh(const S &x, const S &) { return x.unknown(); }
S lookup(const S &x, llvm::ArrayRef<double> table) {
  return x.with(*llvm::min_element(table), *llvm::max_element(table));
}

#define WITH_LITERAL(TYPE, FN)                                                 \
  [[maybe_unused]] TYPE FN(const S &x, double y) { return FN(x, x.like(y)); }  \
  [[maybe_unused]] TYPE FN(double x, const S &y) { return FN(y.like(x), y); }
WITH_LITERAL(S, operator+)
WITH_LITERAL(S, operator-)
WITH_LITERAL(S, operator*)
WITH_LITERAL(S, operator/)
WITH_LITERAL(S, max)
WITH_LITERAL(S, min)
WITH_LITERAL(RangeBool, operator<)
WITH_LITERAL(RangeBool, operator>)
WITH_LITERAL(RangeBool, operator<=)
WITH_LITERAL(RangeBool, operator>=)
WITH_LITERAL(RangeBool, operator==)
#undef WITH_LITERAL

} // namespace

//===- Formulas -----------------------------------------------------------===//

static RangeBool getCondition(const ScalarRange &range) {
  return {range.high > 0, range.low <= 0};
}

static ScalarRange getRange(const S &scalar) { return scalar.range; }
static ScalarRange getRange(RangeBool condition) {
  return {
      condition.mayBeFalse ? 0.0 : 1.0, condition.mayBeTrue ? 1.0 : 0.0, {}};
}

template <typename Formula, size_t... Args>
static ScalarRange
evaluate(llvm::ArrayRef<ScalarRange> operands, llvm::ArrayRef<ElemKind> kinds,
         llvm::ArrayRef<double> params, const SymbolRanges &symbols,
         std::index_sequence<Args...>) {
  constexpr bool isLogic = Formula::kinds == ScalarOpInfo::Kinds::Bool;
  auto get = [&](auto position) {
    constexpr size_t arg = decltype(position)::value;
    if constexpr (isLogic || (Formula::firstIsBool && arg == 0))
      return getCondition(operands[arg]);
    else
      return S{operands[arg], isIntegerKind(kinds[arg]), &symbols};
  };
  using Scalar = std::conditional_t<isLogic, RangeBool, S>;
  return getRange(Formula::template eval<Scalar>(
      get(std::integral_constant<size_t, Args>())..., params));
}

ScalarRange glowish::evaluateRange(ScalarOp op,
                                   llvm::ArrayRef<ScalarRange> operands,
                                   llvm::ArrayRef<ElemKind> kinds,
                                   llvm::ArrayRef<double> params,
                                   ElemKind result,
                                   const SymbolRanges &symbols) {
  ScalarRange range = dispatchScalarOp(op, [&](auto formula) {
    using Formula = decltype(formula);
    return evaluate<Formula>(operands, kinds, params, symbols,
                             std::make_index_sequence<Formula::numArgs>());
  });
  if (!isIntegerKind(result)) {
    range.extent.reset();
    if (isFloatKind(result))
      return range;
  }
  // A conversion to integers rounds.
  range.low = std::floor(range.low);
  range.high = std::ceil(range.high);
  return range;
}
