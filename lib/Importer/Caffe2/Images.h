//===- Images.h - Images and windows of Caffe2's operators ------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_IMAGES_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_IMAGES_H

#include "Caffe2/NetOp.h"

namespace glowish {

/// Images or filters [N, C, H, W] or [N, H, W, C] as those of the graph, which
/// are always [N, H, W, C]; and back.
NodeValue toNHWC(NetOp &op, NodeValue value, bool isNHWC);
NodeValue fromNHWC(NetOp &op, NodeValue value, bool isNHWC);

/// Attributes of windows larger than this are nonsense, and could overflow.
constexpr int64_t maxWindowValue = int64_t(1) << 31;

/// A value for each of the two dimensions: the argument \p name for both,
/// name_h and name_w, or the list of \p plural; \p filler without any. Values
/// from \p least to maxWindowValue.
llvm::Expected<std::vector<int64_t>> readPair(NetOp &op, llvm::StringRef name,
                                              llvm::StringRef plural,
                                              int64_t filler, int64_t least);

/// Pads are [top, left, bottom, right].
struct NetWindow {
  std::vector<int64_t> kernels, strides, pads, dilations;
};

/// The arguments kernel, stride, pad and dilation, as they are.
llvm::Expected<NetWindow> readPlainWindow(NetOp &op);

/// The same for a convolution (\p filter [OC, KH, KW, C], with which the
/// kernel must agree) or a pooling (null) of \p images [N, H, W, C], with
/// legacy_pad and global_pooling worked out.
llvm::Expected<NetWindow> readWindow(NetOp &op, NodeValue images,
                                     NodeValue filter);

/// Filter and kernel sizes agree, and the argument `kernel` need not be there.
llvm::Error takeKernels(NetWindow &window, NodeValue filter);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_IMAGES_H
