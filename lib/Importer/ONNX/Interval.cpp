//===- Interval.cpp - Interval arithmetic over scalar formulas ------------===//

#include "ONNX/Interval.h"
#include "glowish/Ops/Scalar.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Scalars ------------------------------------------------------------===//

// Found by argument-dependent lookup from the formulas, so that functions and
// types are in one namespace.
namespace {

/// A condition: which of its values are possible.
struct IntervalBool {
  bool mayBeTrue = true, mayBeFalse = true;
};

/// A scalar with bounds. Numbers in between are not represented: x - x is not
/// known to be 0.
struct IntervalScalar {
  using Bool = IntervalBool;
  Interval bounds = {};
  bool isInteger = false;

  IntervalScalar like(double literal) const {
    return {{literal, literal}, isInteger};
  }
  IntervalScalar with(double low, double high) const {
    bool isUnknown = std::isnan(low) || std::isnan(high);
    return {isUnknown ? Interval() : Interval{low, high}, isInteger};
  }
  IntervalScalar unknown() const { return {{}, isInteger}; }
};

using S = IntervalScalar;

S operator+(S x, S y) {
  return x.with(x.bounds.low + y.bounds.low, x.bounds.high + y.bounds.high);
}
S operator-(S x, S y) {
  return x.with(x.bounds.low - y.bounds.high, x.bounds.high - y.bounds.low);
}
S operator-(S x) { return x.with(-x.bounds.high, -x.bounds.low); }

S operator*(S x, S y) {
  Interval result = {HUGE_VAL, -HUGE_VAL};
  for (double a : {x.bounds.low, x.bounds.high})
    for (double b : {y.bounds.low, y.bounds.high}) {
      double bound = a * b;
      if (std::isnan(bound)) // 0 * infinity
        bound = 0;
      result.low = std::min(result.low, bound);
      result.high = std::max(result.high, bound);
    }
  return {result, x.isInteger};
}

/// By positive numbers only.
S operator/(S x, S y) {
  if (!(y.bounds.low > 0))
    return x.unknown();
  S result = x * y.with(1 / y.bounds.high, 1 / y.bounds.low);
  // Integers are divided towards 0, and the reciprocals are rounded.
  if (x.isInteger)
    return x.with(std::trunc(result.bounds.low - 1e-6),
                  std::trunc(result.bounds.high + 1e-6));
  return result;
}

IntervalBool operator<(S x, S y) {
  return {x.bounds.low < y.bounds.high, x.bounds.high >= y.bounds.low};
}
IntervalBool operator!(IntervalBool x) { return {x.mayBeFalse, x.mayBeTrue}; }
IntervalBool operator>(S x, S y) { return y < x; }
IntervalBool operator<=(S x, S y) { return !(y < x); }
IntervalBool operator>=(S x, S y) { return !(x < y); }
IntervalBool operator==(S x, S y) {
  bool isOne = x.bounds.low == x.bounds.high && y.bounds.low == y.bounds.high;
  bool mayBe = x.bounds.low <= y.bounds.high && y.bounds.low <= x.bounds.high;
  return {mayBe, !isOne || !mayBe};
}
IntervalBool operator&&(IntervalBool x, IntervalBool y) {
  return {x.mayBeTrue && y.mayBeTrue, x.mayBeFalse || y.mayBeFalse};
}
IntervalBool operator||(IntervalBool x, IntervalBool y) { return !(!x && !y); }
S select(IntervalBool c, S x, S y) {
  if (!c.mayBeFalse)
    return x;
  if (!c.mayBeTrue)
    return y;
  return x.with(std::min(x.bounds.low, y.bounds.low),
                std::max(x.bounds.high, y.bounds.high));
}
S max(S x, S y) {
  return x.with(std::max(x.bounds.low, y.bounds.low),
                std::max(x.bounds.high, y.bounds.high));
}
S min(S x, S y) {
  return x.with(std::min(x.bounds.low, y.bounds.low),
                std::min(x.bounds.high, y.bounds.high));
}

#define MONOTONIC(FN)                                                          \
  S FN(S x) { return x.with(std::FN(x.bounds.low), std::FN(x.bounds.high)); }
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
S erfc(S x) {
  return x.with(std::erfc(x.bounds.high), std::erfc(x.bounds.low));
}
S acos(S x) {
  return x.with(std::acos(x.bounds.high), std::acos(x.bounds.low));
}
S sin(S x) { return x.with(-1, 1); }
S cos(S x) { return x.with(-1, 1); }
S tan(S x) { return x.unknown(); }
S cosh(S x) { return x.with(1, HUGE_VAL); }
S pow(S x, S) { return x.unknown(); }
S operator&(S x, S) { return x.unknown(); }
S operator|(S x, S) { return x.unknown(); }
S operator^(S x, S) { return x.unknown(); }
S shiftLeft(S x, S) { return x.unknown(); }
S shiftRight(S x, S) { return x.unknown(); }
S arithmeticShiftRight(S x, S) { return x.unknown(); }
S roundedMultiplyHigh(S x, S) { return x.unknown(); }
S lookup(S x, llvm::ArrayRef<double> table) {
  return x.with(*llvm::min_element(table), *llvm::max_element(table));
}

#define WITH_LITERAL(TYPE, FN)                                                 \
  [[maybe_unused]] TYPE FN(S x, double y) { return FN(x, x.like(y)); }         \
  [[maybe_unused]] TYPE FN(double x, S y) { return FN(y.like(x), y); }
WITH_LITERAL(S, operator+)
WITH_LITERAL(S, operator-)
WITH_LITERAL(S, operator*)
WITH_LITERAL(S, operator/)
WITH_LITERAL(S, max)
WITH_LITERAL(S, min)
WITH_LITERAL(IntervalBool, operator<)
WITH_LITERAL(IntervalBool, operator>)
WITH_LITERAL(IntervalBool, operator<=)
WITH_LITERAL(IntervalBool, operator>=)
WITH_LITERAL(IntervalBool, operator==)
#undef WITH_LITERAL

} // namespace

