//===- MemoryPlan.h - Where every buffer lives ----------------*- C++ -*-===//

#ifndef GLOWISH_IR_MEMORYPLAN_H
#define GLOWISH_IR_MEMORYPLAN_H

#include "glowish/IR/IR.h"
#include "llvm/ADT/DenseMap.h"

namespace glowish {

/// The offsets, in bytes, of all buffers but views in their regions:
/// constants in the constant region, mutable weights in the mutable region (in
/// the model's order), activations in the arena. One plan serves the
/// interpreter, the JIT and the bundle.
struct MemoryPlan {
  static constexpr uint64_t defaultAlignment = 64;

  llvm::DenseMap<const Buffer *, uint64_t> offsets;
  uint64_t constantSize = 0;
  uint64_t mutableSize = 0;
  uint64_t activationSize = 0;
  uint64_t alignment = defaultAlignment;
  /// The largest sum of bytes of activations that live at the same time: no
  /// arena can be smaller for this order of instructions.
  uint64_t peakLiveBytes = 0;

  uint64_t getOffset(const Buffer *buffer) const {
    return offsets.lookup(buffer);
  }
  /// peakLiveBytes / activationSize; 1 when there are no activations.
  double getEfficiency() const;
};

/// Places all buffers of \p function. Deterministic.
MemoryPlan planMemory(const IRFunction &function,
                      uint64_t alignment = MemoryPlan::defaultAlignment);

/// The bytes of the constant region: every constant at its offset, zeros
/// between them. What a bundle has as its weights.
Tensor makeConstantRegion(const IRFunction &function, const MemoryPlan &plan);

/// Replays the life of every activation over the arena and reports two that
/// overlap in time and place: a bug of planMemory.
llvm::Error verifyPlan(const IRFunction &function, const MemoryPlan &plan);

} // namespace glowish

#endif // GLOWISH_IR_MEMORYPLAN_H
