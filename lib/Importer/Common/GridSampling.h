//===- GridSampling.h - Images sampled at a grid of points ------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_GRIDSAMPLING_H
#define GLOWISH_LIB_IMPORTER_COMMON_GRIDSAMPLING_H

#include "Common/Sampler.h"

namespace glowish {

/// How points that are between pixels, or outside of the image, are sampled.
struct GridRules {
  /// mode: linear, nearest or cubic; padding: zeros, border or reflection.
  std::string mode, padding;
  bool alignCorners;
  /// Whether mode nearest rounds a point before it is moved into the image, as
  /// in ONNX, or afterwards, as in PyTorch.
  bool roundsFirst = true;
  /// Whether NaN is the last pixel, as in volumes of PyTorch, or the first one,
  /// as in its images; so is what is infinite and reflected.
  bool isNaNLast = false;
};

/// Samples \p images [N, C, ...] at \p grid [N, ..., dimensions], coordinates
/// from -1 to 1 in reverse order of dimensions (ONNX GridSample-20): [N, C,
/// ...].
NodeValue sampleGrid(NodeBuilder &b, NodeValue images, NodeValue grid,
                     const GridRules &rules);

/// Transposes [N, ..., C] to [N, C, ...].
NodeValue moveChannelsFirst(NodeBuilder &b, NodeValue value);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_GRIDSAMPLING_H