//===- Formulas -----------------------------------------------------------===//

static IntervalBool getCondition(const Interval &bounds) {
  return {bounds.high > 0, bounds.low <= 0};
}

static Interval getBounds(S scalar) { return scalar.bounds; }
static Interval getBounds(IntervalBool condition) {
  return {condition.mayBeFalse ? 0.0 : 1.0, condition.mayBeTrue ? 1.0 : 0.0};
}

template <typename Formula, size_t... Args>
static Interval
evaluate(llvm::ArrayRef<Interval> operands, llvm::ArrayRef<ElemKind> kinds,
         llvm::ArrayRef<double> params, std::index_sequence<Args...>) {
  constexpr bool isLogic = Formula::kinds == ScalarOpInfo::Kinds::Bool;
  auto get = [&](auto position) {
    constexpr size_t arg = decltype(position)::value;
    if constexpr (isLogic || (Formula::firstIsBool && arg == 0))
      return getCondition(operands[arg]);
    else
      return S{operands[arg], !isFloatKind(kinds[arg])};
  };
  using Scalar = std::conditional_t<isLogic, IntervalBool, S>;
  return getBounds(Formula::template eval<Scalar>(
      get(std::integral_constant<size_t, Args>())..., params));
}

Interval onnximport::evaluateInterval(ScalarOp op,
                                      llvm::ArrayRef<Interval> operands,
                                      llvm::ArrayRef<ElemKind> kinds,
                                      llvm::ArrayRef<double> params,
                                      ElemKind result) {
  Interval bounds = dispatchScalarOp(op, [&](auto formula) {
    using Formula = decltype(formula);
    return evaluate<Formula>(operands, kinds, params,
                             std::make_index_sequence<Formula::numArgs>());
  });
  // A conversion to integers rounds.
  if (!isFloatKind(result))
    return {std::floor(bounds.low), std::ceil(bounds.high)};
  return bounds;
}
