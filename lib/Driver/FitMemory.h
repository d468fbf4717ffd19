//===- FitMemory.h - Enforces the activation limit --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_DRIVER_FITMEMORY_H
#define GLOWISH_LIB_DRIVER_FITMEMORY_H

#include "glowish/IR/MemoryPlan.h"
#include "glowish/Optimizer/Patches.h"

namespace glowish {

/// How much memory there is for activations.
struct ActivationLimits {
  std::optional<uint64_t> bytes;
  /// PlanOptions::arenaRegions.
  llvm::ArrayRef<RegionLimit> regions;

  bool isNone() const { return !bytes && regions.empty(); }
};

/// Returns the bytes that \p limits allow in all.
uint64_t getTotal(const ActivationLimits &limits);

/// The bytes of the arena that \p plan needs; of a plan that does not fit into
/// the regions more than all \p limits allow.
uint64_t measureNeed(const MemoryPlan &plan, const ActivationLimits &limits);

/// The error says what \p plan needs more than \p limits.
llvm::Error checkLimits(const MemoryPlan &plan, const ActivationLimits &limits);

/// measureNeed() of a function that is lowered.
using MeasureArena =
    llvm::function_ref<llvm::Expected<uint64_t>(Function &function)>;
/// Runs the pass compute-in-patches on the function itself.
using ComputeInPatches = llvm::function_ref<llvm::Error(const PatchPlan &plan)>;

/// Rewrites \p function, which is lowered, so that it needs no more activations
/// than \p limits, by computing parts of it in patches (\p compute) with as
/// little additional work as possible. Calls \p measure with a clone of the
/// function for each patch plan whose schedule fits. The error states the least
/// number of bytes. What does not fit into regions is left to checkLimits,
/// which names the region.
llvm::Error fitMemory(Function &function, const ActivationLimits &limits,
                      MeasureArena measure, ComputeInPatches compute);

} // namespace glowish

#endif // GLOWISH_LIB_DRIVER_FITMEMORY_H
