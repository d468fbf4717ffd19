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
  for (unsigned d = 0; d < 2; ++d) {
    int64_t stride = window.strides[d], dilation = window.dilations[d];
    int64_t kernel = window.kernels[d], extent = shape[d + 1];
    for (int64_t number : {stride, dilation, kernel})
      if (number < 1 || number > maxWindowValue)
        return makeError("a window has a stride of {0}, a dilation of {1} and "
                         "an extent of {2}; accepted: 1 to {3}",
                         stride, dilation, kernel, maxWindowValue);
    int64_t reach = dilation * (kernel - 1) + 1;
    if (padding == schema::Padding::SAME) {
      window.sizes[d] = (extent + stride - 1) / stride;
      int64_t total =
          std::max<int64_t>((window.sizes[d] - 1) * stride + reach - extent, 0);
      window.pads[d] = total / 2;
      window.pads[d + 2] = total - total / 2;
    } else {
      window.sizes[d] = (extent - reach + stride) / stride;
    }
    if (extent + window.pads[d] + window.pads[d + 2] < reach)
      return makeError("a window of extent {0} is larger than the image, {1}",
                       reach, formatShape(shape));
  }
  return llvm::Error::success();
}
