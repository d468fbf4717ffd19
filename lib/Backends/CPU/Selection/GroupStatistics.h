//===- GroupStatistics.h - Group normalizations in two steps ----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_GROUPSTATISTICS_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_GROUPSTATISTICS_H

#include "glowish/Backends/CPU/TargetDescription.h"
#include "glowish/IR/Instrs.h"

namespace glowish {

/// Replaces group normalizations by two steps, each of which divides the
/// pixels, where images and channels alone make too few tasks for threads.
/// Returns whether it changed something.
bool prepareGroupNormalizations(IRFunction &function,
                                const TargetDescription &target);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_GROUPSTATISTICS_H
