//===- NonMaxSuppression.cpp - Import of NonMaxSuppression ----------------===//

#include "Common/BoxCorners.h"
#include "Common/Positions.h"
#include "ONNX/Ops/NonZero.h"
#include "ONNX/ShapeInts.h"

using namespace glowish;
using namespace glowish::onnximport;

/// Returns the boxes in descending order of scores, with -1 for boxes that must
/// not be selected: [B, C, N].
static llvm::Expected<NodeValue> findCandidates(OpContext &op,
                                                NodeValue scores) {
  int64_t n = scores.getShape()[2];
  NodeValue order = op.make<TopKNode>(scores, n, /*largest=*/true);
  NodeValue sorted = gatherElements(op, scores, order, 2);
  // NaN is not above any threshold.
  NodeValue isCandidate = op.equal(sorted, sorted);
  if (op.hasInput(4)) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue threshold, op.getInput(4));
    isCandidate = op.greater(sorted, op.reshape(threshold, {}));
  }
  return op.finish(
      op.select(isCandidate, order, op.scalar(ElemKind::Int64, -1)));
}

static llvm::Error checkBoxes(NodeValue boxes, NodeValue scores) {
  DimsRef shape = boxes.getShape(), scored = scores.getShape();
  if (boxes.getElemKind() == ElemKind::Float &&
      scores.getElemKind() == ElemKind::Float && shape.size() == 3 &&
      scored.size() == 3 && shape[0] == scored[0] && shape[1] == scored[2] &&
      shape[2] == 4 && !boxes.getType().getExtent(2))
    return llvm::Error::success();
  return makeError("inputs are {0} and {1}; accepted: floats [B, N, 4] and [B, "
                   "C, N]",
                   boxes.getType().str(), scores.getType().str());
}

namespace {
/// The input max_output_boxes_per_class.
struct MaxBoxes {
  int64_t bound = 0;
  NodeValue number; // null if constant
};
} // namespace

static llvm::Expected<MaxBoxes> readMaxBoxes(OpContext &op, int64_t numBoxes) {
  if (!op.hasInput(2))
    return MaxBoxes();
  GLOWISH_ASSIGN_OR_RETURN(ShapeInt number, readShapeInt(op, 2));
  double bound = std::clamp(number.high, 0.0, double(numBoxes));
  return MaxBoxes{int64_t(bound), number.value};
}

/// Outputs [batch, class, box] for each selected box.
static llvm::Error importNonMaxSuppression(OpContext &op, NodeValue boxes,
                                           NodeValue scores) {
  int64_t haveCenters = op.getInt("center_point_box", 0);
  if (boxes.getShape().size() == 3 && scores.getShape().size() == 3) {
    GLOWISH_RETURN_IF_ERROR(align(op, boxes, 0, scores, 0));
    GLOWISH_RETURN_IF_ERROR(align(op, boxes, 1, scores, 2));
  }
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_RETURN_IF_ERROR(checkBoxes(boxes, scores));
  Dims shape(scores.getShape());
  GLOWISH_ASSIGN_OR_RETURN(MaxBoxes most, readMaxBoxes(op, shape[2]));
  NodeValue overlap = op.scalar(ElemKind::Float, 0);
  if (op.hasInput(3)) {
    GLOWISH_ASSIGN_OR_RETURN(overlap, op.getInput(3));
    overlap = op.reshape(overlap, {});
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue candidates, findCandidates(op, scores));
  int64_t total = shape[0] * shape[1] * most.bound;
  if (total == 0)
    return op.setOutput(0, op.splat(ElemKind::Int64, {0, 3}, 0));
  NodeValue corners = getCorners(op, boxes, haveCenters != 0);
  if (op.hasFailed())
    return op.setOutput(0, {});
  NodeValue picked =
      op.make<NonMaxSuppressionNode>(corners, candidates, overlap, most.bound);
  NodeValue isPicked = op.greaterOrEqual(picked, 0);
  if (NodeValue inside = op.isInside(picked, {0, 1}))
    isPicked = op.logicalAnd(op.dropExtents(isPicked), inside);
  if (most.number)
    isPicked = op.logicalAnd(
        isPicked,
        op.less(op.iota(ElemKind::Int64, 3, 2, most.bound), most.number));
  Found found = findTrueBounded(op, op.reshape(isPicked, {total}));
  NodeValue row = op.div(found.positions, double(most.bound));
  NodeValue batch = op.div(row, double(shape[1]));
  NodeValue category = op.sub(row, op.mul(batch, double(shape[1])));
  NodeValue box = gatherPositions(op, op.dropExtents(picked), found.positions);
  std::vector<NodeValue> columns;
  for (NodeValue column : {batch, category, box})
    columns.push_back(op.reshape(column, {total, 1}));
  return op.setOutput(
      0, op.declare(op.concat(columns, 1), {found.count, NodeValue()}));
}

static OnnxOperator nonMaxSuppressionOp("NonMaxSuppression", 10,
                                        withExtents<importNonMaxSuppression>);
