//===- Sampler.h - Pixels between pixels ------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_SAMPLER_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_SAMPLER_H

#include "ONNX/Composer.h"

namespace glowish {

/// A pixel that a sample has a share of, along one dimension: whole numbers as
/// floats, and the share; null for 1.
struct Tap {
  NodeValue index, weight;
};

/// Reads images [N, C, ...] at points that are computed: sums of pixels with
/// weights, which are gathered.
class Sampler {
public:
  /// \p batch: the image of each point, int64, broadcast to the points; null
  /// where dimension 0 of the points is the image.
  Sampler(Composer &c, NodeValue images, NodeValue batch);

  int64_t getExtent(unsigned d) const { return spatial[d]; }
  int64_t getNumChannels() const { return channels; }
  ElemKind getKind() const { return kind; }

  /// The pixel nearest to \p position in dimension \p d with \p weight if it is
  /// inside, else a weight of 0.
  Tap takeInside(NodeValue position, NodeValue weight, unsigned d);
  /// The two pixels around \p position, those outside with a weight of 0.
  std::vector<Tap> takeLinear(NodeValue position, unsigned d);

  /// The sum of all combinations of \p taps, one list a dimension. All have,
  /// broadcast, the shape \p points; the result is [points..., C].
  NodeValue sample(DimsRef points, llvm::ArrayRef<std::vector<Tap>> taps);
  /// The combinations one by one.
  std::vector<NodeValue> sampleEach(DimsRef points,
                                    llvm::ArrayRef<std::vector<Tap>> taps);

private:
  Composer &c;
  NodeValue pixels, batch; // [N * pixels, C]
  Dims spatial;
  int64_t numImages, channels;
  ElemKind kind;
};

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_SAMPLER_H
