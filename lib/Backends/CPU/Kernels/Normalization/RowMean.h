//===- RowMean.h - Means of rows --------------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_NORMALIZATION_ROWMEAN_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_NORMALIZATION_ROWMEAN_H

#include "Kernels/KernelBuilder.h"

namespace glowish {

/// The mean of \p term(first element, lanes) over a row of \p length elements,
/// computed for elements of \p kind.
llvm::Value *
emitRowMean(KernelBuilder &b, ElemKind kind, int64_t length,
            llvm::function_ref<llvm::Value *(llvm::Value *, unsigned)> term);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_NORMALIZATION_ROWMEAN_H
