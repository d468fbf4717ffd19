//===- Complex.cpp - Parts and functions of complex tensors ---------------===//

#include "Aten/Complex.h"
#include "Common/ElementWise.h"
#include <numbers>

using namespace glowish;
using namespace glowish::aten;

//===- Parts --------------------------------------------------------------===//

/// Imports real(): a real tensor is its own real part.
static llvm::Error importReal(AtenOp &op) {
  return op.setResult(op.complex("self").real);
}

static llvm::Error importImaginary(AtenOp &op) {
  NodeValue part = op.complex("self").imaginary;
  if (!part)
    return op.refuse("self", "a complex tensor");
  return op.setResult(part);
}

static llvm::Error importViewAsReal(AtenOp &op) {
  ComplexParts self = op.complex("self");
  if (!self.imaginary)
    return op.refuse("self", "a complex tensor");
  return op.setResult(joinPairs(op, self));
}

static llvm::Error importViewAsComplex(AtenOp &op) {
  NodeValue self = op.tensor("self");
  DimsRef shape = self.getShape();
  if (shape.empty() || shape.back() != 2 || !isFloatKind(self.getElemKind()))
    return op.refuse("self", "floats with a last dimension of 2");
  return op.setResult(splitPairs(op, self));
}

/// Broadcasts \p x and \p y to one shape.
static ComplexParts broadcastParts(AtenOp &op, NodeValue x, NodeValue y) {
  // The sum has that shape; nothing else needs it.
  NodeValue sum = op.add(x, y);
  if (!sum)
    return {};
  DimsRef shape = sum.getShape();
  auto fit = [&](NodeValue part) {
    return part.getShape() == shape ? part : op.broadcast(part, shape);
  };
  return {fit(x), fit(y)};
}

/// Returns an error unless both arguments are of one float kind.
static llvm::Error checkParts(AtenOp &op, llvm::StringRef first,
                              llvm::StringRef second) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(first));
  if (op.tensor(first).getElemKind() != op.tensor(second).getElemKind())
    return op.refuse(second, "elements of the kind of '" + first.str() + "'");
  return llvm::Error::success();
}

static llvm::Error importComplexOf(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkParts(op, "real", "imag"));
  return op.setResult(broadcastParts(op, op.tensor("real"), op.tensor("imag")));
}

/// Imports abs (cos(angle) + i sin(angle)).
static llvm::Error importPolar(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkParts(op, "abs", "angle"));
  NodeValue magnitude = op.tensor("abs"), angle = op.tensor("angle");
  return op.setResult(
      ComplexParts{op.mul(magnitude, op.unary<CosNode>(angle)),
                   op.mul(magnitude, op.unary<SinNode>(angle))});
}

static AtenOperators parts({"(Tensor self) -> Tensor"},
                           {{importReal, {"real"}},
                            {importImaginary, {"imag"}},
                            {importViewAsReal, {"view_as_real"}}},
                           AtenOrder::OfOperands, AtenElements::RealOrComplex);
static AtenOperators
    ofParts({{importViewAsComplex, {"view_as_complex(Tensor self) -> Tensor"}},
             {importComplexOf, {"complex(Tensor real, Tensor imag) -> Tensor"}},
             {importPolar, {"polar(Tensor abs, Tensor angle) -> Tensor"}}});

//===- Functions ----------------------------------------------------------===//

/// Imports angle(), which is 0, pi or NaN for a real tensor.
static llvm::Error importAngle(AtenOp &op) {
  auto [real, imaginary] = op.complex("self");
  if (imaginary)
    return op.setResult(getAngle(op, imaginary, real));
  real = op.floating("self");
  NodeValue angle = op.select(
      op.less(real, 0), op.number(real, std::numbers::pi), op.number(real, 0));
  return op.setResult(op.select(op.equal(real, real), angle, real));
}

static llvm::Error importConjugate(AtenOp &op) {
  auto [real, imaginary] = op.complex("self");
  return op.setResult(ComplexParts{real, op.unary<NegNode>(imaginary)});
}

