//===- SlidingWindow.cpp - Sliding windows over images --------------------===//

#include "TFLite/SlidingWindow.h"
#include "Common/SlidingWindows.h"

using namespace glowish;
using namespace glowish::tflite;

bool TFLiteWindow::hasPads() const {
  return llvm::any_of(pads, [](int64_t pad) { return pad != 0; });
}

llvm::Error tflite::placeWindow(TFLiteWindow &window, DimsRef shape,
                                schema::Padding padding) {
  bool isSame = padding == schema::Padding::SAME;
  for (unsigned d = 0; d < 2; ++d) {
    Edge edge{.extent = shape[d + 1],
              .kernel = window.kernels[d],
              .stride = window.strides[d],
              .dilation = window.dilations[d]};
    if (!edge.isWithinLimits())
      return makeError("a window has a stride of {0}, a dilation of {1} and "
                       "an extent of {2}; accepted: 1 to {3}",
                       edge.stride, edge.dilation, edge.kernel, maxWindowValue);
    completePads(edge, isSame ? "SAME_UPPER" : "VALID", /*ceilMode=*/false);
    if (edge.getPadded() < edge.getReach())
      return makeError("a window of extent {0} is larger than the image, {1}",
                       edge.getReach(), formatShape(shape));
    window.pads[d] = edge.before;
    window.pads[d + 2] = edge.after;
    window.sizes[d] = edge.getCount();
  }
  return llvm::Error::success();
}
