//===- DotInstrs.h - Dot products of small integers -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_DOTINSTRS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_DOTINSTRS_H

#include "Kernels/KernelBuilder.h"

namespace glowish {

/// \p sums, a register of int32 or float, plus the dot products of as many
/// elements as a lane of \p x and \p weights has by \p dot, which the target
/// has: not None. Integers are exact, and their sums wrap.
llvm::Value *emitDot(KernelBuilder &b, DotInstr dot, llvm::Value *sums,
                     llvm::Value *x, llvm::Value *weights);

/// \p sums, int32 lanes, plus the product of \p x and \p y, whose lanes are
/// numbers that fit int16. Exact; sums wrap.
llvm::Value *emitSmallMultiplyAdd(KernelBuilder &b, llvm::Value *sums,
                                  llvm::Value *x, llvm::Value *y);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_DOTINSTRS_H
