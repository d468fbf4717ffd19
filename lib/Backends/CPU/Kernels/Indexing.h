//===- Indexing.h - Scatters and sorted indices -----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_INDEXING_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_INDEXING_H

#include "Kernels.h"

namespace glowish {

/// \p pointers: result, input, indices, updates.
void emitScatter(KernelBuilder &b, const ScatterInstr &instr,
                 llvm::ArrayRef<llvm::Value *> pointers);
/// Keeps the best so far, sorted where few are asked for, else in a heap, which
/// is sorted in the end.
void emitTopK(KernelBuilder &b, const TopKInstr &instr, llvm::Value *result,
              llvm::Value *input);
/// \p pointers: result, boxes, candidates, threshold.
void emitNonMaxSuppression(KernelBuilder &b,
                           const NonMaxSuppressionInstr &instr,
                           llvm::ArrayRef<llvm::Value *> pointers);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_INDEXING_H
