//===- SlidingWindow.cpp - Windows of convolutions and poolings -----------===//

#include "ONNX/Ops/SlidingWindow.h"

using namespace glowish;

const Layout glowish::toNchw = {0, 3, 1, 2};
const Layout glowish::fromNchw = {0, 2, 3, 1};

OnnxAttrs glowish::getWindowAttrs(const Windows &windows, bool haveDilations) {
  OnnxAttrs attrs = {intsAttr("kernel_shape", windows.kernels),
                     intsAttr("strides", windows.strides),
                     intsAttr("pads", windows.pads)};
  if (haveDilations)
    attrs.push_back(intsAttr("dilations", windows.dilations));
  return attrs;
}

OnnxValues glowish::takeTaps(GraphWriter &w, NodeValue input,
                             const Windows &windows, int64_t height,
                             int64_t width, double filler) {
  llvm::ArrayRef<int64_t> pads = windows.pads;
  OnnxValue x = w.get(input);
  if (llvm::any_of(pads, [](int64_t p) { return p != 0; }))
    x = w.pad(x, {0, pads[0], pads[1], 0, 0, pads[2], pads[3], 0}, filler);
  OnnxValues taps;
  for (int64_t row = 0; row < windows.kernels[0]; ++row)
    for (int64_t column = 0; column < windows.kernels[1]; ++column) {
      int64_t top = row * windows.dilations[0];
      int64_t left = column * windows.dilations[1];
      int64_t bottom = top + (height - 1) * windows.strides[0] + 1;
      int64_t right = left + (width - 1) * windows.strides[1] + 1;
      taps.push_back(
          w.slice(x, {1, 2}, {top, left}, {bottom, right}, windows.strides));
    }
  return taps;
}
