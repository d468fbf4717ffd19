//===- SlidingWindow.cpp - Sliding windows over images --------------------===//

#include "TFLite/SlidingWindow.h"

using namespace glowish;
using namespace glowish::tflite;

llvm::Error tflite::placeWindow(ImageWindow &window, const Type &images,
                                schema::Padding padding) {
  DimsRef shape = images.getShape();
  bool isSame = padding == schema::Padding::SAME;
  for (unsigned d = 0; d < 2; ++d) {
    Edge edge = window.getEdge(d, shape[d + 1]);
    if (!edge.isWithinLimits())
      return makeError("a window has a stride of {0}, a dilation of {1} and "
                       "an extent of {2}; accepted: 1 to {3}",
                       edge.stride, edge.dilation, edge.kernel, maxWindowValue);
    GLOWISH_RETURN_IF_ERROR(completePads(edge, isSame ? "SAME_UPPER" : "VALID",
                                         /*ceilMode=*/false,
                                         images.getExtent(d + 1)));
    if (edge.getPadded() < edge.getReach())
      return makeError("a window of extent {0} is larger than the image, {1}",
                       edge.getReach(), formatShape(shape));
    window.setPads(d, edge);
  }
  return llvm::Error::success();
}
