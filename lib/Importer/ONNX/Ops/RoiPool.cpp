//===- RoiPool.cpp - Import of MaxRoiPool ---------------------------------===//

#include "Common/Positions.h"
#include "ONNX/Extents.h"

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
static NodeValue roundAway(OpContext &op, NodeValue x) {
  NodeValue size = op.unary<FloorNode>(op.add(op.unary<AbsNode>(x), 0.5));
  return op.mul(op.unary<SignNode>(x), size);
}

/// Divides boxes from pixel \p first to \p last (inclusive), [boxes, 1] each,
/// into \p count bins, which may overlap by a pixel.
static Bins divideBoxes(OpContext &op, NodeValue first, NodeValue last,
                        int64_t count, int64_t pixels) {
  if (op.hasFailed())
    return {};
  ElemKind kind = first.getElemKind();
  NodeValue size =
      op.div(op.max(op.add(op.sub(last, first), 1), 1), double(count));
  NodeValue number = op.iota(kind, 2, 1, count);
  NodeValue begin = op.add(op.unary<FloorNode>(op.mul(number, size)), first);
  NodeValue end =
      op.add(op.unary<CeilNode>(op.mul(op.add(number, 1), size)), first);
  begin = op.clip(begin, 0, double(pixels));
  end = op.clip(end, 0, double(pixels));
  NodeValue pixel = op.iota(kind, 3, 2, pixels);
  return {op.logicalAnd(op.greaterOrEqual(pixel, op.unsqueeze(begin, 2)),
                        op.less(pixel, op.unsqueeze(end, 2))),
          op.lessOrEqual(end, begin)};
}

/// Returns the maximum along the last dimension of \p x over the elements where
/// \p inside is true; \p inside broadcasts to \p x.
static NodeValue maxInside(OpContext &op, NodeValue x, NodeValue inside) {
  if (!x || !inside)
    return {};
  constexpr double inf = std::numeric_limits<double>::infinity();
  NodeValue kept = op.select(inside, x, op.number(x, -inf));
  return kept ? op.reduce(kept, "max", {int64_t(kept.getShape().size()) - 1},
                          /*keepDims=*/false)
              : kept;
}

/// Girshick, "Fast R-CNN" (2015). A box is [image, x1, y1, x2, y2]. A bin
/// without pixels gives 0. Reduces one dimension after the other.
static llvm::Error importMaxRoiPool(OpContext &op, NodeValue images,
                                    NodeValue boxes) {
  std::vector<int64_t> pooled = op.getInts("pooled_shape", {});
  double scale = op.getFloat("spatial_scale", 1);
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
  GLOWISH_RETURN_IF_ERROR(refuseExtents(images, 0, {2, 3}, samplesWholeImages));
  ExtentList extents = {findExtent(boxes, 0), findExtent(images, 1), {}, {}};
  images = op.dropExtents(images);
  boxes = op.dropExtents(op.cast(boxes, images.getElemKind()));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  int64_t count = list[0], channels = shape[1];
  auto getEdge = [&](int64_t column) {
    return roundAway(op, op.mul(op.slice(boxes, 1, column, 1), scale));
  };
  Bins columns = divideBoxes(op, getEdge(1), getEdge(3), pooled[1], shape[3]);
  Bins rows = divideBoxes(op, getEdge(2), getEdge(4), pooled[0], shape[2]);
  NodeValue batch =
      op.reshape(op.cast(op.slice(boxes, 1, 0, 1), ElemKind::Int64), {count});
  NodeValue x = op.gather(images, batch, 0);
  // [R, C, H, bins, W], then [R, C, bins, bins, H].
  x = maxInside(
      op, op.unsqueeze(x, 3),
      op.reshape(columns.isInside, {count, 1, 1, pooled[1], shape[3]}));
  x = maxInside(op, op.unsqueeze(op.transposeLast(x), 2),
                op.reshape(rows.isInside, {count, 1, pooled[0], 1, shape[2]}));
  NodeValue isEmpty =
      op.logicalOr(op.reshape(rows.isEmpty, {count, 1, pooled[0], 1}),
                   op.reshape(columns.isEmpty, {count, 1, 1, pooled[1]}));
  if (op.hasFailed())
    return op.setOutput(0, x);
  x = op.select(isEmpty, op.number(x, 0), x);
  x = op.broadcast(x, {count, channels, pooled[0], pooled[1]});
  return op.setOutput(0, restateExtents(op, x, extents));
}

static OnnxOperator maxRoiPoolOp("MaxRoiPool", 1,
                                 withExtents<importMaxRoiPool>);
