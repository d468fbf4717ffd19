//===- Division.h - Dividing work among tasks -------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_DIVISION_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_DIVISION_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MathExtras.h"

namespace glowish {

/// Calls \p fn with the numbers of parts, from 1 on, into which \p count
/// elements can be divided so that each part but the last has as many: of
/// numbers that give parts of the same size the first, some 2 sqrt(count) in
/// all. None if \p count is 0.
inline void forEachDivision(int64_t count,
                            llvm::function_ref<void(int64_t)> fn) {
  int64_t size = count + 1;
  while (size > 1) {
    int64_t parts = llvm::divideCeilSigned(count, size - 1);
    fn(parts);
    size = llvm::divideCeilSigned(count, parts);
  }
}

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_DIVISION_H
