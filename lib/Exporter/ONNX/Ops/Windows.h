//===- Windows.h - Windows over images, written out ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_ONNX_OPS_WINDOWS_H
#define GLOWISH_LIB_EXPORTER_ONNX_OPS_WINDOWS_H

#include "ONNX/GraphWriter.h"

namespace glowish {

/// The orders of the dimensions of images: w.get(images, toNchw) is what ONNX's
/// operators take, and their results have the layout fromNchw.
extern const Layout toNchw, fromNchw;

/// Windows that slide over images; attributes of nodes.
struct OnnxWindows {
  llvm::ArrayRef<int64_t> kernels, strides, pads, dilations;

  template <typename T> static OnnxWindows of(const T &node) {
    return {node.getKernels(), node.getStrides(), node.getPads(),
            node.getDilations()};
  }
  int64_t getNumTaps() const { return kernels[0] * kernels[1]; }
};

/// Attributes `kernel_shape`, `strides`, `pads` and, unless a pooling has none
/// of them, `dilations`.
OnnxAttrs getWindowAttrs(const OnnxWindows &windows, bool haveDilations = true);

/// One value for each element of a window, row by row: what the windows have
/// there of the NHWC images \p input, padded with \p filler, [N, \p height, \p
/// width, C].
OnnxValues takeTaps(GraphWriter &w, NodeValue input, const OnnxWindows &windows,
                    int64_t height, int64_t width, double filler);

/// How many elements of each window lie in an image of \p size, height and
/// width, or in it and its padding: [1, OH, OW, 1] of \p kind.
Tensor countInside(const OnnxWindows &windows, DimsRef size, DimsRef resultSize,
                   bool countPads, ElemKind kind);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_ONNX_OPS_WINDOWS_H
