//===- SymbolicNumber.cpp - Scalars of unknown value ----------------------===//

#include "SymbolicNumber.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <limits>
#include <map>
#include <optional>

using namespace glowish;
using namespace glowish::proofs;

//===- Terms --------------------------------------------------------------===//

z3::expr Proof::makeReal(double value) {
  if (!std::isfinite(value)) {
    fail("a number that is not finite");
    return context.real_val(0);
  }
  int exponent = 0;
  // A float is an integer of 53 bits times a power of 2.
  auto mantissa = int64_t(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  z3::expr result = context.real_val(std::to_string(mantissa).c_str());
  z3::expr power =
      z3::pw(context.real_val(2), context.int_val(std::abs(exponent)));
  return (exponent < 0 ? result / power : result * power).simplify();
}

z3::expr Proof::simplify(const z3::expr &term) {
  // Each simplification takes Z3 two tables of 8 MB, which it fills.
  if (term.is_numeral() || term.is_const())
    return term;
  z3::params params(context);
  params.set("som", true);
  params.set("arith_lhs", true);
  params.set("som_blowup", 1u << 16);
  return term.simplify(params);
}

z3::expr Proof::apply(llvm::StringRef function,
                      llvm::ArrayRef<z3::expr> arguments) {
  hasUnknownFunctions = true;
  z3::sort_vector sorts(context);
  z3::expr_vector terms(context);
  for (const z3::expr &argument : arguments) {
    sorts.push_back(argument.get_sort());
    terms.push_back(argument);
  }
  return z3::function(function.str(), sorts, context.real_sort())(terms);
}

/// Calls \p fn with each summand of \p term, a sum of monomials, as its
/// coefficient and its monomial (1 of a number).
static void forEachSummand(
    Proof &proof, const z3::expr &term,
    llvm::function_ref<void(const z3::expr &, const z3::expr &)> fn) {
  if (term.is_app() && term.decl().decl_kind() == Z3_OP_ADD) {
    for (unsigned i = 0; i < term.num_args(); ++i)
      forEachSummand(proof, term.arg(i), fn);
    return;
  }
  z3::expr one = proof.context.real_val(1);
  if (term.is_numeral())
    return fn(term, one);
  if (term.is_app() && term.decl().decl_kind() == Z3_OP_MUL &&
      term.arg(0).is_numeral()) {
    z3::expr monomial = term.arg(1);
    for (unsigned i = 2; i < term.num_args(); ++i)
      monomial = monomial * term.arg(i);
    return fn(term.arg(0), monomial);
  }
  fn(one, term);
}

/// The coefficient of the first summand of \p term.
static z3::expr getLeadingCoefficient(Proof &proof, const z3::expr &term) {
  std::optional<z3::expr> first;
  forEachSummand(proof, term,
                 [&](const z3::expr &coefficient, const z3::expr &) {
                   if (!first)
                     first = coefficient;
                 });
  return *first;
}

//===- Kinds --------------------------------------------------------------===//

namespace {

/// The values of a kind: integers below 2^precision times powers of 2.
struct ValueSet {
  int precision, exponent;
  bool isSigned;
};

} // namespace

static ValueSet getValueSet(ElemKind kind) {
  switch (kind) {
  case ElemKind::Float16:
    return {11, 15, true};
  case ElemKind::BFloat16:
    return {8, 127, true};
  case ElemKind::Float:
    return {24, 127, true};
  case ElemKind::Double:
    return {53, 1023, true};
  default:
    int bits = int(getElemBits(kind));
    bool isSigned = isSignedIntegerKind(kind);
    return {bits - isSigned, bits - isSigned, isSigned};
  }
}

/// Whether each value of \p from is one of \p to.
static bool hasValues(ElemKind to, ElemKind from) {
  ValueSet outer = getValueSet(to), inner = getValueSet(from);
  return outer.precision >= inner.precision &&
         outer.exponent >= inner.exponent &&
         (outer.isSigned || !inner.isSigned) &&
         (isFloatKind(to) || !isFloatKind(from));
}

//===- Numbers ------------------------------------------------------------===//

/// The limits of a kind of integers.
static void limit(Number &number) {
  ValueSet set = getValueSet(number.kind);
  number.high = std::ldexp(1.0, set.precision) - 1;
  number.low = set.isSigned ? -number.high - 1 : 0;
}

Number::Number(Proof &proof, ElemKind kind, const z3::expr &above,
               const z3::expr &below)
    : proof(&proof), kind(kind), numerator(proof.simplify(above)),
      denominator(proof.simplify(below)), origin(kind) {
  bool isZero = getDigits(numerator) == "0";
  // So that equal quotients are equal arguments of functions.
  z3::expr factor = getLeadingCoefficient(proof, denominator);
  if (!isZero && getDigits(factor) != "1") {
    numerator = proof.simplify(numerator / factor);
    denominator = proof.simplify(denominator / factor);
  }
  if (denominator.is_numeral() || isZero)
    denominator = proof.context.real_val(1);
}

Number::Number(Proof &proof, ElemKind kind, double value)
    : Number(proof, kind, proof.makeReal(std::isinf(value) ? 0 : value),
             proof.context.real_val(1)) {
  low = high = value;
  infinity = std::isinf(value) ? (value < 0 ? -1 : 1) : 0;
}

Number Number::makeUnknown(Proof &proof, ElemKind kind, llvm::StringRef name) {
  z3::expr term = proof.context.real_const(name.str().c_str());
  Number result(proof, kind, term, proof.context.real_val(1));
  if (isIntegerKind(kind)) {
    proof.integers.insert(name.str());
    limit(result);
    proof.facts.push_back(term >= proof.makeReal(result.low) &&
                          term <= proof.makeReal(result.high));
  }
  return result;
}

z3::expr Number::getTerm() const {
  if (infinity)
    proof->fail("a number that is not finite");
  return denominator.is_numeral() ? numerator : numerator / denominator;
}

bool Number::mayWrap() const {
  if (!isIntegerKind(kind))
    return false;
  Number whole = *this;
  limit(whole);
  return high > whole.high || low < whole.low;
}

static bool isSameTerm(const z3::expr &x, const z3::expr &y) {
  return z3::eq(x, y);
}

/// \p result with the limits of what \p combine makes of those of \p x and
/// \p y.
template <typename Fn>
static Number withLimits(Number result, const Number &x, const Number &y,
                         Fn combine) {
  double corners[] = {combine(x.low, y.low), combine(x.low, y.high),
                      combine(x.high, y.low), combine(x.high, y.high)};
  result.low = *std::min_element(std::begin(corners), std::end(corners));
  result.high = *std::max_element(std::begin(corners), std::end(corners));
  // Beyond, limits would be rounded.
  bool isNumber =
      llvm::none_of(corners, [](double x) { return std::isnan(x); });
  if (!isNumber || !(std::fabs(result.low) < 0x1p53))
    result.low = -INFINITY;
  if (!isNumber || !(std::fabs(result.high) < 0x1p53))
    result.high = INFINITY;
  return result;
}

static Number add(const Number &x, const Number &y, bool subtracts) {
  Proof &proof = *x.proof;
  if (x.infinity && !y.infinity)
    return x;
  if (y.infinity && !x.infinity)
    return subtracts ? -y : y;
  auto combine = [&](const z3::expr &a, const z3::expr &b) {
    return subtracts ? a - b : a + b;
  };
  Number result = isSameTerm(x.denominator, y.denominator)
                      ? Number(proof, x.kind, combine(x.numerator, y.numerator),
                               x.denominator)
                      : Number(proof, x.kind,
                               combine(x.numerator * y.denominator,
                                       y.numerator * x.denominator),
                               x.denominator * y.denominator);
  return withLimits(result, x, y, [&](double a, double b) {
    return subtracts ? a - b : a + b;
  });
}

Number proofs::operator+(const Number &x, const Number &y) {
  return add(x, y, /*subtracts=*/false);
}
Number proofs::operator-(const Number &x, const Number &y) {
  return add(x, y, /*subtracts=*/true);
}
Number proofs::operator-(const Number &x) {
  return x.infinity ? x.like(-x.infinity * INFINITY) : x.like(0) - x;
}

/// Of infinities only sums, limits and exponentials are known.
static void refuseInfinity(const Number &x, const Number &y) {
  if (x.infinity || y.infinity)
    x.proof->fail("a number that is not finite");
}

Number proofs::operator*(const Number &x, const Number &y) {
  refuseInfinity(x, y);
  Number result(*x.proof, x.kind, x.numerator * y.numerator,
                x.denominator * y.denominator);
  return withLimits(result, x, y, [](double a, double b) {
    return a == 0 || b == 0 ? 0 : a * b;
  });
}

Number proofs::operator/(const Number &x, const Number &y) {
  refuseInfinity(x, y);
  if (isIntegerKind(x.kind)) {
    bool isByOne = y.low == 1 && y.high == 1 && !y.mayWrap();
    return isByOne ? x : applyUnknown("divide-integers", {x, y});
  }
  Number result(*x.proof, x.kind, x.numerator * y.denominator,
                x.denominator * y.numerator);
  bool isByZero = y.low <= 0 && y.high >= 0;
  if (isByZero && x.low >= 0 && y.low >= 0)
    result.low = 0;
  return isByZero ? result : withLimits(result, x, y, [](double a, double b) {
    return a / b;
  });
}

//===- Conditions ---------------------------------------------------------===//

Truth proofs::compare(const Number &x, const Number &y,
                      z3::expr (*compare)(const z3::expr &, const z3::expr &)) {
  if (x.mayWrap() || y.mayWrap())
    x.proof->fail("a comparison of what may wrap");
  if (x.infinity || y.infinity) {
    z3::context &context = x.proof->context;
    return {x.proof,
            compare(context.real_val(x.infinity), context.real_val(y.infinity))
                .simplify()};
  }
  return {x.proof, x.proof->simplify(compare(x.getTerm(), y.getTerm()))};
}

Number proofs::select(const Truth &condition, const Number &x,
                      const Number &y) {
  z3::expr c = condition.term;
  if (c.is_true() || c.is_false())
    return c.is_true() ? x : y;
  refuseInfinity(x, y);
  bool isCommon = isSameTerm(x.denominator, y.denominator);
  Number result(*x.proof, x.kind, z3::ite(c, x.numerator, y.numerator),
                isCommon ? x.denominator
                         : z3::ite(c, x.denominator, y.denominator));
  result.low = std::min(x.low, y.low);
  result.high = std::max(x.high, y.high);
  return result;
}

Truth proofs::select(const Truth &condition, const Truth &x, const Truth &y) {
  return {x.proof, z3::ite(condition.term, x.term, y.term)};
}

Number proofs::max(const Number &x, const Number &y) {
  if (x.low >= y.high && !x.infinity)
    return x;
  Number result = select(x < y, y, x);
  result.low = std::max(x.low, y.low);
  result.high = std::max(x.high, y.high);
  return result;
}
Number proofs::min(const Number &x, const Number &y) {
  if (x.high <= y.low && !x.infinity)
    return x;
  Number result = select(y < x, y, x);
  result.low = std::min(x.low, y.low);
  result.high = std::min(x.high, y.high);
  return result;
}
Number proofs::max(const Number &x, double y) {
  return std::isinf(y) && y < 0 ? x : max(x, x.like(y));
}
Number proofs::min(const Number &x, double y) {
  return std::isinf(y) && y > 0 ? x : min(x, x.like(y));
}

//===- Integers -----------------------------------------------------------===//

/// Whether \p term is a polynomial of integers with integer coefficients.
static bool isIntegral(const Proof &proof, const z3::expr &term) {
  if (term.is_numeral())
    return !getDigits(term).contains('/');
  if (!term.is_app())
    return false;
  if (term.is_const())
    return proof.integers.count(term.decl().name().str()) != 0;
  if (llvm::is_contained({"floor", "ceil", "rint"}, term.decl().name().str()))
    return true;
  Z3_decl_kind kind = term.decl().decl_kind();
  unsigned first = kind == Z3_OP_ITE;
  if (kind != Z3_OP_ADD && kind != Z3_OP_MUL && kind != Z3_OP_ITE)
    return false;
  for (unsigned i = first; i < term.num_args(); ++i)
    if (!isIntegral(proof, term.arg(i)))
      return false;
  return true;
}

static bool isIntegral(const Number &x) {
  return !x.infinity && x.denominator.is_numeral() &&
         isIntegral(*x.proof, x.numerator);
}

static Number roundBy(llvm::StringRef function, const Number &x) {
  if (isIntegral(x))
    return x;
  Number rounded = applyUnknown(function, {x});
  z3::expr distance = rounded.numerator - x.getTerm();
  z3::expr one = x.proof->context.real_val(1);
  x.proof->facts.push_back(distance <= one && distance >= -one);
  x.proof->facts.push_back(
      z3::implies(x.getTerm() >= 0, rounded.numerator >= 0));
  rounded.low = std::floor(x.low);
  rounded.high = std::ceil(x.high);
  return rounded;
}
Number proofs::floor(const Number &x) { return roundBy("floor", x); }
Number proofs::ceil(const Number &x) { return roundBy("ceil", x); }
Number proofs::rint(const Number &x) { return roundBy("rint", x); }

//===- Functions ----------------------------------------------------------===//

static bool isNegative(const z3::expr &numeral) {
  return getDigits(numeral).starts_with("-");
}

Number proofs::exp(const Number &x) {
  Proof &proof = *x.proof;
  if (x.infinity < 0)
    return x.like(0);
  z3::expr above = proof.context.real_val(1), below = above;
  auto multiply = [&](const z3::expr &coefficient, const z3::expr &monomial) {
    bool isBelow = isNegative(coefficient);
    z3::expr factor = proof.apply(
        "exp",
        {proof.simplify((isBelow ? -coefficient : coefficient) * monomial)});
    proof.facts.push_back(factor > 0);
    z3::expr &side = isBelow ? below : above;
    side = side * factor;
  };
  z3::expr exponent = proof.simplify(x.getTerm());
  if (getDigits(exponent) == "0")
    return x.like(1);
  forEachSummand(proof, exponent, multiply);
  Number result(proof, x.kind, above, below);
  result.low = 0;
  return result;
}

/// The logarithm of a product of exponentials is the sum of their exponents.
static Number logOfTerm(Proof &proof, ElemKind kind, const z3::expr &term) {
  z3::expr one = proof.context.real_val(1);
  if (getDigits(term) == "1")
    return {proof, kind, 0.0};
  if (term.is_app() && term.decl().decl_kind() == Z3_OP_MUL) {
    Number sum(proof, kind, 0.0);
    for (unsigned i = 0; i < term.num_args(); ++i)
      sum = sum + logOfTerm(proof, kind, term.arg(i));
    return sum;
  }
  if (term.is_app() && term.num_args() == 1 &&
      term.decl().name().str() == "exp")
    return {proof, kind, term.arg(0), one};
  return {proof, kind, proof.apply("log", {term}), one};
}

Number proofs::log(const Number &x) {
  return logOfTerm(*x.proof, x.kind, x.numerator) -
         logOfTerm(*x.proof, x.kind, x.denominator);
}

Number proofs::sqrt(const Number &x) {
  Proof &proof = *x.proof;
  z3::expr argument = proof.simplify(x.getTerm());
  double value = 0;
  if (argument.is_numeral()) {
    value = std::sqrt(argument.as_double());
    z3::expr square = proof.makeReal(value) * proof.makeReal(value);
    if (getDigits(proof.simplify(square - argument)) == "0")
      return x.like(value);
  }
  z3::expr root = proof.apply("sqrt", {argument});
  proof.facts.push_back(root > 0);
  proof.facts.push_back(root * root == argument);
  return {proof, x.kind, root, proof.context.real_val(1)};
}

Number proofs::tanh(const Number &x) {
  Number square = exp(x * 2.0);
  return (square - 1.0) / (square + 1.0);
}

Number proofs::pow(const Number &x, const Number &y) {
  z3::expr exponent = y.getTerm();
  if (exponent.is_numeral()) {
    double value = exponent.as_double();
    if (value == 0.5)
      return sqrt(x);
    if (value == -0.5)
      return 1.0 / sqrt(x);
    if (value == std::rint(value) && value >= 0 && value <= 4) {
      Number power = x.like(1);
      for (int i = 0; i < int(value); ++i)
        power = power * x;
      return power;
    }
  }
  return applyUnknown("pow", {x, y});
}

Number proofs::applyUnknown(llvm::StringRef function,
                            llvm::ArrayRef<Number> arguments) {
  Proof &proof = *arguments[0].proof;
  std::vector<z3::expr> terms;
  for (const Number &argument : arguments) {
    if (argument.mayWrap())
      proof.fail(function + " of what may wrap");
    terms.push_back(proof.simplify(argument.getTerm()));
  }
  ElemKind kind = arguments[0].kind;
  Number result(proof, kind, proof.apply(function, terms),
                proof.context.real_val(1));
  if (isIntegerKind(kind))
    limit(result);
  return result;
}

Number proofs::lookup(const Number &x, llvm::ArrayRef<double> table) {
  if (x.mayWrap())
    x.proof->fail("a lookup by what may wrap");
  Number result = x.like(table[0]);
  for (int position = 1; position < int(table.size()); ++position) {
    double index = x.low < 0 && position >= int(table.size()) / 2
                       ? position - double(table.size())
                       : position;
    result = select(x == index, x.like(table[position]), result);
  }
  return result;
}

Number proofs::convert(const Number &x, ElemKind kind) {
  if (x.kind == kind)
    return x;
  Proof &proof = *x.proof;
  if (x.mayWrap() &&
      !(isIntegerKind(kind) && getElemBits(kind) <= getElemBits(x.kind))) {
    proof.fail("a conversion of what may wrap");
    return {proof, kind, 0.0};
  }
  Number result = x;
  result.kind = kind;
  // Integers wrap: they are the same integer before.
  if (isIntegerKind(x.kind) && isIntegerKind(kind))
    return result;
  double largest = std::max(std::fabs(x.low), std::fabs(x.high));
  bool isSmall = isFloatKind(kind) && isIntegral(x) &&
                 largest <= std::ldexp(1.0, getValueSet(kind).precision);
  if (isSmall || hasValues(kind, x.origin))
    return result;
  // Floats saturate.
  if (isIntegerKind(kind) && isIntegral(x)) {
    Number whole(proof, kind, 0.0);
    limit(whole);
    Number clamped = min(max(x, whole.low), whole.high);
    clamped.kind = clamped.origin = kind;
    return clamped;
  }
  result = Number(proof, kind,
                  proof.apply(("to-" + getElemKindName(kind)).str(),
                              {proof.simplify(x.getTerm())}),
                  proof.context.real_val(1));
  if (isIntegerKind(kind)) {
    limit(result);
    proof.facts.push_back(result.numerator >= proof.makeReal(result.low) &&
                          result.numerator <= proof.makeReal(result.high));
  }
  return result;
}
