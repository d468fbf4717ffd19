//===- SlidingWindow.h - Sliding windows over images ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_SLIDINGWINDOW_H
#define GLOWISH_LIB_IMPORTER_TFLITE_SLIDINGWINDOW_H

#include "TFLite/TFLiteOp.h"

namespace glowish::tflite {

/// The attributes of convolutions and pools; pairs are [height, width].
struct TFLiteWindow {
  std::vector<int64_t> kernels, strides, dilations = {1, 1};
  /// [top, left, bottom, right].
  std::vector<int64_t> pads = {0, 0, 0, 0};
  /// The extents of the result.
  std::vector<int64_t> sizes = {0, 0};

  bool hasPads() const;
};

/// Sets pads and sizes of \p window over images [N, H, W, C] of \p shape, or
/// returns an error for numbers that are not positive.
llvm::Error placeWindow(TFLiteWindow &window, DimsRef shape,
                        schema::Padding padding);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_SLIDINGWINDOW_H
