//===- Scalar.h - Scalars that formulas compute with ------------*- C++ -*-===//
//
// The formulas of the element-wise records are templates over a scalar type S.
// The interpreter instantiates them on Num<T>, defined here; the CPU back end
// on a class that emits LLVM IR. Both offer, found by argument-dependent
// lookup:
//
//   x + y, x - y, x * y, x / y, -x    with a double literal on either side too
//   x < y, x <= y, x > y, x >= y, x == y   giving S::Bool
//   !b, a && b, a || b                     on S::Bool
//   select(b, x, y), min, max              NaN in either argument gives NaN
//   exp, expm1, log, log1p, sqrt, floor, ceil, rint, erf, erfc
//   sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh
//   pow                                    also of integers
//   x & y, x | y, x ^ y, shiftLeft, shiftRight      on integers
//   arithmeticShiftRight, roundedMultiplyHigh        on int32
//   lookup(x, table)                                on bytes
//   x.like(1.0)                            a literal of x's type
//
// A literal is converted to the scalar's type before the operation, so that a
// float formula is computed in float.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPS_SCALAR_H
#define GLOWISH_OPS_SCALAR_H

#include "glowish/Ops/ScalarProgram.h"
#include <cmath>
#include <limits>
#include <type_traits>

namespace glowish {

/// A scalar of arithmetic type \p T with the semantics of the operators:
/// integers wrap, x / 0 is 0 for integers.
template <typename T> struct Num {
  using Bool = Num<bool>;
  T value;

  Num() = default;
  explicit Num(T value) : value(value) {}
  Num like(double literal) const { return Num(convert(literal)); }

  /// A literal as a T; saturates, so that Clip's infinite bounds have a
  /// meaning for integers.
  static T convert(double literal) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (!(literal > double(std::numeric_limits<T>::lowest())))
        return literal == literal ? std::numeric_limits<T>::lowest() : T(0);
      if (literal >= double(std::numeric_limits<T>::max()))
        return std::numeric_limits<T>::max();
    }
    return T(literal);
  }
};

/// Integer arithmetic goes through uint64_t: wrapping is defined there.
template <typename T, typename Fn> Num<T> wrap(Num<T> x, Num<T> y, Fn fn) {
  if constexpr (std::is_integral_v<T>)
    return Num<T>(T(fn(uint64_t(x.value), uint64_t(y.value))));
  else
    return Num<T>(fn(x.value, y.value));
}

template <typename T> Num<T> operator+(Num<T> x, Num<T> y) {
  return wrap(x, y, [](auto a, auto b) { return a + b; });
}
template <typename T> Num<T> operator-(Num<T> x, Num<T> y) {
  return wrap(x, y, [](auto a, auto b) { return a - b; });
}
template <typename T> Num<T> operator*(Num<T> x, Num<T> y) {
  return wrap(x, y, [](auto a, auto b) { return a * b; });
}
template <typename T> Num<T> operator/(Num<T> x, Num<T> y) {
  if constexpr (std::is_integral_v<T>) {
    if (y.value == 0)
      return Num<T>(T(0));
    if constexpr (std::is_signed_v<T>)
      if (y.value == T(-1)) // lowest / -1 overflows
        return Num<T>(T(0)) - x;
  }
  return Num<T>(T(x.value / y.value));
}
template <typename T> Num<T> operator-(Num<T> x) {
  if constexpr (std::is_integral_v<T>)
    return Num<T>(T(0)) - x;
  else
    return Num<T>(-x.value);
}

#define GLOWISH_NUM_COMPARE(OP)                                                \
  template <typename T> Num<bool> operator OP(Num<T> x, Num<T> y) {            \
    return Num<bool>(x.value OP y.value);                                      \
  }                                                                            \
  template <typename T> Num<bool> operator OP(Num<T> x, double y) {            \
    return x OP x.like(y);                                                     \
  }
GLOWISH_NUM_COMPARE(<)
GLOWISH_NUM_COMPARE(<=)
GLOWISH_NUM_COMPARE(>)
GLOWISH_NUM_COMPARE(>=)
GLOWISH_NUM_COMPARE(==)
#undef GLOWISH_NUM_COMPARE

