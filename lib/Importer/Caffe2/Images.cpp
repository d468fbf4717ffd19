//===- Images.cpp - Images and windows of Caffe2 --------------------------===//

#include "Caffe2/Images.h"

using namespace glowish;
using namespace glowish::caffe2;

NodeValue caffe2::toNHWC(NetOp &op, NodeValue value, bool isNHWC) {
  return isNHWC ? value : op.transpose(value, {0, 2, 3, 1});
}

NodeValue caffe2::fromNHWC(NetOp &op, NodeValue value, bool isNHWC) {
  return isNHWC ? value : op.transpose(value, {0, 3, 1, 2});
}

static llvm::Error checkRange(llvm::StringRef name,
                              llvm::ArrayRef<int64_t> values, int64_t minimum) {
  for (int64_t value : values)
    if (value < minimum || value > maxWindowValue)
      return makeError("argument '{0}' has the value {1}; accepted: {2} to {3}",
                       name, value, minimum, maxWindowValue);
  return llvm::Error::success();
}

/// Returns the argument \p plural, which must have \p count values, or an empty
/// list if it is absent.
static llvm::Expected<std::vector<int64_t>>
readList(NetOp &op, llvm::StringRef plural, size_t count) {
  std::vector<int64_t> values = op.getInts(plural);
  if (values.empty() || values.size() == count)
    return values;
  return makeError("argument '{0}' has {1} values; accepted: {2}, as images "
                   "have two dimensions",
                   plural, values.size(), count);
}

llvm::Expected<std::vector<int64_t>>
caffe2::readPair(NetOp &op, llvm::StringRef name, llvm::StringRef plural,
                 int64_t filler, int64_t minimum) {
  int64_t both = op.getInt(name, filler);
  std::vector<int64_t> pair = {op.getInt((name + "_h").str(), both),
                               op.getInt((name + "_w").str(), both)};
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> list, readList(op, plural, 2));
  if (!list.empty())
    pair = list;
  GLOWISH_RETURN_IF_ERROR(checkRange(name, pair, minimum));
  return pair;
}

static llvm::Expected<std::vector<int64_t>> readPads(NetOp &op) {
  int64_t all = op.getInt("pad", 0);
  std::vector<int64_t> pads = {op.getInt("pad_t", all), op.getInt("pad_l", all),
                               op.getInt("pad_b", all),
                               op.getInt("pad_r", all)};
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> list, readList(op, "pads", 4));
  if (!list.empty())
    pads = list;
  GLOWISH_RETURN_IF_ERROR(checkRange("pad", pads, 0));
  return pads;
}

llvm::Expected<ImageWindow> caffe2::readPlainWindow(NetOp &op) {
  ImageWindow window;
  // 0 means that the kernel is not given.
  GLOWISH_ASSIGN_OR_RETURN(window.kernels,
                           readPair(op, "kernel", "kernels", 0, 0));
  GLOWISH_ASSIGN_OR_RETURN(window.strides,
                           readPair(op, "stride", "strides", 1, 1));
  GLOWISH_ASSIGN_OR_RETURN(window.dilations,
                           readPair(op, "dilation", "dilations", 1, 1));
  GLOWISH_ASSIGN_OR_RETURN(window.pads, readPads(op));
  return window;
}

llvm::Error caffe2::takeKernels(ImageWindow &window, NodeValue filter) {
  std::vector<int64_t> own = {filter.getShape()[1], filter.getShape()[2]};
  GLOWISH_RETURN_IF_ERROR(checkRange("kernel", own, 1));
  for (int64_t stated : window.kernels)
    if (stated && window.kernels != own)
      return makeError("argument 'kernel' is {0}; the filter has {1}",
                       formatShape(window.kernels), formatShape(own));
  window.kernels = own;
  return llvm::Error::success();
}

namespace {
/// LegacyPadding in Caffe2's caffe2_legacy.proto.
enum LegacyPadding : int64_t { NotSet, Valid, Same, CaffePooling };
} // namespace

