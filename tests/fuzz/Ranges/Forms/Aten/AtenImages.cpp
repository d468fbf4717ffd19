//===- AtenImages.cpp - Operators on images as ATen's ---------------------===//

#include "AtenBuilder.h"

using namespace glowish;
using namespace glowish::fuzz;

/// Whether \p node has attributes but for \p names.
static bool hasOtherAttrs(const FormNode &node,
                          llvm::ArrayRef<llvm::StringRef> names) {
  return llvm::any_of(node.proto.attribute(), [&](const auto &attr) {
    return !llvm::is_contained(names, llvm::StringRef(attr.name()));
  });
}

namespace {

/// The window of a convolution or pooling.
struct Window {
  std::vector<int64_t> strides, pads;
  int64_t numDims;

  explicit Window(const FormNode &node)
      : strides(node.getInts("strides")), pads(node.getInts("pads")),
        numDims(int64_t(node.getRank(0)) - 2) {
    strides.resize(size_t(numDims), 1);
    pads.resize(size_t(2 * numDims), 0);
  }
  /// Whether each dimension has the same number of pixels on both sides.
  bool isSymmetric() const {
    for (int64_t d = 0; d < numDims; ++d)
      if (pads[size_t(d)] != pads[size_t(d + numDims)])
        return false;
    return true;
  }
  std::vector<int64_t> getPadding() const {
    return {pads.begin(), pads.begin() + numDims};
  }
};

} // namespace

/// Surrounds \p x with what \p window states.
static std::optional<AtenArg> surround(AtenBuilder &b, const AtenArg &x,
                                       const Window &window) {
  AtenTensorType type = b.getType(x);
  std::vector<int64_t> pairs;
  for (int64_t d = window.numDims; d-- > 0;) {
    int64_t before = window.pads[size_t(d)],
            after = window.pads[size_t(d + window.numDims)];
    auto length = add(type.dims[size_t(d + 2)], Extent(before + after));
    if (!length)
      return std::nullopt;
    type.dims[size_t(d + 2)] = *length;
    pairs.insert(pairs.end(), {before, after});
  }
  return b.call("constant_pad_nd", {x, llvm::ArrayRef(pairs), 0.0}, type);
}

static bool translateConv(AtenBuilder &b, const FormNode &node) {
  if (hasOtherAttrs(node, {"kernel_shape", "strides", "pads"}))
    return false;
  Window window(node);
  std::optional<AtenArg> x = b.getInput(node, 0);
  if (!window.isSymmetric()) {
    x = surround(b, *x, window);
    if (!x)
      return false;
    window.pads.assign(window.pads.size(), 0);
  }
  AtenArg filter = b.getInput(node, 1);
  AtenArg bias = node.hasInput(2) ? b.getInput(node, 2) : AtenArg();
  auto count = size_t(window.numDims);
  std::vector<int64_t> ones(count, 1), zeros(count, 0);
  AtenArg one = llvm::ArrayRef(ones), zero = llvm::ArrayRef(zeros),
          strides = llvm::ArrayRef(window.strides),
          padding = llvm::ArrayRef(window.getPadding());
  if (b.chance(node, 50))
    b.finish(
        node, "convolution",
        {*x, filter, bias, strides, padding, one, false, zero, int64_t(1)});
  else
    b.finish(node, "conv" + std::to_string(count) + "d",
             {*x, filter, bias, strides, padding, one, int64_t(1)});
  return true;
}

/// Returns the integers of an attribute for each of \p count dimensions.
static std::vector<int64_t> getEach(const FormNode &node, llvm::StringRef name,
                                    int64_t count, int64_t otherwise) {
  std::vector<int64_t> ints = node.getInts(name);
  ints.resize(size_t(count), otherwise);
  return ints;
}

static bool translateConvTranspose(AtenBuilder &b, const FormNode &node) {
  Window window(node);
  if (hasOtherAttrs(node, {"kernel_shape", "strides", "pads", "dilations",
                           "group", "output_padding", "auto_pad"}) ||
      node.getString("auto_pad", "NOTSET") != "NOTSET" || !window.isSymmetric())
    return false;
  int64_t count = window.numDims;
  std::vector<int64_t> more = getEach(node, "output_padding", count, 0),
                       dilations = getEach(node, "dilations", count, 1),
                       pads = window.getPadding();
  b.finish(node,
           "conv_transpose" + std::to_string(count) +
               (count == 1 ? "d" : "d.input"),
           {b.getInput(node, 0), b.getInput(node, 1),
            node.hasInput(2) ? b.getInput(node, 2) : AtenArg(),
            llvm::ArrayRef(window.strides), llvm::ArrayRef(pads),
            llvm::ArrayRef(more), node.getInt("group", 1),
            llvm::ArrayRef(dilations)});
  return true;
}

