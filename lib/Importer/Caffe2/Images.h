//===- Images.h - Images and windows of Caffe2 ------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_IMAGES_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_IMAGES_H

#include "Caffe2/NetOp.h"
#include "Common/SlidingWindows.h"

namespace glowish::caffe2 {

/// Converts images or filters between [N, C, H, W], or [N, H, W, C] if
/// \p isNHWC, and the graph's [N, H, W, C].
NodeValue toNHWC(NetOp &op, NodeValue value, bool isNHWC);
NodeValue fromNHWC(NetOp &op, NodeValue value, bool isNHWC);

/// Reads a value for each spatial dimension: the argument \p name for both,
/// name_h and name_w, or the list \p plural. The default is \p filler; values
/// must be \p minimum to maxWindowValue.
llvm::Expected<std::vector<int64_t>> readPair(NetOp &op, llvm::StringRef name,
                                              llvm::StringRef plural,
                                              int64_t filler, int64_t minimum);

/// Reads the arguments kernel, stride, pad and dilation.
llvm::Expected<ImageWindow> readPlainWindow(NetOp &op);

/// Reads the window of a convolution with \p filter [OC, KH, KW, C], whose size
/// the kernel must equal, or of a pooling (\p filter is null) of \p images [N,
/// H, W, C]. legacy_pad and global_pooling are resolved.
llvm::Expected<ImageWindow> readWindow(NetOp &op, NodeValue images,
                                       NodeValue filter);

/// Whether a pooling of \p images [N, H, W, C] has them as its windows, and a
/// run decides an extent of a window.
bool isGlobalOfOpen(NetOp &op, NodeValue images);

/// Returns the means of the windows of \p images [N, H, W, C], which the
/// arguments of \p op state.
llvm::Expected<NodeValue> averagePool(NetOp &op, NodeValue images);

/// Takes the kernel sizes from \p filter; the argument `kernel` may be absent
/// but must not differ.
llvm::Error takeKernels(ImageWindow &window, NodeValue filter);

} // namespace glowish::caffe2

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_IMAGES_H
