//===- Scalar.h - Formulas that write MLIR ----------------------*- C++ -*-===//
//
// The scalar type on which the writer instantiates the formulas of the
// element-wise records: each operation becomes an operation of the dialect. The
// counterpart of Num in glowish/Ops/Scalar.h.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_EXPORTER_MLIR_SCALAR_H
#define GLOWISH_LIB_EXPORTER_MLIR_SCALAR_H

#include "glowish/Base/Type.h"
#include "glowish/Ops/ScalarProgram.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace glowish {

class MlirWriter;

/// What formulas are made of, with the semantics of Num: shifts by as many bits
/// as there are, and integers divided by 0, give 0.
enum class ScalarPrimitive : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Neg,
  Less,
  LessOrEqual,
  Equal,
  Not,
  And,
  Or,
  BitAnd,
  BitOr,
  BitXor,
  ShiftLeft,
  ShiftRight,
  ArithmeticShiftRight,
  RoundedMultiplyHigh,
  Select,
  Max,
  Min,
  Exp,
  Expm1,
  Log,
  Log1p,
  Sqrt,
  Floor,
  Ceil,
  Rint,
  Tanh,
  Erf,
  Sin,
  Cos,
  Atan,
  Pow
};

/// An SSA value: a scalar, or in dialects without scalars a tensor whose
/// elements are computed alike. The name is empty after an error.
struct MlirScalar {
  using Bool = MlirScalar;
  MlirWriter *writer = nullptr;
  std::string name;
  ElemKind kind = ElemKind::Float;
  /// Of dialects without scalars: the extents.
  Dims shape = {};

  MlirScalar like(double literal) const;
};

/// Writes \p primitive of \p args, whose last one has the kind of the operands.
MlirScalar applyPrimitive(ScalarPrimitive primitive,
                          llvm::ArrayRef<MlirScalar> args);

/// \p x as what elements of \p to are computed in, and then as an element:
/// floats saturate and NaN becomes 0, integers wrap, anything but 0 is true.
MlirScalar convertScalar(const MlirScalar &x, ElemKind to);
/// An element as its value: half precisions as float, integers under 8 bits as
/// int8 or uint8.
MlirScalar loadScalar(const MlirScalar &element);
/// The bits of \p x as another kind of the same size.
MlirScalar bitCastScalar(const MlirScalar &x, ElemKind to);

#define GLOWISH_MLIR_UNARY(FN, PRIMITIVE)                                      \
  inline MlirScalar FN(const MlirScalar &x) {                                  \
    return applyPrimitive(ScalarPrimitive::PRIMITIVE, {x});                    \
  }
GLOWISH_MLIR_UNARY(operator-, Neg)
GLOWISH_MLIR_UNARY(operator!, Not)
GLOWISH_MLIR_UNARY(exp, Exp)
GLOWISH_MLIR_UNARY(expm1, Expm1)
GLOWISH_MLIR_UNARY(log, Log)
GLOWISH_MLIR_UNARY(log1p, Log1p)
GLOWISH_MLIR_UNARY(sqrt, Sqrt)
GLOWISH_MLIR_UNARY(floor, Floor)
GLOWISH_MLIR_UNARY(ceil, Ceil)
GLOWISH_MLIR_UNARY(rint, Rint)
GLOWISH_MLIR_UNARY(tanh, Tanh)
GLOWISH_MLIR_UNARY(erf, Erf)
GLOWISH_MLIR_UNARY(sin, Sin)
GLOWISH_MLIR_UNARY(cos, Cos)
GLOWISH_MLIR_UNARY(atan, Atan)
#undef GLOWISH_MLIR_UNARY

/// \name Composed of primitives
/// @{
MlirScalar erfc(const MlirScalar &x);
MlirScalar tan(const MlirScalar &x);
MlirScalar asin(const MlirScalar &x);
MlirScalar acos(const MlirScalar &x);
MlirScalar sinh(const MlirScalar &x);
MlirScalar cosh(const MlirScalar &x);
MlirScalar asinh(const MlirScalar &x);
MlirScalar acosh(const MlirScalar &x);
MlirScalar atanh(const MlirScalar &x);
/// Of integers by multiplications, one a bit.
MlirScalar pow(const MlirScalar &x, const MlirScalar &y);
/// @}

#define GLOWISH_MLIR_BINARY(FN, PRIMITIVE)                                     \
  inline MlirScalar FN(const MlirScalar &x, const MlirScalar &y) {             \
    return applyPrimitive(ScalarPrimitive::PRIMITIVE, {x, y});                 \
  }
