//===- MemoryPlan.h - The memory of every buffer ----------------*- C++ -*-===//

#ifndef GLOWISH_IR_MEMORYPLAN_H
#define GLOWISH_IR_MEMORYPLAN_H

#include "glowish/IR/AccessEstimate.h"
#include "glowish/IR/Instrs.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace glowish {

/// A part of the arena that is in a memory of its own.
struct ArenaRegion {
  std::string name;
  /// From where on it has the offsets of the arena; a multiple of the plan's
  /// alignment.
  uint64_t start = 0;
  uint64_t size = 0;
  /// The loads and stores of a run there, by AccessEstimate.
  double accesses = 0;

  uint64_t getEnd() const { return start + size; }
};

/// The number of a region of the arena, and an offset from its start.
struct ArenaPlace {
  unsigned region = 0;
  uint64_t offset = 0;
};

/// The most bytes of a region of the arena.
struct RegionLimit {
  std::string name;
  uint64_t bytes = 0;
};

/// The offsets, in bytes, of all buffers but views in their regions:
/// constants in the constant region, mutable weights in the mutable region (in
/// the model's order) or in the arena, activations in the arena. One plan
/// serves interpreter, JIT and bundle. It has the buffers of bodies, too: their
/// activations are in the arena, at a place that is free while the instruction
/// runs. The parameters and results of a body are bound when it runs, except
/// for those that a loop stores itself (getLoopStorage), which are in the
/// arena.
struct MemoryPlan {
  static constexpr uint64_t defaultAlignment = 64;

  llvm::DenseMap<const Buffer *, uint64_t> offsets;
  /// The inputs and outputs that are in the arena: a run destroys the inputs.
  llvm::DenseSet<const Buffer *> arenaPlaceholders;
  uint64_t constantSize = 0;
  uint64_t mutableSize = 0;
  uint64_t activationSize = 0;
  /// The memories that the arena is divided into, one behind the other, none of
  /// whose borders a buffer crosses. Empty where the arena is one memory.
  std::vector<ArenaRegion> arenaRegions;
  uint64_t alignment = defaultAlignment;
  /// The largest sum of bytes in the arena that live at the same time: no arena
  /// can be smaller for this order of instructions.
  uint64_t peakLiveBytes = 0;

  uint64_t getOffset(const Buffer *buffer) const {
    return offsets.lookup(buffer);
  }
  /// Whether \p root, which no body has as a parameter or result, is in the
  /// arena.
  bool isInArena(const Buffer *root) const {
    return root->getKind() == Buffer::Kind::Activation ||
           arenaPlaceholders.contains(root);
  }
  /// Of \p root, which is in the arena; of one memory, region 0 is all of it.
  ArenaPlace getArenaPlace(const Buffer *root) const;
  /// The part of the accesses to the arena that go to region \p number.
  double getAccessShare(unsigned number) const;
  /// peakLiveBytes / activationSize; 1 when there are no activations.
  double getEfficiency() const;
};

/// Options of planMemory.
struct PlanOptions {
  uint64_t alignment = MemoryPlan::defaultAlignment;
  /// Inputs and outputs are in the arena while they live (PlaceholderLiveness),
  /// and in no region of their own.
  bool placesIOInArena = false;
  /// The regions that the arena is divided into, the fastest first; none: it is
  /// one. What is accessed most, by its size, goes into the first ones. What
  /// does not fit there is in the last one, however large that becomes.
  std::vector<RegionLimit> arenaRegions = {};
  /// How often operands are accessed: what is defined, or what the back end
  /// says.
  CountAccessesFn countAccesses = glowish::countAccesses;
};

/// The parameters and results of \p loop's body that are no operands of the
/// loop: number and condition, the next condition and the next states.
llvm::SmallVector<const Buffer *, 8> getLoopStorage(const LoopInstr &loop);

/// Places all buffers of \p function and its bodies. Constants that share a
/// payload share a place. Deterministic.
MemoryPlan planMemory(const IRFunction &function,
                      const PlanOptions &options = {});

/// Writes the elements of \p constant to \p region, at \p offset.
void placeConstant(const Tensor &constant, Tensor &region, uint64_t offset);

/// The bytes of the constant region, that is, the weights of a bundle: every
/// constant at its offset, zeros between them.
Tensor makeConstantRegion(const IRFunction &function, const MemoryPlan &plan);

} // namespace glowish

#endif // GLOWISH_IR_MEMORYPLAN_H