inline Num<bool> operator!(Num<bool> x) { return Num<bool>(!x.value); }
inline Num<bool> operator&&(Num<bool> x, Num<bool> y) {
  return Num<bool>(x.value && y.value);
}
inline Num<bool> operator||(Num<bool> x, Num<bool> y) {
  return Num<bool>(x.value || y.value);
}

#define GLOWISH_NUM_BITS(OP)                                                   \
  template <typename T> Num<T> operator OP(Num<T> x, Num<T> y) {               \
    return Num<T>(T(x.value OP y.value));                                      \
  }
GLOWISH_NUM_BITS(&)
GLOWISH_NUM_BITS(|)
GLOWISH_NUM_BITS(^)
#undef GLOWISH_NUM_BITS
/// Moves in zeros; a negative or a large \p y leaves nothing else.
template <typename T> Num<T> shiftLeft(Num<T> x, Num<T> y) {
  using Bits = std::make_unsigned_t<T>;
  if (Bits(y.value) >= sizeof(T) * 8)
    return Num<T>(T(0));
  return Num<T>(T(Bits(uint64_t(Bits(x.value)) << Bits(y.value))));
}
template <typename T> Num<T> shiftRight(Num<T> x, Num<T> y) {
  using Bits = std::make_unsigned_t<T>;
  if (Bits(y.value) >= sizeof(T) * 8)
    return Num<T>(T(0));
  return Num<T>(T(Bits(x.value) >> Bits(y.value)));
}

/// Moves in the sign. \p y is 0 ... 31.
inline Num<int32_t> arithmeticShiftRight(Num<int32_t> x, Num<int32_t> y) {
  return Num<int32_t>(x.value >> (y.value & 31));
}
/// \p x times \p y / 2^31, rounded to the nearest, halves up.
inline Num<int32_t> roundedMultiplyHigh(Num<int32_t> x, Num<int32_t> y) {
  int64_t full = int64_t(x.value) * y.value;
  return Num<int32_t>(int32_t((full + (int64_t(1) << 30)) >> 31));
}

/// The number of \p table at the bits of \p x.
template <typename T> Num<T> lookup(Num<T> x, llvm::ArrayRef<double> table) {
  return x.like(table[std::make_unsigned_t<T>(x.value)]);
}

template <typename T> Num<T> select(Num<bool> c, Num<T> x, Num<T> y) {
  return c.value ? x : y;
}
template <typename T> Num<T> max(Num<T> x, Num<T> y) {
  if (y.value != y.value)
    return y;
  return x.value < y.value ? y : x;
}
template <typename T> Num<T> min(Num<T> x, Num<T> y) {
  if (y.value != y.value)
    return y;
  return y.value < x.value ? y : x;
}

#define GLOWISH_NUM_LITERAL(FN)                                                \
  template <typename T> Num<T> FN(Num<T> x, double y) {                        \
    return FN(x, x.like(y));                                                   \
  }                                                                            \
  template <typename T> Num<T> FN(double x, Num<T> y) {                        \
    return FN(y.like(x), y);                                                   \
  }
GLOWISH_NUM_LITERAL(operator+)
GLOWISH_NUM_LITERAL(operator-)
GLOWISH_NUM_LITERAL(operator*)
GLOWISH_NUM_LITERAL(operator/)
GLOWISH_NUM_LITERAL(max)
GLOWISH_NUM_LITERAL(min)
#undef GLOWISH_NUM_LITERAL

#define GLOWISH_NUM_FUNCTION(FN)                                               \
  template <typename T> Num<T> FN(Num<T> x) { return Num<T>(std::FN(x.value)); }