GLOWISH_MLIR_BINARY(operator+, Add)
GLOWISH_MLIR_BINARY(operator-, Sub)
GLOWISH_MLIR_BINARY(operator*, Mul)
GLOWISH_MLIR_BINARY(operator/, Div)
GLOWISH_MLIR_BINARY(operator<, Less)
GLOWISH_MLIR_BINARY(operator<=, LessOrEqual)
GLOWISH_MLIR_BINARY(operator==, Equal)
GLOWISH_MLIR_BINARY(operator&&, And)
GLOWISH_MLIR_BINARY(operator||, Or)
GLOWISH_MLIR_BINARY(operator&, BitAnd)
GLOWISH_MLIR_BINARY(operator|, BitOr)
GLOWISH_MLIR_BINARY(operator^, BitXor)
GLOWISH_MLIR_BINARY(shiftLeft, ShiftLeft)
GLOWISH_MLIR_BINARY(shiftRight, ShiftRight)
GLOWISH_MLIR_BINARY(arithmeticShiftRight, ArithmeticShiftRight)
GLOWISH_MLIR_BINARY(roundedMultiplyHigh, RoundedMultiplyHigh)
GLOWISH_MLIR_BINARY(max, Max)
GLOWISH_MLIR_BINARY(min, Min)
#undef GLOWISH_MLIR_BINARY

inline MlirScalar operator>(const MlirScalar &x, const MlirScalar &y) {
  return y < x;
}
inline MlirScalar operator>=(const MlirScalar &x, const MlirScalar &y) {
  return y <= x;
}

#define GLOWISH_MLIR_LITERAL(FN)                                               \
  inline MlirScalar FN(const MlirScalar &x, double y) {                        \
    return FN(x, x.like(y));                                                   \
  }                                                                            \
  inline MlirScalar FN(double x, const MlirScalar &y) {                        \
    return FN(y.like(x), y);                                                   \
  }
GLOWISH_MLIR_LITERAL(operator+)
GLOWISH_MLIR_LITERAL(operator-)
GLOWISH_MLIR_LITERAL(operator*)
GLOWISH_MLIR_LITERAL(operator/)
GLOWISH_MLIR_LITERAL(operator<)
GLOWISH_MLIR_LITERAL(operator<=)
GLOWISH_MLIR_LITERAL(operator>)
GLOWISH_MLIR_LITERAL(operator>=)
GLOWISH_MLIR_LITERAL(operator==)
GLOWISH_MLIR_LITERAL(max)
GLOWISH_MLIR_LITERAL(min)
#undef GLOWISH_MLIR_LITERAL

inline MlirScalar select(const MlirScalar &condition, const MlirScalar &x,
                         const MlirScalar &y) {
  return applyPrimitive(ScalarPrimitive::Select, {condition, x, y});
}
/// The number of \p table at the bits of \p x.
MlirScalar lookup(const MlirScalar &x, llvm::ArrayRef<double> table);

/// Whether \p other comes before \p x in the order of TopK, in which NaN is
/// larger than all numbers; \p isEarlier: its index is the lower one.
MlirScalar isRankedBefore(const MlirScalar &other, const MlirScalar &x,
                          const MlirScalar &isEarlier, bool largest);

/// Whether \p x comes before \p y where NaN is above all numbers.
MlirScalar isAbove(const MlirScalar &x, const MlirScalar &y);

/// Writes \p primitive of \p x and \p y, if it is one of integers that no
/// dialect has with the semantics of Num: divisions, shifts and
/// RoundedMultiplyHigh. \p write writes the dialect's own divisions and shifts,
/// of operands for which these leave nothing open; ArithmeticShiftRight also of
/// int64.
std::optional<MlirScalar> composePrimitive(
    ScalarPrimitive primitive, const MlirScalar &x, const MlirScalar &y,
    llvm::function_ref<MlirScalar(ScalarPrimitive primitive,
                                  const MlirScalar &x, const MlirScalar &y)>
        write);

/// \p index, one of \p length elements counted from either end, as one from the
/// start.
MlirScalar countFromStart(const MlirScalar &index, int64_t length);
/// \p value combined into \p element by a mode of Reduce or Scatter; a NaN in
/// either stays.
MlirScalar combineElements(llvm::StringRef mode, const MlirScalar &element,
                           const MlirScalar &value);

/// The formula of \p step, an element-wise node, of \p args, as an element of
/// the step's kind.
MlirScalar applyStep(const ScalarStep &step, llvm::ArrayRef<MlirScalar> args);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_MLIR_SCALAR_H
