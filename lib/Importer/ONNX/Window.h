//===- Window.h - Attributes of sliding windows ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_WINDOW_H
#define GLOWISH_LIB_IMPORTER_ONNX_WINDOW_H

#include "ONNX/OpContext.h"

namespace glowish {

/// Kernel, strides, pads and dilations of a convolution or pooling over two
/// dimensions, checked, with auto_pad and ceil_mode worked out. Pads are
/// [top, left, bottom, right].
struct Window {
  std::vector<int64_t> kernels, strides, pads, dilations;
  /// ceil_mode made the last windows reach beyond the padding.
  bool reachesBeyondPads = false;
};

/// \p spatial: height and width of the input. \p kernels: those of the
/// operator's filter, or its attribute kernel_shape.
llvm::Expected<Window> readWindow(const OpContext &op, DimsRef spatial,
                                  std::vector<int64_t> kernels);

/// A value of shape [N, C, W] as [N, C, 1, W]; others as they are. The graph
/// has two spatial dimensions.
llvm::Expected<NodeValue> widenToImage(OpContext &op, NodeValue value);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_WINDOW_H
