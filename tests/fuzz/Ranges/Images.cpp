//===- Images.cpp - Random operators on images ----------------------------===//

#include "Operators.h"

using namespace glowish;
using namespace glowish::fuzz;

//===- Windows ------------------------------------------------------------===//

namespace {

/// The window of a convolution or pooling, one entry for each dimension.
struct Window {
  std::vector<int64_t> kernel, strides, pads;

  bool isPlain() const {
    return llvm::all_of(strides, [](int64_t each) { return each == 1; }) &&
           llvm::all_of(pads, [](int64_t each) { return each == 0; });
  }
};

} // namespace

/// A window that fits into the images \p x in all runs; none where one of
/// them has no pixels.
static std::optional<Window> pickWindow(ModelBuilder &b, const ModelValue &x) {
  Window window;
  size_t count = x.getRank() - 2;
  for (size_t d = 0; d < count; ++d) {
    int64_t least = getLeast(x.shape[d + 2]);
    if (least < 1)
      return std::nullopt;
    window.kernel.push_back(b.pickFrom(1, std::min<int64_t>(3, least)));
    window.strides.push_back(b.chance(25) ? 2 : 1);
  }
  window.pads.assign(2 * count, 0);
  if (b.chance(25))
    for (size_t i = 0; i < window.pads.size(); ++i)
      window.pads[i] = b.pickFrom(0, window.kernel[i % count] - 1);
  return window;
}

static std::vector<onnx::AttributeProto> getAttrs(const Window &window) {
  std::vector<onnx::AttributeProto> attrs = {
      makeAttr("kernel_shape", window.kernel)};
  if (!window.isPlain()) {
    attrs.push_back(makeAttr("strides", window.strides));
    attrs.push_back(makeAttr("pads", window.pads));
  }
  return attrs;
}

bool fuzz::isImages(const ModelValue &value) {
  return value.kind == ElemKind::Float &&
         (value.getRank() == 3 || value.getRank() == 4) &&
         isConstant(value.shape[1]) && value.largest[1] > 0;
}

std::optional<std::string> fuzz::addConv(ModelBuilder &b, const ModelValue &x,
                                         const std::string &images,
                                         FilterMaker makeFilter) {
  std::optional<Window> window = pickWindow(b, x);
  if (!window)
    return std::nullopt;
  Dims filter = {b.pickFrom(1, 9), x.largest[1]};
  filter.append(window->kernel.begin(), window->kernel.end());
  std::vector<std::string> inputs = makeFilter(filter);
  inputs.insert(inputs.begin(), images);
  return b.addNode("Conv", inputs, getAttrs(*window));
}

std::optional<std::string> fuzz::addPool(ModelBuilder &b, const ModelValue &x,
                                         const std::string &images) {
  std::optional<Window> window = pickWindow(b, x);
  if (!window)
    return std::nullopt;
  return b.addNode(b.pickOne({"MaxPool", "AveragePool"}), {images},
                   getAttrs(*window));
}

//===- Families -----------------------------------------------------------===//

/// A convolution or pooling of images of any size, and of any number.
static bool addWindow(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed(isImages);
  if (!x)
    return false;
  if (b.chance(30))
    return addPool(b, *x, x->name).has_value();
  auto makeFilter = [&](DimsRef filter) {
    std::vector<std::string> inputs = {b.addConstant(ElemKind::Float, filter)};
    if (b.chance(50))
      inputs.push_back(b.addConstant(ElemKind::Float, {filter[0]}));
    return inputs;
  };
  return addConv(b, *x, x->name, makeFilter).has_value();
}

std::string fuzz::addNearest(ModelBuilder &b, const ModelValue &x,
                             const std::string &images) {
  Tensor scales(Type(ElemKind::Float, {int64_t(x.getRank())}));
  for (unsigned d = 0; d < x.getRank(); ++d)
    scales.setFromDouble(d, d < 2 ? 1 : double(b.pickFrom(1, 2)));
  return b.addNode("Resize", {images, "", b.addConstant(scales)},
                   {makeAttr("mode", "nearest"),
                    makeAttr("coordinate_transformation_mode", "asymmetric"),
                    makeAttr("nearest_mode", "floor")});
}

static bool addResize(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    return isImages(value) && value.getRank() == 4;
  });
  if (!x)
    return false;
  if (b.chance(60)) {
    addNearest(b, *x, x->name);
    return true;
  }
  Tensor scales(Type(ElemKind::Float, {4}));
  for (unsigned d = 0; d < 4; ++d)
    scales.setFromDouble(d, d < 2 ? 1 : b.pickOne({0.5, 1.0, 1.5, 2.0}));
  b.addNode("Resize", {x->name, "", b.addConstant(scales)},
            {makeAttr("mode", b.pickOne({"linear", "nearest"}))});
  return true;
}

static bool addGlobalPool(ModelBuilder &b) {
  const ModelValue *x = b.pickFixed([](const ModelValue &value) {
    // The mean of no pixels is nothing.
    return isImages(value) &&
           llvm::all_of(value.shape, [](const ExtentPoints &extent) {
             return getLeast(extent) > 0;
           });
  });
  if (!x)
    return false;
  b.addNode(b.pickOne({"GlobalAveragePool", "GlobalMaxPool"}), {x->name});
  return true;
}

llvm::ArrayRef<OperatorFamily> fuzz::getImageFamilies() {
  static const OperatorFamily families[] = {
      {addWindow, 3}, {addResize, 1}, {addGlobalPool, 1}};
  return families;
}
