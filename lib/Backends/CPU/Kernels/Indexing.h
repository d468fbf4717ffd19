//===- Indexing.h - Scatters and sorted indices -----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_INDEXING_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_INDEXING_H

#include "Kernels.h"

namespace glowish {

/// \p pointers: result, input, indices, updates.
void emitScatter(KernelBuilder &b, const ScatterInstr &instr,
                 llvm::ArrayRef<llvm::Value *> pointers);
/// Keeps a sorted list of the best so far: linear where few are asked for.
void emitTopK(KernelBuilder &b, const TopKInstr &instr, llvm::Value *result,
              llvm::Value *input);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_INDEXING_H
