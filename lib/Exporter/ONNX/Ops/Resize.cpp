//===- Resize.cpp - Export of image resizing ------------------------------===//

#include "ONNX/Ops/SlidingWindow.h"
#include <cmath>

using namespace glowish;

namespace {
/// The resizing of one dimension.
struct ScaledDim {
  int64_t from, to;
  double scale;

  /// Whether the scale is the ratio of the sizes, so that `sizes` implies it.
  bool isRatio() const {
    return float(scale) == float(double(to) / double(from));
  }
  /// Whether the scale determines the size, so that `scales` implies it.
  bool determinesSize() const {
    return int64_t(std::floor(float(from) * float(scale))) == to;
  }
};
} // namespace

static const NodeExporter resize = [](GraphWriter &w, const ResizeNode &node) {
  DimsRef from = node.getInput().getShape(), to = node.getSizes();
  ScaledDim rows = {from[1], to[0], node.getScaleH()};
  ScaledDim columns = {from[2], to[1], node.getScaleW()};
  OnnxValue sizes, scales;
  if (rows.isRatio() && columns.isRatio()) {
    sizes = w.ints({from[0], from[3], to[0], to[1]});
  } else if (rows.determinesSize() && columns.determinesSize()) {
    scales = w.constant(Tensor::fromValues<float>(
        Type(ElemKind::Float, {4}),
        {1.0f, 1.0f, float(rows.scale), float(columns.scale)}));
  } else {
    return w.fail(llvm::formatv("the scales {0} and {1} are neither the ratios "
                                "of the sizes nor do both determine the sizes",
                                rows.scale, columns.scale)
                      .str());
  }
  OnnxAttrs attrs = {
      stringAttr("mode", node.getMode()),
      stringAttr("coordinate_transformation_mode", node.getCoordinates())};
  if (node.getMode() == "nearest")
    attrs.push_back(stringAttr("nearest_mode", node.getNearestMode()));
  OnnxValue x = w.get(node.getInput(), toNchw);
  OnnxValue result =
      w.op("Resize", {x, OnnxValue(), scales, sizes}, std::move(attrs));
  w.setResult(node, result, fromNchw);
};
