//===- SymbolicNumber.h - Scalars of unknown value --------------*- C++ -*-===//
//
// What the formulas of element-wise records (glowish/Ops/Scalar.h) compute with
// in proofs: quotients of polynomials over real unknowns, as terms of Z3.
// Functions that are not rational are unknown functions of Z3 with what proofs
// need to know of them: exp(a + b) = exp(a) exp(b), say.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_PROOFS_SYMBOLICNUMBER_H
#define GLOWISH_TESTS_PROOFS_SYMBOLICNUMBER_H

#include "Z3.h"
#include "glowish/Base/ElemKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace glowish::proofs {

/// The terms of one proof.
struct Proof {
  z3::context context;
  /// What is known of functions and unknowns.
  std::vector<z3::expr> facts;
  /// Why nothing can be proved; empty where something can.
  std::string obstacle;
  /// Whether there are functions of which not all is known: what Z3 finds
  /// different may be equal.
  bool hasUnknownFunctions = false;
  /// The unknowns that are integers, by their names.
  std::set<std::string> integers;

  z3::expr makeReal(double value);
  z3::expr simplify(const z3::expr &term);
  /// \p function of real numbers at \p arguments.
  z3::expr apply(llvm::StringRef function, llvm::ArrayRef<z3::expr> arguments);
  void fail(const llvm::Twine &why) {
    if (obstacle.empty())
      obstacle = why.str();
  }
};

/// A condition.
struct Truth {
  Proof *proof;
  z3::expr term;
};

/// A number, `numerator / denominator`. Proofs hold where denominators are not
/// 0. Of a kind of integers it is the integer before it wraps: sums,
/// differences and products of integers that wrap are alike where those of
/// integers are.
class Number {
public:
  using Bool = Truth;

  Number(Proof &proof, ElemKind kind, const z3::expr &numerator,
         const z3::expr &denominator);
  Number(Proof &proof, ElemKind kind, double value);
  /// An unknown value of \p kind.
  static Number makeUnknown(Proof &proof, ElemKind kind, llvm::StringRef name);

  /// A literal of the same kind.
  Number like(double literal) const { return {*proof, kind, literal}; }
  /// The quotient as one term. An infinity is an obstacle.
  z3::expr getTerm() const;
  /// Of a kind of integers: whether the value may be beyond the kind, so that
  /// only sums, differences and products of it are known.
  bool mayWrap() const;

  Proof *proof;
  ElemKind kind;
  z3::expr numerator, denominator;
  /// The least and the largest value, as far as they are known.
  double low = -INFINITY, high = INFINITY;
  /// The narrowest kind of floats that is known to have the value.
  ElemKind origin;
  /// 1 or -1 of the infinities, which have no terms; else 0. Unknowns are
  /// finite.
  int infinity = 0;
};

Number operator+(const Number &x, const Number &y);
Number operator-(const Number &x, const Number &y);
Number operator*(const Number &x, const Number &y);
Number operator/(const Number &x, const Number &y);
Number operator-(const Number &x);
Number min(const Number &x, const Number &y);
Number max(const Number &x, const Number &y);
/// With an infinite limit, \p x.
Number min(const Number &x, double y);
Number max(const Number &x, double y);

#define GLOWISH_PROOF_LITERAL(OP)                                              \
  inline Number operator OP(const Number &x, double y) {                       \
    return x OP x.like(y);                                                     \
  }                                                                            \
  inline Number operator OP(double x, const Number &y) {                       \
    return y.like(x) OP y;                                                     \
  }
GLOWISH_PROOF_LITERAL(+)
GLOWISH_PROOF_LITERAL(-)
GLOWISH_PROOF_LITERAL(*)
GLOWISH_PROOF_LITERAL(/)
#undef GLOWISH_PROOF_LITERAL

Truth compare(const Number &x, const Number &y,
              z3::expr (*compare)(const z3::expr &, const z3::expr &));
