//===- SlidingWindow.h - Windows of convolutions and poolings ---*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_ONNX_OPS_SLIDINGWINDOW_H
#define GLOWISH_LIB_EXPORTER_ONNX_OPS_SLIDINGWINDOW_H

#include "ONNX/GraphWriter.h"

namespace glowish {

/// Permutations between the graph's and ONNX's order of image dimensions:
/// w.get(images, toNchw) is an operand, fromNchw the layout of a result.
extern const Layout toNchw, fromNchw;

/// The sliding window of a convolution or pooling.
struct OnnxWindows {
  llvm::ArrayRef<int64_t> kernels, strides, pads, dilations;

  template <typename T> static OnnxWindows of(const T &node) {
    return {node.getKernels(), node.getStrides(), node.getPads(),
            node.getDilations()};
  }
  int64_t getNumTaps() const { return kernels[0] * kernels[1]; }
};

/// Returns the attributes `kernel_shape`, `strides`, `pads` and, if
/// \p haveDilations, `dilations`.
OnnxAttrs getWindowAttrs(const OnnxWindows &windows, bool haveDilations = true);

/// Returns one value [N, \p height, \p width, C] per element of the window, in
/// row-major order: a strided slice of the NHWC images \p input, padded with
/// \p filler.
OnnxValues takeTaps(GraphWriter &w, NodeValue input, const OnnxWindows &windows,
                    int64_t height, int64_t width, double filler);

/// Counts the elements of each window inside an image of \p size (height and
/// width), or inside it and its padding: [1, OH, OW, 1] of \p kind.
Tensor countInside(const OnnxWindows &windows, DimsRef size, DimsRef resultSize,
                   bool countPads, ElemKind kind);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_ONNX_OPS_SLIDINGWINDOW_H
