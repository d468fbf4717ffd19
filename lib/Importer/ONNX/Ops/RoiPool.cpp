//===- RoiPool.cpp - Import of MaxRoiPool ---------------------------------===//

#include "ONNX/Composer.h"

using namespace glowish;
using namespace glowish::onnximport;

namespace {
/// The bins of boxes along one spatial dimension.
struct Bins {
  NodeValue isInside; // bool [boxes, bins, pixels]
  NodeValue isEmpty;  // bool [boxes, bins]
};
} // namespace

/// Rounds to nearest, with halves away from zero.
static NodeValue roundAway(Composer &c, NodeValue x) {
  NodeValue size = c.unary<FloorNode>(c.add(c.unary<AbsNode>(x), 0.5));
  return c.mul(c.unary<SignNode>(x), size);
}

/// Divides boxes from pixel \p first to \p last (inclusive), [boxes, 1] each,
/// into \p count bins, which may overlap by a pixel.
static Bins divideBoxes(Composer &c, NodeValue first, NodeValue last,
                        int64_t count, int64_t pixels) {
  if (c.hasFailed())
    return {};
  ElemKind kind = first.getElemKind();
  NodeValue size = c.div(c.max(c.add(c.sub(last, first), 1), 1), double(count));
  NodeValue number = c.iota(kind, 2, 1, count);
  NodeValue begin = c.add(c.unary<FloorNode>(c.mul(number, size)), first);
  NodeValue end =
      c.add(c.unary<CeilNode>(c.mul(c.add(number, 1), size)), first);
  begin = c.clip(begin, 0, double(pixels));
  end = c.clip(end, 0, double(pixels));
  NodeValue pixel = c.iota(kind, 3, 2, pixels);
  return {c.logicalAnd(c.greaterOrEqual(pixel, c.unsqueeze(begin, 2)),
                       c.less(pixel, c.unsqueeze(end, 2))),
          c.lessOrEqual(end, begin)};
}

/// Returns the maximum along the last dimension of \p x over the elements where
/// \p inside is true; \p inside broadcasts to \p x.
static NodeValue maxInside(Composer &c, NodeValue x, NodeValue inside) {
  if (!x || !inside)
    return {};
  constexpr double inf = std::numeric_limits<double>::infinity();
  NodeValue kept = c.select(inside, x, c.number(x, -inf));
  return kept ? c.reduce(kept, "max", {int64_t(kept.getShape().size()) - 1},
                         /*keepDims=*/false)
              : kept;
}

/// Girshick, "Fast R-CNN" (2015). A box is [image, x1, y1, x2, y2]. A bin
/// without pixels gives 0. Reduces one dimension after the other.
static llvm::Error importMaxRoiPool(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue images, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue boxes, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> pooled,
                           op.getInts("pooled_shape", {}));
  GLOWISH_ASSIGN_OR_RETURN(double scale, op.getFloat("spatial_scale", 1));
  DimsRef shape = images.getShape(), list = boxes.getShape();
  constexpr int64_t maxBins = 1 << 16;
  auto isCount = [](int64_t n) { return n >= 1 && n <= maxBins; };
  if (shape.size() != 4 || list.size() != 2 || list[1] != 5 ||
      pooled.size() != 2 || !llvm::all_of(pooled, isCount) ||
      !isFloatKind(images.getElemKind()))
    return makeError("inputs are {0} and {1}, 'pooled_shape' {2}; accepted: "
                     "images [N, C, H, W] of a float kind, boxes [R, 5], two "
                     "numbers of 1 to {3}",
                     images.getType().str(), boxes.getType().str(),
                     formatShape(pooled), maxBins);
  int64_t count = list[0], channels = shape[1];
  Composer c(op);
  boxes = c.cast(boxes, images.getElemKind());
  auto getEdge = [&](int64_t column) {
    return roundAway(c, c.mul(c.slice(boxes, 1, column, 1), scale));
  };
  Bins columns = divideBoxes(c, getEdge(1), getEdge(3), pooled[1], shape[3]);
  Bins rows = divideBoxes(c, getEdge(2), getEdge(4), pooled[0], shape[2]);
  NodeValue batch =
      c.reshape(c.cast(c.slice(boxes, 1, 0, 1), ElemKind::Int64), {count});
  NodeValue x = c.gather(images, batch, 0);
  // [R, C, H, bins, W], then [R, C, bins, bins, H].
  x = maxInside(
      c, c.unsqueeze(x, 3),
      c.reshape(columns.isInside, {count, 1, 1, pooled[1], shape[3]}));
  x = maxInside(c, c.unsqueeze(c.transposeLast(x), 2),
                c.reshape(rows.isInside, {count, 1, pooled[0], 1, shape[2]}));
  NodeValue isEmpty =
      c.logicalOr(c.reshape(rows.isEmpty, {count, 1, pooled[0], 1}),
                  c.reshape(columns.isEmpty, {count, 1, 1, pooled[1]}));
  if (c.hasFailed())
    return c.setOutput(0, x);
  x = c.select(isEmpty, c.number(x, 0), x);
  return c.setOutput(0,
                     c.broadcast(x, {count, channels, pooled[0], pooled[1]}));
}

static OnnxOperator maxRoiPoolOp("MaxRoiPool", 1, importMaxRoiPool);
