//===- BroadcastShapes.h - Operands beside reshaped values ------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_UTIL_BROADCASTSHAPES_H
#define GLOWISH_LIB_OPTIMIZER_UTIL_BROADCASTSHAPES_H

#include "glowish/Base/Type.h"
#include <optional>

namespace glowish {

/// The shape that a value of shape \p value, which broadcasts to \p outer, has
/// where elements of \p outer are reshaped to \p inner; none where there is no
/// such shape. It has as many dimensions as \p inner. Neither has a zero.
std::optional<Dims> reshapeBroadcast(DimsRef value, DimsRef outer,
                                     DimsRef inner);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_UTIL_BROADCASTSHAPES_H