static bool translateGridSample(AtenBuilder &b, const FormNode &node) {
  // In the order of PyTorch's numbers; opset 16 has the longer names.
  auto find = [](llvm::ArrayRef<llvm::StringLiteral> names,
                 llvm::StringRef name) {
    return int64_t(llvm::find(names, name) - names.begin());
  };
  std::string stated = node.getString("mode", "linear");
  llvm::StringRef mode = stated;
  mode.consume_front("bi");
  b.finish(node, "grid_sampler",
           {b.getInput(node, 0), b.getInput(node, 1),
            find({"linear", "nearest", "cubic"}, mode),
            find({"zeros", "border", "reflection"},
                 node.getString("padding_mode", "zeros")),
            node.getInt("align_corners", 0) != 0});
  return true;
}

static bool translatePool(AtenBuilder &b, const FormNode &node) {
  if (hasOtherAttrs(node, {"kernel_shape", "strides", "pads"}))
    return false;
  Window window(node);
  std::vector<int64_t> kernel = node.getInts("kernel_shape");
  // PyTorch surrounds with half a window at most.
  for (size_t d = 0; d < kernel.size(); ++d)
    if (2 * window.pads[d] > kernel[d])
      return false;
  if (!window.isSymmetric())
    return false;
  std::vector<int64_t> ones(kernel.size(), 1);
  AtenArg::List arguments = {b.getInput(node, 0), llvm::ArrayRef(kernel),
                             llvm::ArrayRef(window.strides),
                             llvm::ArrayRef(window.getPadding())};
  std::string rank = std::to_string(kernel.size()) + "d";
  bool isMax = node.getOp() == "MaxPool";
  if (isMax)
    arguments.insert(arguments.end(), {llvm::ArrayRef(ones), false});
  else
    arguments.insert(arguments.end(), {false, false});
  b.finish(node, (isMax ? "max_pool" : "avg_pool") + rank, arguments);
  return true;
}

static bool translateGlobalPool(AtenBuilder &b, const FormNode &node) {
  AtenArg x = b.getInput(node, 0);
  std::vector<int64_t> axes, ones;
  for (int64_t d = 2; d < b.getRank(x); ++d) {
    axes.push_back(d);
    ones.push_back(1);
  }
  if (node.getOp() == "GlobalMaxPool")
    b.finish(node, "amax", {x, llvm::ArrayRef(axes), true});
  else if (ones.size() <= 2 && b.chance(node, 50))
    b.finish(node, "adaptive_avg_pool" + std::to_string(ones.size()) + "d",
             {x, llvm::ArrayRef(ones)});
  else
    b.finish(node, "mean.dim", {x, llvm::ArrayRef(axes), true});
  return true;
}

static bool translateResize(AtenBuilder &b, const FormNode &node) {
  const Tensor *scales = node.findConstant(2);
  if (!scales || node.getRank(0) != 4 || scales->getNumElements() != 4 ||
      node.hasInput(3))
    return false;
  // PyTorch's nearest pixels are those that rounding down finds; its lines go
  // through the middle of pixels.
  std::string mode = node.getString("mode", "nearest");
  bool isFloor = node.getString("coordinate_transformation_mode",
                                "half_pixel") == "asymmetric" &&
                 node.getString("nearest_mode", "") == "floor";
  bool isLinear = mode == "linear" && node.proto.attribute_size() == 1;
  if (!isLinear && !isFloor)
    return false;
  AtenArg::List factors = {scales->getAsDouble(2), scales->getAsDouble(3)};
  AtenArg::List arguments = {b.getInput(node, 0), AtenArg()};
  if (isLinear)
    arguments.push_back(false);
  arguments.push_back(factors);
  b.finish(node,
           isLinear ? "upsample_bilinear2d.vec" : "upsample_nearest2d.vec",
           arguments);
  return true;
}

llvm::ArrayRef<AtenTranslation> fuzz::getAtenImages() {
  static const AtenTranslation translations[] = {
      {"Conv", translateConv},
      {"ConvTranspose", translateConvTranspose},
      {"GridSample", translateGridSample},
      {"MaxPool", translatePool},
      {"AveragePool", translatePool},
      {"GlobalAveragePool", translateGlobalPool},
      {"GlobalMaxPool", translateGlobalPool},
      {"Resize", translateResize}};
  return translations;
}