GLOWISH_NUM_FUNCTION(exp)
GLOWISH_NUM_FUNCTION(expm1)
GLOWISH_NUM_FUNCTION(log)
GLOWISH_NUM_FUNCTION(log1p)
GLOWISH_NUM_FUNCTION(sqrt)
GLOWISH_NUM_FUNCTION(floor)
GLOWISH_NUM_FUNCTION(ceil)
GLOWISH_NUM_FUNCTION(rint)
GLOWISH_NUM_FUNCTION(erf)
GLOWISH_NUM_FUNCTION(erfc)
GLOWISH_NUM_FUNCTION(sin)
GLOWISH_NUM_FUNCTION(cos)
GLOWISH_NUM_FUNCTION(tan)
GLOWISH_NUM_FUNCTION(asin)
GLOWISH_NUM_FUNCTION(acos)
GLOWISH_NUM_FUNCTION(atan)
GLOWISH_NUM_FUNCTION(sinh)
GLOWISH_NUM_FUNCTION(cosh)
GLOWISH_NUM_FUNCTION(tanh)
GLOWISH_NUM_FUNCTION(asinh)
GLOWISH_NUM_FUNCTION(acosh)
GLOWISH_NUM_FUNCTION(atanh)
#undef GLOWISH_NUM_FUNCTION
/// Returns x^y. Floats are computed in double, so that the square of one is
/// what x * x is. Integers are multiplied, and wrap; with a negative y the
/// result is 1 / x^-y, truncated towards 0, and 0 for x = 0.
template <typename T> Num<T> pow(Num<T> x, Num<T> y) {
  if constexpr (std::is_integral_v<T>) {
    if (y.value < T(0)) {
      bool isOdd = (uint64_t(y.value) & 1) != 0;
      return Num<T>(x.value == T(1)    ? T(1)
                    : x.value == T(-1) ? T(isOdd ? -1 : 1)
                                       : T(0));
    }
    Num<T> result(T(1));
    for (uint64_t rest = uint64_t(y.value); rest; rest >>= 1, x = x * x)
      if (rest & 1)
        result = result * x;
    return result;
  } else {
    return Num<T>(T(std::pow(double(x.value), double(y.value))));
  }
}

//===- Functions composed of others ---------------------------------------===//

/// Returns ln(1 + e^x): the larger of x and 0, and what e^-|x| adds to it.
template <typename S> S softplus(S x) {
  return max(x, 0.0) + log1p(exp(-max(x, -x)));
}

/// Returns x tanh(ln(1 + e^x)). With w = e^x the tanh is (w^2 + 2 w) / (w^2 +
/// 2 w + 2), in which nothing cancels; it is 1 from 20 on.
template <typename S> S mish(S x) {
  S power = exp(min(x, 20.0));
  S share = power * (power + 2.0);
  return x * (share / (share + 2.0));
}

/// \p magnitude with the sign of \p x; \p x where that is 0, of either sign.
template <typename S> S withSign(S magnitude, S x) {
  return select(x < 0.0, -magnitude, select(x == 0.0, x, magnitude));
}

/// \name Functions of scalars that have none of their own
/// @{
template <typename S> S tangent(S x) { return sin(x) / cos(x); }
/// Near x = 1 and -1 the factors 1 - x and 1 + x are exact, unlike 1 - x * x.
template <typename S> S inverseSine(S x) {
  return atan(x / sqrt((1.0 - x) * (1.0 + x)));
}
template <typename S> S inverseCosine(S x) {
  return atan(sqrt((1.0 - x) / (1.0 + x))) * 2.0;
}

/// (h^2 + h^-2) / 2 with h = e^|x / 2|, which does not overflow before the
/// result does.
template <typename S> S hyperbolicCosine(S x) {
  S half = exp(max(x, -x) * 0.5);
  return half * 0.5 * half + 0.5 / (half * half);
}

/// (h^2 - h^-2) / 2 with the sign of x; 2 t / (1 - t^2) with t = tanh(x / 2)
/// near 0, where the difference cancels.
template <typename S> S hyperbolicSine(S x) {
  S magnitude = max(x, -x);
  S t = tanh(magnitude * 0.5);
  S half = exp(magnitude * 0.5);
  S near = t * 2.0 / (1.0 - t * t);
  S far = half * 0.5 * half - 0.5 / (half * half);
  return withSign(select(magnitude < 1.0, near, far), x);
}

