//===- FitMemory.h - Enforces the activation limit --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_DRIVER_FITMEMORY_H
#define GLOWISH_LIB_DRIVER_FITMEMORY_H

#include "glowish/Optimizer/Patches.h"

namespace glowish {

/// The bytes of the arena that a function, lowered, will need.
using MeasureArena =
    llvm::function_ref<llvm::Expected<uint64_t>(Function &function)>;
/// Runs the pass compute-in-patches on the function itself.
using ComputeInPatches = llvm::function_ref<llvm::Error(const PatchPlan &plan)>;

/// Rewrites \p function, which is lowered, so that it needs at most \p limit
/// bytes of activations: \p compute is asked to compute parts of it in patches,
/// with as little work more as possible. \p measure is asked for each way whose
/// schedule fits, with clones of the function. An error states how much is
/// needed at least.
llvm::Error fitMemory(Function &function, uint64_t limit, MeasureArena measure,
                      ComputeInPatches compute);

} // namespace glowish

#endif // GLOWISH_LIB_DRIVER_FITMEMORY_H
