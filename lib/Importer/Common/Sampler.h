//===- Sampler.h - Interpolated sampling ------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_SAMPLER_H
#define GLOWISH_LIB_IMPORTER_COMMON_SAMPLER_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// A pixel index along one dimension, a whole number as a float, and its weight
/// in a sample; a null weight is 1.
struct Tap {
  NodeValue index, weight;
};

/// Samples images [N, C, ...] at computed points, as weighted sums of gathered
/// pixels.
class Sampler {
public:
  /// \p batch is the image number of each point, int64, broadcast to the
  /// points; null if dimension 0 of the points is the image.
  Sampler(NodeBuilder &b, NodeValue images, NodeValue batch);

  int64_t getExtent(unsigned d) const { return spatial[d]; }
  ElemKind getKind() const { return kind; }

  /// Returns the pixel nearest to \p position in dimension \p d with \p weight,
  /// or with weight 0 if it is outside of the image.
  Tap takeInside(NodeValue position, NodeValue weight, unsigned d);
  /// Returns the two pixels around \p position with linear weights, 0 outside
  /// of the image.
  std::vector<Tap> takeLinear(NodeValue position, unsigned d);

  /// Returns the weighted sum over all combinations of \p taps, one list per
  /// dimension. They broadcast to the shape \p points; the result is
  /// [points..., C].
  NodeValue sample(DimsRef points, llvm::ArrayRef<std::vector<Tap>> taps);
  /// Returns the terms of that sum.
  std::vector<NodeValue> sampleEach(DimsRef points,
                                    llvm::ArrayRef<std::vector<Tap>> taps);

private:
  NodeBuilder &b;
  NodeValue pixels, batch; // [N * pixels, C]
  Dims spatial;
  int64_t numImages, channels;
  ElemKind kind;
};

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_SAMPLER_H
