//===- SlidingWindow.h - Windows of convolutions and poolings ---*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_ONNX_OPS_SLIDINGWINDOW_H
#define GLOWISH_LIB_EXPORTER_ONNX_OPS_SLIDINGWINDOW_H

#include "ImageWindows.h"
#include "ONNX/GraphWriter.h"

namespace glowish {

/// Permutations between the graph's and ONNX's order of image dimensions:
/// w.get(images, toNchw) is an operand, fromNchw the layout of a result.
extern const Layout toNchw, fromNchw;

/// Returns the attributes `kernel_shape`, `strides`, `pads` and, if
/// \p haveDilations, `dilations`.
OnnxAttrs getWindowAttrs(const Windows &windows, bool haveDilations = true);

/// Returns one value [N, \p height, \p width, C] per element of the window, in
/// row-major order: a strided slice of the NHWC images \p input, padded with
/// \p filler.
OnnxValues takeTaps(GraphWriter &w, NodeValue input, const Windows &windows,
                    int64_t height, int64_t width, double filler);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_ONNX_OPS_SLIDINGWINDOW_H