#define GLOWISH_PROOF_COMPARE(OP)                                              \
  inline Truth operator OP(const Number &x, const Number &y) {                 \
    return compare(                                                            \
        x, y, [](const z3::expr &a, const z3::expr &b) { return a OP b; });    \
  }                                                                            \
  inline Truth operator OP(const Number &x, double y) { return x OP x.like(y); }
GLOWISH_PROOF_COMPARE(<)
GLOWISH_PROOF_COMPARE(<=)
GLOWISH_PROOF_COMPARE(>)
GLOWISH_PROOF_COMPARE(>=)
GLOWISH_PROOF_COMPARE(==)
#undef GLOWISH_PROOF_COMPARE

Number select(const Truth &condition, const Number &x, const Number &y);
Truth select(const Truth &condition, const Truth &x, const Truth &y);
inline Truth operator!(const Truth &x) { return {x.proof, !x.term}; }
inline Truth operator&&(const Truth &x, const Truth &y) {
  return {x.proof, x.term && y.term};
}
inline Truth operator||(const Truth &x, const Truth &y) {
  return {x.proof, x.term || y.term};
}

Number exp(const Number &x);
Number log(const Number &x);
Number sqrt(const Number &x);
Number tanh(const Number &x);
Number pow(const Number &x, const Number &y);
/// Of integers, these.
/// @{
Number floor(const Number &x);
Number ceil(const Number &x);
Number rint(const Number &x);
/// @}

/// Of which nothing is known but that equal arguments have equal results.
Number applyUnknown(llvm::StringRef function, llvm::ArrayRef<Number> arguments);
#define GLOWISH_PROOF_UNKNOWN(FN)                                              \
  inline Number FN(const Number &x) { return applyUnknown(#FN, {x}); }
GLOWISH_PROOF_UNKNOWN(expm1)
GLOWISH_PROOF_UNKNOWN(log1p)
GLOWISH_PROOF_UNKNOWN(erf)
GLOWISH_PROOF_UNKNOWN(erfc)
GLOWISH_PROOF_UNKNOWN(sin)
GLOWISH_PROOF_UNKNOWN(cos)
GLOWISH_PROOF_UNKNOWN(tan)
GLOWISH_PROOF_UNKNOWN(asin)
GLOWISH_PROOF_UNKNOWN(acos)
GLOWISH_PROOF_UNKNOWN(atan)
GLOWISH_PROOF_UNKNOWN(sinh)
GLOWISH_PROOF_UNKNOWN(cosh)
GLOWISH_PROOF_UNKNOWN(asinh)
GLOWISH_PROOF_UNKNOWN(acosh)
GLOWISH_PROOF_UNKNOWN(atanh)
#undef GLOWISH_PROOF_UNKNOWN
#define GLOWISH_PROOF_UNKNOWN_OF_TWO(FN, NAME)                                 \
  inline Number FN(const Number &x, const Number &y) {                         \
    return applyUnknown(NAME, {x, y});                                         \
  }
GLOWISH_PROOF_UNKNOWN_OF_TWO(operator&, "and")
GLOWISH_PROOF_UNKNOWN_OF_TWO(operator|, "or")
GLOWISH_PROOF_UNKNOWN_OF_TWO(operator^, "xor")
GLOWISH_PROOF_UNKNOWN_OF_TWO(shiftLeft, "shift-left")
GLOWISH_PROOF_UNKNOWN_OF_TWO(shiftRight, "shift-right")
GLOWISH_PROOF_UNKNOWN_OF_TWO(arithmeticShiftRight, "arithmetic-shift-right")
GLOWISH_PROOF_UNKNOWN_OF_TWO(roundedMultiplyHigh, "rounded-multiply-high")
#undef GLOWISH_PROOF_UNKNOWN_OF_TWO
/// The element of \p table at the bits of \p x.
Number lookup(const Number &x, llvm::ArrayRef<double> table);

/// \p x as a value of \p kind. Floats are what they are where the wider kind
/// has all values of the narrower one, else an unknown function of them.
Number convert(const Number &x, ElemKind kind);

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_SYMBOLICNUMBER_H
