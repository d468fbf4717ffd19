//===- Axes.h - Dimensions counted from either end --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_AXES_H
#define GLOWISH_LIB_IMPORTER_COMMON_AXES_H

#include "llvm/Support/Error.h"
#include <vector>

namespace glowish {

/// Dimension \p axis of a tensor of \p rank, counted from 0; an error when
/// there is none.
llvm::Expected<int64_t> normalizeAxis(int64_t axis, unsigned rank);
/// The same of each, ascending, without repetitions.
llvm::Expected<std::vector<int64_t>> normalizeAxes(std::vector<int64_t> axes,
                                                   unsigned rank);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_AXES_H