static llvm::Error importResolved(AtenOp &op) {
  return op.setResult(op.complex("self"));
}

/// Imports abs(). The squares of floats would overflow in float.
static llvm::Error importMagnitude(AtenOp &op) {
  auto [real, imaginary] = op.complex("self");
  ElemKind kind = real.getElemKind();
  auto square = [&](NodeValue part) {
    part = op.cast(part, ElemKind::Double);
    return op.mul(part, part);
  };
  NodeValue sum = op.add(square(real), square(imaginary));
  return op.setResult(op.cast(op.unary<SqrtNode>(sum), kind));
}

static llvm::Error importSquare(AtenOp &op) {
  ComplexParts self = op.complex("self");
  return op.setResult(multiply(op, self, self));
}

static llvm::Error importPower(AtenOp &op) {
  const AtenValue &exponent = op.get("exponent");
  if (!exponent.isNumber() || exponent.getNumber() != 2)
    return op.refuse("exponent", "2, where 'self' is complex");
  return importSquare(op);
}

/// Imports exp(a) (cos(b) + i sin(b)).
static llvm::Error importExponential(AtenOp &op) {
  auto [real, imaginary] = op.complex("self");
  NodeValue magnitude = op.unary<ExpNode>(real);
  return op.setResult(
      ComplexParts{op.mul(magnitude, op.unary<CosNode>(imaginary)),
                   op.mul(magnitude, op.unary<SinNode>(imaginary))});
}

/// Imports x / y = x conj(y) / |y|^2, in the kind of the result, as PyTorch
/// computes it.
static llvm::Error importQuotient(AtenOp &op) {
  auto get = [&](llvm::StringRef argument, ElemKind kind) -> ComplexParts {
    const AtenValue &value = op.get(argument);
    if (!value.isComplex())
      return {op.operand(argument, kind), {}};
    auto [real, imaginary] = op.complex(argument);
    return {op.cast(real, kind), op.cast(imaginary, kind)};
  };
  auto getKind = [&](llvm::StringRef argument) -> std::optional<ElemKind> {
    const AtenValue &value = op.get(argument);
    if (value.isNumber())
      return std::nullopt;
    ElemKind kind = op.complex(argument).real.getElemKind();
    return isFloatKind(kind) ? std::optional(kind) : std::nullopt;
  };
  std::optional<ElemKind> own = getKind("self"), other = getKind("other");
  ElemKind kind = own && other ? promoteKinds(*own, *other)
                               : own.value_or(other.value_or(ElemKind::Float));
  ComplexParts x = get("self", kind), y = get("other", kind);
  if (!y.imaginary)
    return op.setResult(
        ComplexParts{op.div(x.real, y.real), op.div(x.imaginary, y.real)});
  NodeValue norm =
      op.add(op.mul(y.real, y.real), op.mul(y.imaginary, y.imaginary));
  NodeValue negative = op.unary<NegNode>(y.imaginary);
  ComplexParts numerator = multiply(op, x, {y.real, negative});
  return op.setResult(ComplexParts{op.div(numerator.real, norm),
                                   op.div(numerator.imaginary, norm)});
}

static AtenOperators
    functions({"(Tensor self) -> Tensor"},
              {{importAngle, {"angle"}},
               {importConjugate, {"conj", "_conj", "conj_physical"}}},
              AtenOrder::OfOperands, AtenElements::RealOrComplex);
static AtenComplexOperators resolved(importResolved,
                                     {"resolve_conj", "resolve_neg"});
static AtenComplexOperators magnitudes(importMagnitude, {"abs", "absolute"});
static AtenComplexOperators squares(importSquare, {"square"});
static AtenComplexOperators powers(importPower, {"pow"});
static AtenComplexOperators exponentials(importExponential, {"exp"});
static AtenComplexOperators quotients(importQuotient,
                                      {"div", "divide", "true_divide"});
