//===- Images.h - Images and sliding windows --------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_IMAGES_H
#define GLOWISH_LIB_IMPORTER_ONNX_IMAGES_H

#include "Common/SlidingWindows.h"
#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// Images with one or two spatial dimensions: [N, C, W] or [N, C, H, W] in the
/// model, always [N, H, W, C] in the graph.
struct Images {
  NodeValue value; // [N, H, W, C]
  bool isOneDimensional = false;

  int64_t getHeight() const { return value.getShape()[1]; }
  int64_t getWidth() const { return value.getShape()[2]; }
};

/// Returns input \p index, an activation or a filter, in the graph's layout.
llvm::Expected<Images> readImages(OpContext &op, unsigned index);

/// Returns the means over windows of \p images with the attributes of
/// AveragePool.
llvm::Expected<Images> averageImages(OpContext &op, Images images);

/// Sets output 0 to \p value, images of the graph, in the model's layout.
llvm::Error setImages(OpContext &op, NodeValue value, bool isOneDimensional);

/// Reads attribute \p name, a list of \p length numbers from \p least to
/// maxWindowValue; the default is \p filler for each.
llvm::Expected<std::vector<int64_t>>
readWindowInts(const OpContext &op, llvm::StringRef name, size_t length,
               int64_t filler, int64_t least);

/// Reads the attribute `auto_pad`, which is NOTSET by default.
llvm::Expected<std::string> readAutoPad(const OpContext &op);

/// Returns an error unless \p kernels, the extents of a filter, are positive
/// and those of the attribute `kernel_shape`, if it is present.
llvm::Error checkKernelShape(const OpContext &op, DimsRef kernels);

/// The window of a transposed convolution; over other than two dimensions all
/// lists have an entry for each, and pads are all begins, then all ends.
struct TransposedWindow : ImageWindow {
  /// [bottom, right]: rows and columns appended to the result.
  std::vector<int64_t> outputPads = {0, 0};
};

/// Reads the window of a transposed convolution over dimensions of the extents
/// \p spatial with a filter of \p kernels, with auto_pad, output_padding and
/// output_shape resolved.
llvm::Expected<TransposedWindow>
readTransposedWindow(const OpContext &op, DimsRef spatial, DimsRef kernels);
/// Does that for images of \p input, in two dimensions.
llvm::Expected<TransposedWindow> readTransposedWindow(const OpContext &op,
                                                      const Images &input,
                                                      const Images &filter);

/// Reads the window of a convolution of \p input with \p filter, or of a
/// pooling (\p filter is null), with auto_pad and ceil_mode resolved.
llvm::Expected<ImageWindow> readWindow(const OpContext &op, const Images &input,
                                       const Images *filter);

/// Builds the convolution of \p input with \p filter and \p bias (may be null)
/// with the attributes of Conv.
llvm::Expected<Images> makeConvolution(OpContext &op, Images input,
                                       const Images &filter, NodeValue bias);
/// Like makeConvolution(), of inputs 0, 1 and 2.
llvm::Expected<Images> makeConvolution(OpContext &op);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_IMAGES_H
