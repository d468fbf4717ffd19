//===- Interpolation.h - Resizing as a product with a matrix ----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_INTERPOLATION_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_INTERPOLATION_H

#include "ONNX/Composer.h"

namespace glowish {

/// Where a pixel of the result lies in the input, and how it is made of the
/// pixels there: the attributes of ONNX's Resize.
struct Sampling {
  std::string mode, coordinates, rounding;
  double cubicCoefficient = -0.75;
  bool antialias = false, excludeOutside = false;
  double extrapolation = 0;
};

/// One dimension that is resized.
struct ResizedDim {
  int64_t axis, from, to;
  double scale;
  /// The part of the input that tf_crop_and_resize takes, from 0 to 1.
  double start = 0, end = 1;
};

/// \p value resized along \p dims, one after the other: each is a product with
/// a matrix of shares, or, with mode nearest, a gather.
NodeValue interpolate(Composer &c, NodeValue value,
                      llvm::ArrayRef<ResizedDim> dims,
                      const Sampling &sampling);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_INTERPOLATION_H
