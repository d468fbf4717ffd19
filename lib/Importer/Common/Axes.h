//===- Axes.h - Normalization of axis numbers -------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_AXES_H
#define GLOWISH_LIB_IMPORTER_COMMON_AXES_H

#include "llvm/Support/Error.h"
#include <vector>

namespace glowish {

/// Converts \p axis, which may count from the end of \p rank dimensions, to 0
/// ... rank - 1, or returns an error if it is out of range.
llvm::Expected<int64_t> normalizeAxis(int64_t axis, unsigned rank);
/// Normalizes all \p axes, sorts them and removes duplicates.
llvm::Expected<std::vector<int64_t>> normalizeAxes(std::vector<int64_t> axes,
                                                   unsigned rank);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_AXES_H
