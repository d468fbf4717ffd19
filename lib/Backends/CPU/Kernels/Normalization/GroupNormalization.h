//===- GroupNormalization.h - Parts of group normalizations -----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_NORMALIZATION_GROUPNORMALIZATION_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_NORMALIZATION_GROUPNORMALIZATION_H

#include "glowish/Backends/CPU/TargetDescription.h"
#include "glowish/Base/Type.h"

namespace glowish {

/// Whether a task's statistics fit on the stack where a group has \p
/// groupChannels channels.
bool fitsGroupNormalization(int64_t groupChannels, ElemKind kind,
                            const TargetDescription &target);
/// The dimension of images of \p shape whose parts CPUGroupStatistics computes
/// statistics of: the longest one between image and channels, or the first of
/// these.
unsigned getPartDimension(DimsRef shape);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_NORMALIZATION_GROUPNORMALIZATION_H
