//===- Interpolation.h - Resizing as matrix multiplication ------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_INTERPOLATION_H
#define GLOWISH_LIB_IMPORTER_COMMON_INTERPOLATION_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// The attributes of ONNX's Resize that determine input coordinates and
/// weights.
struct Sampling {
  std::string mode, coordinates, rounding;
  double cubicCoefficient = -0.75;
  bool antialias = false, excludeOutside = false;
  double extrapolation = 0;
};

/// A dimension that is resized.
struct ResizedDim {
  int64_t axis, from, to;
  double scale;
  /// The range of the input that tf_crop_and_resize takes, from 0 to 1.
  double start = 0, end = 1;
};

/// Resizes \p value along \p dims, one after the other, each by a matmul with a
/// matrix of weights, or by a gather in mode nearest.
NodeValue interpolate(NodeBuilder &b, NodeValue value,
                      llvm::ArrayRef<ResizedDim> dims,
                      const Sampling &sampling);

/// Scales and extents of all dimensions of the result.
struct Scaling {
  std::vector<double> scales;
  std::vector<int64_t> sizes;
};

/// Whether one Resize node does it.
bool isResizable(const Sampling &sampling, const Scaling &scaling,
                 DimsRef shape);

/// Resizes \p input, by one Resize node if that can do it, else by
/// interpolate(). An error if an extent is 0, there are no dimensions, or a run
/// decides the extent of one that interpolate() resizes.
llvm::Expected<NodeValue> makeResize(NodeBuilder &b, NodeValue input,
                                     Scaling scaling, const Sampling &sampling);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_INTERPOLATION_H
