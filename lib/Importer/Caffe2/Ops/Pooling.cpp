//===- Pooling.cpp - Pooling and resizing of images -----------------------===//

#include "Caffe2/Images.h"
#include "Caffe2/Quantization.h"

using namespace glowish;
using namespace glowish::caffe2;

static llvm::Error importMaxPool(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_ASSIGN_OR_RETURN(bool isNHWC, op.isNHWC());
  NodeValue images = toNHWC(op, op.input(0), isNHWC);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(ImageWindow window,
                           readWindow(op, images, NodeValue()));
  GLOWISH_RETURN_IF_ERROR(checkSameParams(op));
  NodeValue result =
      isGlobalOfOpen(op, images)
          ? op.reduce(images, "max", {1, 2}, /*keepDims=*/true)
          : op.make<MaxPoolNode>(images, window.kernels, window.strides,
                                 window.pads, window.dilations);
  return op.setOutput(0, fromNHWC(op, result, isNHWC), op.getBlob(0).quant);
}

static llvm::Error importAveragePool(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_ASSIGN_OR_RETURN(bool isNHWC, op.isNHWC());
  NodeValue images = toNHWC(op, op.input(0), isNHWC);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, averagePool(op, images));
  return op.setOutput(0, fromNHWC(op, result, isNHWC));
}

/// Pixel y of the result is pixel floor(y / scale) of the input.
static llvm::Error importResizeNearest(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_ASSIGN_OR_RETURN(bool isNHWC, op.isNHWC());
  double scales[2] = {op.getFloat("height_scale", 1),
                      op.getFloat("width_scale", 1)};
  GLOWISH_RETURN_IF_ERROR(checkSameParams(op));
  if (op.hasInput(1)) {
    GLOWISH_ASSIGN_OR_RETURN(const Tensor *given, op.getConstant(1));
    if (given->getNumElements() != 2)
      return op.refuseInput(1, "two numbers");
    for (unsigned d = 0; d < 2; ++d)
      scales[d] = given->getAsDouble(d);
  }
  NodeValue images = toNHWC(op, op.input(0), isNHWC);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  std::vector<int64_t> sizes;
  for (unsigned d = 0; d < 2; ++d) {
    double size = double(images.getShape()[d + 1]) * float(scales[d]);
    if (!(size >= 1 && size <= double(maxWindowValue)))
      return makeError("the result would have {0} pixels in dimension {1}; "
                       "accepted: 1 to {2}",
                       size, d, maxWindowValue);
    sizes.push_back(int64_t(size));
  }
  NodeValue result =
      op.make<ResizeNode>(images, sizes, float(scales[0]), float(scales[1]),
                          "nearest", "asymmetric", "floor");
  return op.setOutput(0, fromNHWC(op, result, isNHWC), op.getBlob(0).quant);
}

static constexpr llvm::StringLiteral twoDimensions = "2 spatial dimensions";
static constexpr NetOpTraits resized{.inputs = {1, 2}, .isQuantized = true};
static constexpr NetOpTraits quantized{.isQuantized = true,
                                       .limit = twoDimensions};

static const Caffe2Operators operators = {
    {"MaxPool", importMaxPool, quantized},
    {"Int8MaxPool", importMaxPool, quantized},
    {"AveragePool", importAveragePool, {.limit = twoDimensions}},
    {"ResizeNearest", importResizeNearest, resized},
    {"Int8ResizeNearest", importResizeNearest, resized}};
