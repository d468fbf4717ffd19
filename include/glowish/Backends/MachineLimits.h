//===- MachineLimits.h - What the cores in use can do at most ---*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_MACHINELIMITS_H
#define GLOWISH_BACKENDS_MACHINELIMITS_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace glowish {

/// A cache, or memory.
struct MemoryLevel {
  /// Of all the caches of this level that the cores in use have; of memory 0.
  uint64_t bytes = 0;
  /// Bytes a second that these cores read from it, all at the same time.
  double readRate = 0;
};

/// The axes of a roofline model (Williams, Waterman and Patterson, Roofline: An
/// Insightful Visual Performance Model, 2009).
struct MachineLimits {
  /// Floating-point operations a second.
  double peakRate = 0;
  /// The caches, the smallest first, and memory.
  llvm::SmallVector<MemoryLevel, 4> levels;

  llvm::SmallVector<uint64_t, 4> getCaches() const {
    llvm::SmallVector<uint64_t, 4> caches;
    for (const MemoryLevel &level : levels)
      if (level.bytes)
        caches.push_back(level.bytes);
    return caches;
  }
};

} // namespace glowish

#endif // GLOWISH_BACKENDS_MACHINELIMITS_H