/// ln(m + sqrt(m^2 + 1)) of m = |x| with the sign of x; the sum under ln is
/// 1 + m + m^2 / (1 + sqrt(m^2 + 1)). For large m it is ln(2 m).
template <typename S> S inverseHyperbolicSine(S x) {
  S magnitude = max(x, -x);
  S bounded = min(magnitude, 1e9);
  S square = bounded * bounded;
  S near = log1p(bounded + square / (1.0 + sqrt(square + 1.0)));
  S far = log(magnitude) + 0.69314718055994531;
  return withSign(select(magnitude > 1e9, far, near), x);
}

/// ln(x + sqrt(x^2 - 1)) with t = x - 1: ln(1 + t + sqrt(t (t + 2))). For
/// large x it is ln(2 x); NaN below 1.
template <typename S> S inverseHyperbolicCosine(S x) {
  S t = min(x, 1e9) - 1.0;
  S near = log1p(t + sqrt(t * (t + 2.0)));
  S below =
      select(x < 1.0, x.like(std::numeric_limits<double>::quiet_NaN()), near);
  return select(x > 1e9, log(x) + 0.69314718055994531, below);
}

/// ln((1 + m) / (1 - m)) / 2 of m = |x| with the sign of x.
template <typename S> S inverseHyperbolicTangent(S x) {
  S magnitude = max(x, -x);
  S ratio = magnitude * 2.0 / (1.0 - magnitude);
  return withSign(log1p(ratio) * 0.5, x);
}

/// @}

/// Words 0 and 1, the low one first, of Philox 4x32-10 (Salmon et al., 2011)
/// for the counter words 0 and 1 in \p counter, 0 in words 2 and 3, and \p key.
/// S is 64 bits of unsigned integer; each word is the lower half of one, so
/// that multiplications don't lose bits.
template <typename S> S randomBits(S counter, S key) {
  auto low = [](S x) { return x & x.like(4294967295.0); };
  auto high = [](S x) { return shiftRight(x, x.like(32.0)); };
  S c0 = low(counter), c1 = high(counter);
  S c2 = counter.like(0.0), c3 = c2;
  S k0 = low(key), k1 = high(key);
  for (unsigned round = 0; round < 10; ++round) {
    S p0 = c0 * 3528531795.0, p1 = c2 * 3449720151.0;
    c0 = high(p1) ^ c1 ^ k0;
    c2 = high(p0) ^ c3 ^ k1;
    c1 = low(p1);
    c3 = low(p0);
    k0 = low(k0 + 2654435769.0);
    k1 = low(k1 + 3144134277.0);
  }
  return c0 + c1 * 4294967296.0;
}

/// \p x / 2^y, rounded to the nearest, halves away from zero; int32.
template <typename S> S roundedShiftRight(S x, S y) {
  S mask = shiftLeft(x.like(1.0), y) - 1.0;
  S threshold = arithmeticShiftRight(mask, x.like(1.0)) +
                select(x < 0.0, x.like(1.0), x.like(0.0));
  return arithmeticShiftRight(x, y) +
         select((x & mask) > threshold, x.like(1.0), x.like(0.0));
}

/// The formula of Rescale.
template <typename S> S rescale(S x, S multiplier, S shift) {
  S scaled = shiftLeft(x, max(shift, 0.0));
  return roundedShiftRight(roundedMultiplyHigh(scaled, multiplier),
                           max(-shift, 0.0));
}

/// The formulas: for each element-wise record NAME a struct
/// `formula::NAME` with `template <class S> static auto eval(S x, S y, ...)`,
/// its Float attributes passed as doubles after the operands.
namespace formula {
#define GET_SCALAR_FORMULAS
#include "glowish/Ops/ScalarOps.inc"
} // namespace formula

/// Calls \p fn with the formula of \p op: `fn(formula::Relu())`.
template <typename Fn> decltype(auto) dispatchScalarOp(ScalarOp op, Fn &&fn) {
  switch (op) {
#define SCALAR_OP(NAME)                                                        \
  case ScalarOp::NAME:                                                         \
    return fn(formula::NAME());
#define GET_SCALAR_OP_LIST
#include "glowish/Ops/ScalarOps.inc"
  }
  llvm_unreachable("not a scalar operator");
}

} // namespace glowish

#endif // GLOWISH_OPS_SCALAR_H
