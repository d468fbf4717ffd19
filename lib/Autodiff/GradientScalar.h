//===- GradientScalar.h - Scalar type that creates nodes --------*- C++ -*-===//
//
// Gradient formulas in the records are templates over a scalar type, as are the
// formulas of the operators. Here they are instantiated with a type that
// creates a node for each operation.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_AUTODIFF_GRADIENTSCALAR_H
#define GLOWISH_LIB_AUTODIFF_GRADIENTSCALAR_H

#include "GradientContext.h"

namespace glowish {

/// A condition in a formula.
struct GradientBool {
  GradientContext *g = nullptr;
  NodeValue value;
};

/// A value in a formula, or a number (without a GradientContext).
struct GradientScalar {
  using Bool = GradientBool;
  GradientScalar() = default;
  GradientScalar(double number) : number(number) {}
  GradientScalar(GradientContext &g, NodeValue value) : g(&g), value(value) {}

  bool isNumber() const { return !g; }

  GradientContext *g = nullptr;
  NodeValue value;
  double number = 0;
};

#define GLOWISH_GRADIENT_BINARY(OP, FN)                                        \
  inline GradientScalar operator OP(const GradientScalar &x,                   \
                                    const GradientScalar &y) {                 \
    if (x.isNumber() && y.isNumber())                                          \
      return x.number OP y.number;                                             \
    if (x.isNumber())                                                          \
      return {*y.g, y.g->FN(x.number, y.value)};                               \
    if (y.isNumber())                                                          \
      return {*x.g, x.g->FN(x.value, y.number)};                               \
    return {*x.g, x.g->FN(x.value, y.value)};                                  \
  }
GLOWISH_GRADIENT_BINARY(+, add)
GLOWISH_GRADIENT_BINARY(-, sub)
GLOWISH_GRADIENT_BINARY(*, mul)
GLOWISH_GRADIENT_BINARY(/, div)
#undef GLOWISH_GRADIENT_BINARY

/// At least the first operand must be a value.
#define GLOWISH_GRADIENT_COMPARE(OP, FN)                                       \
  inline GradientBool operator OP(const GradientScalar &x,                     \
                                  const GradientScalar &y) {                   \
    return {x.g, y.isNumber() ? x.g->FN(x.value, y.number)                     \
                              : x.g->FN(x.value, y.value)};                    \
  }
GLOWISH_GRADIENT_COMPARE(<, less)
GLOWISH_GRADIENT_COMPARE(>, greater)
GLOWISH_GRADIENT_COMPARE(<=, lessOrEqual)
GLOWISH_GRADIENT_COMPARE(>=, greaterOrEqual)
GLOWISH_GRADIENT_COMPARE(==, equal)
#undef GLOWISH_GRADIENT_COMPARE

inline GradientBool operator&&(const GradientBool &x, const GradientBool &y) {
  return {x.g, x.g->logicalAnd(x.value, y.value)};
}

/// At least one of x and y must be a value.
inline GradientScalar select(const GradientBool &condition,
                             const GradientScalar &x, const GradientScalar &y) {
  GradientContext &g = *condition.g;
  NodeValue like = x.isNumber() ? y.value : x.value;
  auto get = [&](const GradientScalar &scalar) {
    return scalar.isNumber() ? g.number(like, scalar.number) : scalar.value;
  };
  if (!like || g.hasFailed())
    return {g, NodeValue()};
  return {g, g.select(condition.value, get(x), get(y))};
}

#define GLOWISH_GRADIENT_FUNCTION(FN, NODE)                                    \
  inline GradientScalar FN(const GradientScalar &x) {                          \
    return {*x.g, x.g->unary<NODE##Node>(x.value)};                            \
  }
GLOWISH_GRADIENT_FUNCTION(operator-, Neg)
GLOWISH_GRADIENT_FUNCTION(exp, Exp)
GLOWISH_GRADIENT_FUNCTION(log, Log)
GLOWISH_GRADIENT_FUNCTION(sqrt, Sqrt)
GLOWISH_GRADIENT_FUNCTION(erf, Erf)
GLOWISH_GRADIENT_FUNCTION(sin, Sin)
GLOWISH_GRADIENT_FUNCTION(cos, Cos)
GLOWISH_GRADIENT_FUNCTION(sinh, Sinh)
GLOWISH_GRADIENT_FUNCTION(cosh, Cosh)
GLOWISH_GRADIENT_FUNCTION(sigmoid, Sigmoid)
#undef GLOWISH_GRADIENT_FUNCTION

inline GradientScalar pow(const GradientScalar &x, const GradientScalar &y) {
  return {*x.g, x.g->pow(x.value, y.value)};
}

inline GradientScalar min(const GradientScalar &x, double y) {
  return {*x.g, x.g->min(x.value, y)};
}

/// Derivative of x tanh(ln(1 + e^x)): with w = e^x and d = w^2 + 2 w + 2 it is
/// (w^2 + 2 w) / d + 4 x w (w + 1) / d^2. For x > 0 both quotients are expanded
/// by powers of e = 1 / w, so that nothing overflows.
inline GradientScalar mishSlope(const GradientScalar &x) {
  GradientBool isNegative = x < 0.0;
  GradientScalar e = exp(select(isNegative, x, -x)), square = e * e;
  GradientScalar share = select(isNegative, square + 2.0 * e, 2.0 * e + 1.0);
  GradientScalar whole = share + select(isNegative, 2.0, 2.0 * square);
  GradientScalar scaled = select(isNegative, e, square) * (e + 1.0);
  return share / whole + x * (4.0 * scaled / (whole * whole));
}

/// Gradient of x * sigmoid(u(x)) with u = 1.596 x + 0.0714 x^3.
inline GradientScalar geluTanhGradient(const GradientScalar &x,
                                       const GradientScalar &result,
                                       const GradientScalar &gradient) {
  constexpr double linear = 1.5957691216057308, cubic = 0.071354816272600248;
  GradientScalar square = x * x;
  GradientScalar share = sigmoid(x * (square * cubic + linear));
  GradientScalar slope = square * (3 * cubic) + linear;
  return gradient * (share + result * (1.0 - share) * slope);
}

/// The formulas: for each element-wise record with gradients a struct with
/// `template <unsigned I, class S> static S eval(operands..., S result, S
/// gradient, attributes...)`, which returns the adjoint of operand I.
namespace gradient {
#define GET_GRADIENT_FORMULAS
#include "glowish/Autodiff/Gradients.inc"
} // namespace gradient

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_GRADIENTSCALAR_H
