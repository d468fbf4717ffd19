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
/// bytes of activations, by computing parts of it in patches (\p compute) with
/// as little additional work as possible. Calls \p measure with a clone of the
/// function for each patch plan whose schedule fits. The error states the least
/// number of bytes.
llvm::Error fitMemory(Function &function, uint64_t limit, MeasureArena measure,
                      ComputeInPatches compute);

} // namespace glowish

#endif // GLOWISH_LIB_DRIVER_FITMEMORY_H
