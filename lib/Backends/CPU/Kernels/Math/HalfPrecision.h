//===- HalfPrecision.h - Conversions of half precisions ---------*- C++ -*-===//
//
// In integer arithmetic on whole vectors: where a target has no instruction
// for a conversion, LLVM would call a library for each element. Values are
// scalars or vectors; the half precisions are i16. Rounding is to nearest
// even, and what is too large for float16 becomes infinite.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_HALFPRECISION_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_HALFPRECISION_H

#include "llvm/IR/IRBuilder.h"

namespace glowish {

/// The type of \p like with elements of \p element.
inline llvm::Type *withElement(llvm::Value *like, llvm::Type *element) {
  return like->getType()->getWithNewType(element);
}

llvm::Value *floatFromBFloat16(llvm::IRBuilder<> &b, llvm::Value *bits);
llvm::Value *bfloat16FromFloat(llvm::IRBuilder<> &b, llvm::Value *value);

/// \p hasInstruction: LLVM's own conversions, which are instructions there.
llvm::Value *floatFromFloat16(llvm::IRBuilder<> &b, llvm::Value *bits,
                              bool hasInstruction);
llvm::Value *float16FromFloat(llvm::IRBuilder<> &b, llvm::Value *value,
                              bool hasInstruction);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_HALFPRECISION_H
