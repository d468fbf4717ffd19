//===- LowPrecision.h - Conversions of low precision ------------*- C++ -*-===//
//
// The formulas of glowish/Base/LowPrecision.h on whole vectors, in integer
// arithmetic: tables would take a load for each element. Values are scalars or
// vectors; elements are i8.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_LOWPRECISION_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_LOWPRECISION_H

#include "glowish/Base/LowPrecision.h"
#include "llvm/IR/IRBuilder.h"

namespace glowish {

llvm::Value *floatFromLowFloat(llvm::IRBuilder<> &b, llvm::Value *code,
                               const LowFloatFormat &format);
llvm::Value *lowFloatFromFloat(llvm::IRBuilder<> &b, llvm::Value *value,
                               const LowFloatFormat &format);

/// Doubles as floats, as lowfloat::roundToOdd.
llvm::Value *roundToOdd(llvm::IRBuilder<> &b, llvm::Value *value);

/// The low \p width bits of i8 integers, extended by their sign or zeros.
llvm::Value *keepLowBits(llvm::IRBuilder<> &b, llvm::Value *value,
                         unsigned width, bool isSigned);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_LOWPRECISION_H
