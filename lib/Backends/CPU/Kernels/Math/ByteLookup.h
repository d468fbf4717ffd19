//===- ByteLookup.h - Functions of bytes by tables --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_BYTELOOKUP_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_BYTELOOKUP_H

#include "Kernels/KernelBuilder.h"

namespace glowish {

/// For each byte of \p x, a vector or one byte, the number at its bits in
/// \p table, which has 256 of them.
llvm::Value *emitByteLookup(KernelBuilder &b, llvm::Value *x,
                            llvm::ArrayRef<uint8_t> table);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATH_BYTELOOKUP_H