/// Caffe rounds the number of windows up, but the last one must begin inside
/// the image or its leading padding.
static void padAsCaffe(ImageWindow &window, unsigned d, int64_t size,
                       int64_t reach) {
  int64_t stride = window.strides[d], pad = window.pads[d];
  int64_t space = size + 2 * pad - reach;
  window.pads[d + 2] = pad;
  if (space < 0)
    return;
  int64_t count = (space + stride - 1) / stride + 1;
  if (pad > 0 && (count - 1) * stride >= size + pad)
    --count;
  window.pads[d + 2] += stride * (count - (space / stride + 1));
}

/// Returns an error if a run decides the remainder of the size of \p images in
/// spatial dimension \p d divided by \p stride: pads that follow from a size
/// depend on that remainder alone.
static llvm::Error checkRest(NetOp &op, NodeValue images, unsigned d,
                             int64_t stride) {
  const Extent *size = images.getType().getExtent(d + 1);
  if (!size || stride == 1)
    return llvm::Error::success();
  const SymbolRanges &symbols = op.getSymbols();
  std::optional<Extent> steps = divideDown(*size, stride);
  std::optional<Extent> whole = steps ? multiply(*steps, stride) : std::nullopt;
  std::optional<Extent> rest = whole ? subtract(*size, *whole) : std::nullopt;
  if (rest && symbols.areEqual(*rest, images.getShape()[d + 1] % stride) ==
                  Certainty::Yes)
    return llvm::Error::success();
  return makeError("argument 'legacy_pad' is {0}, and the {1} of the images, "
                   "{2}, divided by the stride {3} does not leave the same in "
                   "each run; accepted: extents that do, as 2*h or 2*h + 1 of "
                   "the stride 2, or a stride of 1",
                   op.getInt("legacy_pad", NotSet), d == 0 ? "height" : "width",
                   size->describe(), stride);
}

/// Resolves the argument legacy_pad.
static llvm::Error padLegacy(NetOp &op, ImageWindow &window, NodeValue images) {
  int64_t mode = op.getInt("legacy_pad", NotSet);
  if (mode < NotSet || mode > CaffePooling)
    return makeError("argument 'legacy_pad' is {0}; accepted: 0 to 3", mode);
  if (mode == Valid)
    window.pads.assign(4, 0);
  for (unsigned d = 0; d < 2; ++d) {
    Edge edge = window.getEdge(d, images.getShape()[d + 1]);
    if (mode == Same || mode == CaffePooling)
      GLOWISH_RETURN_IF_ERROR(checkRest(op, images, d, edge.stride));
    if (mode == Same) {
      GLOWISH_RETURN_IF_ERROR(
          completePads(edge, "SAME_UPPER", /*ceilMode=*/false, nullptr));
      window.setPads(d, edge);
    } else if (mode == CaffePooling) {
      padAsCaffe(window, d, edge.extent, edge.getReach());
    }
  }
  return llvm::Error::success();
}

llvm::Expected<ImageWindow> caffe2::readWindow(NetOp &op, NodeValue images,
                                               NodeValue filter) {
  DimsRef shape = images.getShape();
  GLOWISH_ASSIGN_OR_RETURN(ImageWindow window, readPlainWindow(op));
  if (!filter && op.getInt("global_pooling", 0)) {
    op.ignoreArgs({"legacy_pad"});
    return ImageWindow{.kernels = {shape[1], shape[2]}};
  }
  if (filter)
    GLOWISH_RETURN_IF_ERROR(takeKernels(window, filter));
  GLOWISH_RETURN_IF_ERROR(checkRange("kernel", window.kernels, 1));
  GLOWISH_RETURN_IF_ERROR(padLegacy(op, window, images));
  return window;
}

bool caffe2::isGlobalOfOpen(NetOp &op, NodeValue images) {
  const Type &type = images.getType();
  return op.getInt("global_pooling", 0) &&
         (type.getExtent(1) || type.getExtent(2));
}

llvm::Expected<NodeValue> caffe2::averagePool(NetOp &op, NodeValue images) {
  GLOWISH_ASSIGN_OR_RETURN(ImageWindow window,
                           readWindow(op, images, NodeValue()));
  bool countPads = op.getInt("count_include_pad", 0) != 0;
  if (isGlobalOfOpen(op, images))
    return op.finish(op.make<GlobalAvgPoolNode>(images));
  return op.finish(op.make<AvgPoolNode>(images, window.kernels, window.strides,
                                        window.pads, window.dilations,
                                        countPads));
}
