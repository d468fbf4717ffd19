//===- EmittedScalar.h - Formulas that emit LLVM IR -------------*- C++ -*-===//
//
// The scalar type on which the CPU back end instantiates the formulas of the
// element-wise records: each operation emits an instruction on a vector of
// elements. The counterpart of Num in glowish/Ops/Scalar.h.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_EMITTEDSCALAR_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_EMITTEDSCALAR_H

#include "Kernels/Math/VectorMath.h"
#include "glowish/Ops/ScalarProgram.h"

namespace glowish {

struct EmittedScalar {
  using Bool = EmittedScalar;
  KernelBuilder *builder;
  llvm::Value *value;
  ElemKind kind;

  EmittedScalar with(llvm::Value *newValue) const {
    return {builder, newValue, kind};
  }
  EmittedScalar asBool(llvm::Value *newValue) const {
    return {builder, newValue, ElemKind::Bool};
  }
  EmittedScalar like(double literal) const {
    return with(
        builder->literal(kind, literal, KernelBuilder::getLanes(value)));
  }
  bool isFloat() const { return value->getType()->isFPOrFPVectorTy(); }
};

EmittedScalar operator+(EmittedScalar x, EmittedScalar y);
EmittedScalar operator-(EmittedScalar x, EmittedScalar y);
EmittedScalar operator*(EmittedScalar x, EmittedScalar y);
EmittedScalar operator/(EmittedScalar x, EmittedScalar y);
EmittedScalar operator-(EmittedScalar x);
EmittedScalar operator<(EmittedScalar x, EmittedScalar y);
EmittedScalar operator==(EmittedScalar x, EmittedScalar y);
EmittedScalar operator<=(EmittedScalar x, EmittedScalar y);
inline EmittedScalar operator>(EmittedScalar x, EmittedScalar y) {
  return y < x;
}
inline EmittedScalar operator>=(EmittedScalar x, EmittedScalar y) {
  return y <= x;
}
EmittedScalar operator!(EmittedScalar x);
EmittedScalar operator&&(EmittedScalar x, EmittedScalar y);
EmittedScalar operator||(EmittedScalar x, EmittedScalar y);
EmittedScalar operator&(EmittedScalar x, EmittedScalar y);
EmittedScalar operator|(EmittedScalar x, EmittedScalar y);
EmittedScalar operator^(EmittedScalar x, EmittedScalar y);
EmittedScalar shiftLeft(EmittedScalar x, EmittedScalar y);
EmittedScalar shiftRight(EmittedScalar x, EmittedScalar y);
EmittedScalar arithmeticShiftRight(EmittedScalar x, EmittedScalar y);
EmittedScalar roundedMultiplyHigh(EmittedScalar x, EmittedScalar y);
EmittedScalar lookup(EmittedScalar x, llvm::ArrayRef<double> table);
EmittedScalar select(EmittedScalar c, EmittedScalar x, EmittedScalar y);
EmittedScalar max(EmittedScalar x, EmittedScalar y);
EmittedScalar min(EmittedScalar x, EmittedScalar y);

#define GLOWISH_EMITTED_LITERAL(FN)                                            \
  inline EmittedScalar FN(EmittedScalar x, double y) {                         \
    return FN(x, x.like(y));                                                   \
  }                                                                            \
  inline EmittedScalar FN(double x, EmittedScalar y) {                         \
    return FN(y.like(x), y);                                                   \
  }
GLOWISH_EMITTED_LITERAL(operator+)
GLOWISH_EMITTED_LITERAL(operator-)
GLOWISH_EMITTED_LITERAL(operator*)
GLOWISH_EMITTED_LITERAL(operator/)
GLOWISH_EMITTED_LITERAL(operator<)
GLOWISH_EMITTED_LITERAL(operator<=)
GLOWISH_EMITTED_LITERAL(operator>)
GLOWISH_EMITTED_LITERAL(operator>=)
GLOWISH_EMITTED_LITERAL(operator==)
GLOWISH_EMITTED_LITERAL(max)
GLOWISH_EMITTED_LITERAL(min)
#undef GLOWISH_EMITTED_LITERAL

#define GLOWISH_EMITTED_FUNCTION(FN)                                           \
  inline EmittedScalar FN(EmittedScalar x) {                                   \
    return x.with(vectormath::FN(*x.builder, x.value));                        \
  }
GLOWISH_EMITTED_FUNCTION(exp)
GLOWISH_EMITTED_FUNCTION(expm1)
GLOWISH_EMITTED_FUNCTION(log)
GLOWISH_EMITTED_FUNCTION(log1p)
GLOWISH_EMITTED_FUNCTION(sqrt)
GLOWISH_EMITTED_FUNCTION(floor)
GLOWISH_EMITTED_FUNCTION(ceil)
GLOWISH_EMITTED_FUNCTION(rint)
GLOWISH_EMITTED_FUNCTION(tanh)
GLOWISH_EMITTED_FUNCTION(erf)
GLOWISH_EMITTED_FUNCTION(erfc)
GLOWISH_EMITTED_FUNCTION(sin)
GLOWISH_EMITTED_FUNCTION(cos)
GLOWISH_EMITTED_FUNCTION(atan)
#undef GLOWISH_EMITTED_FUNCTION
EmittedScalar tan(EmittedScalar x);
EmittedScalar asin(EmittedScalar x);
EmittedScalar acos(EmittedScalar x);
EmittedScalar sinh(EmittedScalar x);
EmittedScalar cosh(EmittedScalar x);
EmittedScalar asinh(EmittedScalar x);
EmittedScalar acosh(EmittedScalar x);
EmittedScalar atanh(EmittedScalar x);
EmittedScalar pow(EmittedScalar x, EmittedScalar y);

/// Emits \p program on \p inputs, all of the same number of lanes, which have
/// the kinds \p kinds.
llvm::Value *emitProgram(KernelBuilder &builder, const ScalarProgram &program,
                         llvm::ArrayRef<llvm::Value *> inputs,
                         llvm::ArrayRef<ElemKind> kinds);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_EMITTEDSCALAR_H
