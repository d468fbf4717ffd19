//===- ActivationLimit.h - No more memory than a person has -----*- C++ -*-===//

#ifndef GLOWISH_LIB_DRIVER_ACTIVATIONLIMIT_H
#define GLOWISH_LIB_DRIVER_ACTIVATIONLIMIT_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// The bytes of the arena that a function, lowered, will need.
using MeasureArena =
    llvm::function_ref<llvm::Expected<uint64_t>(Function &function)>;

/// Rewrites \p function, which is lowered, so that it needs at most \p limit
/// bytes of activations: parts of it are computed in patches
/// (Optimizer/Patches.h), with as little work more as possible. \p measure is
/// asked for each way whose schedule fits. An error states how much is needed
/// at least.
llvm::Error fitActivations(Function &function, uint64_t limit,
                           MeasureArena measure);

} // namespace glowish

#endif // GLOWISH_LIB_DRIVER_ACTIVATIONLIMIT_H
