//===- IntegerPower.h - Powers of integers ----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_INTEGERPOWER_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_INTEGERPOWER_H

#include "Kernels/KernelBuilder.h"

namespace glowish {

/// Emits \p x to the power \p y, integers or vectors of them, by
/// multiplications, which wrap. Where \p y is negative, 1 / x^-y, truncated
/// towards 0, and 0 for x = 0.
llvm::Value *emitIntegerPower(KernelBuilder &b, llvm::Value *x, llvm::Value *y,
                              bool isSigned);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_INTEGERPOWER_H
