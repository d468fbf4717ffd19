//===- ResizeSource.h - Where the pixels of a Resize come from --*- C++ -*-===//

#ifndef GLOWISH_OPS_RESIZESOURCE_H
#define GLOWISH_OPS_RESIZESOURCE_H

#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cmath>

namespace glowish {

/// One dimension of a Resize: its attributes, and the extents.
struct ResizeDim {
  llvm::StringRef mode, coordinates, nearestMode;
  int64_t from = 0, to = 0;
  double scale = 1;
};

/// The two neighbours of a position of the result, and the weight of the
/// second; in mode nearest the first alone counts.
struct ResizeSource {
  int64_t low = 0, high = 0;
  double weight = 0;
};

/// Where position \p out lies along the input, before it is rounded.
inline double getResizeCoordinate(const ResizeDim &dim, int64_t out) {
  if (dim.coordinates == "asymmetric")
    return double(out) / dim.scale;
  if (dim.coordinates == "align_corners")
    return dim.to == 1
               ? 0.0
               : double(out) * double(dim.from - 1) / double(dim.to - 1);
  if (dim.coordinates == "pytorch_half_pixel" && dim.to == 1)
    return 0.0;
  return (double(out) + 0.5) / dim.scale - 0.5;
}

inline double roundResizeCoordinate(llvm::StringRef mode, double source) {
  if (mode == "floor")
    return std::floor(source);
  if (mode == "ceil")
    return std::ceil(source);
  return mode == "round_prefer_floor" ? std::ceil(source - 0.5)
                                      : std::floor(source + 0.5);
}

inline ResizeSource getResizeSource(const ResizeDim &dim, int64_t out) {
  double source = getResizeCoordinate(dim, out);
  if (dim.mode == "nearest")
    source = roundResizeCoordinate(dim.nearestMode, source);
  source = std::clamp(source, 0.0, double(dim.from - 1));
  auto low = int64_t(source);
  return {low, std::min(low + 1, dim.from - 1), source - double(low)};
}

} // namespace glowish

#endif // GLOWISH_OPS_RESIZESOURCE_H
