//===- Images.h - Images and sliding windows ------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_IMAGES_H
#define GLOWISH_LIB_IMPORTER_ONNX_IMAGES_H

#include "ONNX/OpContext.h"

namespace glowish {

/// Images of one or two spatial dimensions: [N, C, W] or [N, C, H, W] in the
/// model, always [N, H, W, C] in the graph.
struct Images {
  NodeValue value; // [N, H, W, C]
  bool isOneDimensional = false;

  int64_t getHeight() const { return value.getShape()[1]; }
  int64_t getWidth() const { return value.getShape()[2]; }
};

/// Input \p index, an activation or a filter, as images of the graph.
llvm::Expected<Images> readImages(OpContext &op, unsigned index);

/// Output 0 is \p value, images of the graph, in the model's layout.
llvm::Error setImages(OpContext &op, NodeValue value, bool isOneDimensional);

/// Attributes of windows larger than this are nonsense, and could overflow.
constexpr int64_t maxWindowValue = int64_t(1) << 31;

/// Attribute \p name, a list of \p length numbers from \p least to
/// maxWindowValue; without it \p filler each.
llvm::Expected<std::vector<int64_t>>
readWindowInts(const OpContext &op, llvm::StringRef name, size_t length,
               int64_t filler, int64_t least);

/// Kernel, strides, pads and dilations of a convolution or pooling over two
/// dimensions, checked, with auto_pad and ceil_mode worked out. Pads are
/// [top, left, bottom, right].
struct Window {
  std::vector<int64_t> kernels, strides, pads, dilations;
  /// [bottom, right]: what ceil_mode added to the pads.
  std::vector<int64_t> beyondPads = {0, 0};
};

/// The window of a transposed convolution.
struct TransposedWindow : Window {
  /// [bottom, right]: what the result is larger by.
  std::vector<int64_t> outputPads = {0, 0};
};

/// The window of a transposed convolution of \p input with \p filter, with
/// auto_pad, output_padding and output_shape worked out.
llvm::Expected<TransposedWindow> readTransposedWindow(const OpContext &op,
                                                      const Images &input,
                                                      const Images &filter);

/// The window of a convolution of \p input with \p filter, or of a pooling
/// (null).
llvm::Expected<Window> readWindow(const OpContext &op, const Images &input,
                                  const Images *filter);

/// The convolution of \p input with \p filter and \p bias, which may be null,
/// with the attributes of Conv.
llvm::Expected<Images> makeConvolution(OpContext &op, Images input,
                                       const Images &filter, NodeValue bias);
/// The same of inputs 0, 1 and 2.
llvm::Expected<Images> makeConvolution(OpContext &op);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_IMAGES_H
