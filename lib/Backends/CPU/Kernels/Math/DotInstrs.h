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

/// \p sum, an int32, plus the products of the int8 lanes of \p x and \p y: 4, 8
/// or 16. Of targets with hasDotReduction. Wraps.
llvm::Value *emitDotReduction(KernelBuilder &b, llvm::Value *sum,
                              llvm::Value *x, llvm::Value *y);

//===- Pairs of int16 in a register of 32 bits
//-----------------------------===//
//
// Of targets with hasDualMultiply.

/// Bytes 0 and 2 of \p word as a pair of int16, plus the pair \p added, which
/// may be null for zeros.
llvm::Value *emitWidenedPair(KernelBuilder &b, llvm::Value *word, bool isSigned,
                             llvm::Value *added = nullptr);
/// \p word rotated to the right.
llvm::Value *emitRotated(KernelBuilder &b, llvm::Value *word, unsigned bits);
/// \p sum plus the products of the pairs \p x and \p y. Wraps.
llvm::Value *emitDualMultiplyAdd(KernelBuilder &b, llvm::Value *sum,
                                 llvm::Value *x, llvm::Value *y);
/// \p sum plus the product of one element of the pair \p x, the lower or the
/// upper one, and one of the pair \p y. Wraps.
llvm::Value *emitHalfMultiplyAdd(KernelBuilder &b, llvm::Value *sum,
                                 llvm::Value *x, bool isUpperX, llvm::Value *y,
                                 bool isUpperY);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_DOTINSTRS_H
