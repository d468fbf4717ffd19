//===- Axes.h - Numbers of dimensions ---------------------------*- C++ -*-===//

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

/// Returns \p first ... \p rank - 1.
std::vector<int64_t> getDimsFrom(int64_t first, unsigned rank);
/// Returns 0 ... \p rank - 1.
std::vector<int64_t> getAllDims(unsigned rank);
/// Returns the permutation that moves dimension \p from of \p rank to place
/// \p to; the others stay in their order.
std::vector<int64_t> getMovedDims(unsigned rank, int64_t from, int64_t to);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_AXES_H
