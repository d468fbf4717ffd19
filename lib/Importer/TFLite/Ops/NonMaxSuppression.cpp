//===- NonMaxSuppression.cpp - Boxes that overlap little ------------------===//

#include "Common/BoxCorners.h"
#include "Common/OpenBody.h"
#include "Common/Positions.h"
#include "TFLite/TFLiteOp.h"
#include "glowish/Ops/TypeRuleHelpers.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

namespace {

/// Inputs 2 to 5, constants.
struct Suppression {
  /// The extent of the outputs.
  int64_t most;
  /// A box is left out if its overlap with a better one is no less than the
  /// first, or its score not above the second.
  float overlap, score;
  /// By how much a better box lowers the score: not at all if 0.
  float sigma = 0;
};

/// The boxes that are selected, in their order: [count] each.
struct Selection {
  /// int64; -1 where there is none.
  NodeValue boxes;
  NodeValue scores;
};

} // namespace

/// Input \p index, a constant from \p low to \p high.
static llvm::Expected<float> readNumber(const TFLiteOp &op, unsigned index,
                                        double low, double high) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(index));
  GLOWISH_ASSIGN_OR_RETURN(const Tensor *tensor, op.getConstant(index));
  if (tensor->getNumElements() != 1 || !(tensor->getAsDouble(0) >= low) ||
      !(tensor->getAsDouble(0) <= high))
    return op.refuseInput(index, llvm::formatv("a number from {0} to {1}",
                                               typerules::formatDouble(low),
                                               typerules::formatDouble(high))
                                     .str());
  return float(tensor->getAsDouble(0));
}

static llvm::Expected<Suppression> readSuppression(const TFLiteOp &op) {
  Suppression options{};
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> most, op.getConstantInts(2));
  // The outputs have as many elements.
  constexpr int64_t largest = 1 << 20;
  if (most.size() != 1 || most[0] < 0 || most[0] > largest)
    return op.refuseInput(
        2, llvm::formatv("a number from 0 to {0}", largest).str());
  options.most = most[0];
  GLOWISH_ASSIGN_OR_RETURN(options.overlap, readNumber(op, 3, 0, 1));
  GLOWISH_ASSIGN_OR_RETURN(options.score,
                           readNumber(op, 4, -HUGE_VAL, HUGE_VAL));
  if (op.getNumInputs() > 5)
    GLOWISH_ASSIGN_OR_RETURN(options.sigma, readNumber(op, 5, 0, HUGE_VAL));
  return options;
}

//===- Scores that stay ---------------------------------------------------===//

/// The best boxes of \p corners [1, N, 4], at most \p count.
static Selection selectHard(TFLiteOp &op, NodeValue corners, NodeValue scores,
                            const Suppression &options, int64_t count) {
  int64_t candidates = scores.getShape()[0];
  TopElements top = takeTop(op, op.reshape(scores, {1, 1, candidates}), 2,
                            candidates, /*largest=*/true);
  NodeValue isGood = op.greater(top.values, double(options.score));
  NodeValue chosen =
      op.select(isGood, top.indices, op.scalar(ElemKind::Int64, -1));
  // The node leaves out boxes above its threshold.
  float below = std::nextafter(options.overlap, -1.0f);
  if (op.hasFailed())
    return {};
  NodeValue kept = op.reshape(
      op.make<NonMaxSuppressionNode>(
          corners, chosen, op.scalar(ElemKind::Float, double(below)), count),
      {count});
  return {.boxes = kept, .scores = op.gather(scores, op.max(kept, 0), 0)};
}

//===- Scores that better boxes lower -------------------------------------===//

namespace {

/// Numbers of boxes: of all of them [N], or of one.
struct BoxColumns {
  NodeValue top, left, bottom, right, area;
};

} // namespace

static BoxColumns getColumns(TFLiteOp &op, NodeValue corners) {
  NodeValue columns[4];
  for (int64_t i = 0; i < 4; ++i)
    columns[i] =
        op.reshape(op.slice(corners, 2, i, 1), {corners.getShape()[1]});
  auto [top, left, bottom, right] = columns;
  NodeValue area = op.mul(op.sub(bottom, top), op.sub(right, left));
  return {top, left, bottom, right, area};
}

/// The intersection of each of \p all with \p one divided by their union; 0 of
/// boxes without an area.
static NodeValue getOverlaps(NodeBuilder &b, const BoxColumns &all,
                             const BoxColumns &one) {
  NodeValue height =
      b.sub(b.min(all.bottom, one.bottom), b.max(all.top, one.top));
  NodeValue width =
      b.sub(b.min(all.right, one.right), b.max(all.left, one.left));
  NodeValue common = b.mul(b.max(height, 0), b.max(width, 0));
  NodeValue overlap = b.div(common, b.sub(b.add(all.area, one.area), common));
  NodeValue haveAreas =
      b.logicalAnd(b.greater(all.area, 0), b.greater(one.area, 0));
  return b.select(haveAreas, overlap, b.number(overlap, 0));
}

/// What an iteration leaves: the scores of the boxes that may still be
/// selected, minus infinity of others, and the box that it selected.
struct SelectedBox {
  NodeValue next, box, score;
};

static SelectedBox selectBest(NodeBuilder &b, const BoxColumns &boxes,
                              NodeValue scores, const Suppression &options) {
  NodeValue best = b.make<ArgMaxNode>(scores, /*axis=*/0, /*keepDims=*/false,
                                      /*selectLast=*/false);
  auto take = [&](NodeValue values) { return b.gather(values, best, 0); };
  NodeValue score = take(scores);
  NodeValue overlap =
      getOverlaps(b, boxes,
                  {take(boxes.top), take(boxes.left), take(boxes.bottom),
                   take(boxes.right), take(boxes.area)});
  double scale = double(-0.5f / options.sigma);
  NodeValue factor = b.unary<ExpNode>(b.mul(b.mul(overlap, scale), overlap));
  NodeValue lowered = b.mul(scores, factor);
  NodeValue isLeft = b.logicalAnd(b.less(overlap, double(options.overlap)),
                                  b.greater(lowered, double(options.score)));
  if (!scores || !best)
    return {};
  NodeValue isOther = b.unary<NotNode>(
      b.equal(b.iota(ElemKind::Int64, 1, 0, scores.getShape()[0]), best));
  NodeValue none = b.number(scores, -HUGE_VAL);
  NodeValue next = b.select(b.logicalAnd(isLeft, isOther), lowered, none);
  NodeValue isFound = b.greater(score, none);
  NodeValue box = b.select(isFound, best, b.number(best, -1));
  return {next, box, score};
}

/// Like selectHard(), of \p sigma above 0: a loop that selects a box in each
/// iteration.
static llvm::Expected<Selection> selectSoft(TFLiteOp &op, NodeValue corners,
                                            NodeValue scores,
                                            const Suppression &options,
                                            int64_t count) {
  NodeValue none = op.number(scores, -HUGE_VAL);
  NodeValue begin =
      op.select(op.greater(scores, double(options.score)), scores, none);
  BoxColumns boxes = getColumns(op, corners);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  OpenBody loop(op.getFunction().getModule(), "select");
  loop.addParameter("iteration", Type(ElemKind::Int64, {}));
  NodeValue condition =
      loop.addParameter("condition", Type(ElemKind::Bool, {}));
  NodeValue state = loop.addParameter("scores", begin.getType());
  for (NodeValue *column :
       {&boxes.top, &boxes.left, &boxes.bottom, &boxes.right, &boxes.area})
    *column = loop.enter(*column);
  NodeBuilder b(loop.getFunction(), op.getName());
  SelectedBox selected = selectBest(b, boxes, state, options);
  GLOWISH_RETURN_IF_ERROR(b.takeError());
  for (NodeValue result :
       {condition, selected.next, selected.box, selected.score})
    loop.getFunction().addResult("next", result);
  std::vector<NodeValue> values{begin};
  llvm::append_range(values, loop.getCaptures());
  NodeValue trips = op.scalar(ElemKind::Int64, double(count));
  GLOWISH_ASSIGN_OR_RETURN(LoopNode *node,
                           op.getFunction().tryCreate<LoopNode>(
                               op.getName(), trips, NodeValue(), loop.getAttr(),
                               /*numStates=*/1, count, values,
                               describeNode(op.getName(), op.getType())));
  return Selection{.boxes = node->getResult(1), .scores = node->getResult(2)};
}

//===- The operators ------------------------------------------------------===//

static llvm::Error checkBoxes(const TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(1));
  DimsRef boxes = op.getShape(0);
  if (boxes.size() != 2 || boxes[1] != 4)
    return op.refuseInput(0, "[boxes, 4]");
  if (op.getShape(1) != boxes.take_front(1))
    return op.refuseInput(1, "a score for each box of input 0");
  return llvm::Error::success();
}

/// Sets the outputs: the boxes, then their scores of the operator that has
/// them, each with zeros behind those that are selected, and their number.
static llvm::Error setSelection(TFLiteOp &op, const Selection &selected,
                                int64_t most) {
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  NodeValue isFound = op.greaterOrEqual(selected.boxes, 0);
  auto complete = [&](NodeValue values) {
    int64_t count = values.getShape()[0];
    return op.pad(op.select(isFound, values, op.number(values, 0)),
                  {0, most - count}, 0);
  };
  unsigned next = 0;
  GLOWISH_RETURN_IF_ERROR(
      op.setOutput(next++, complete(op.cast(selected.boxes, ElemKind::Int32))));
  if (op.getNumInputs() > 5)
    GLOWISH_RETURN_IF_ERROR(op.setOutput(next++, complete(selected.scores)));
  return op.setOutput(next, op.reduce(op.cast(isFound, ElemKind::Int32), "sum",
                                      {0}, /*keepDims=*/false));
}

/// Inputs: boxes, scores, the extent of the outputs, thresholds of overlaps and
/// scores; V5 has sigma, too, and scores among its outputs.
static llvm::Error importNonMaxSuppression(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkBoxes(op));
  GLOWISH_ASSIGN_OR_RETURN(Suppression options, readSuppression(op));
  NodeValue scores = op.input(1);
  int64_t candidates = scores.getShape()[0];
  int64_t count = std::min(options.most, candidates);
  // An overlap of 0 is one, too: there is nothing beside the best box.
  if (options.overlap == 0)
    count = std::min<int64_t>(count, 1);
  if (count == 0)
    return setSelection(op,
                        {.boxes = op.splat(ElemKind::Int64, {0}, 0),
                         .scores = op.splat(ElemKind::Float, {0}, 0)},
                        options.most);
  NodeValue corners =
      getCorners(op, op.reshape(op.input(0), {1, candidates, 4}),
                 /*haveCenters=*/false);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  if (options.sigma == 0)
    return setSelection(op, selectHard(op, corners, scores, options, count),
                        options.most);
  GLOWISH_ASSIGN_OR_RETURN(Selection selected,
                           selectSoft(op, corners, scores, options, count));
  return setSelection(op, selected, options.most);
}

static constexpr llvm::StringLiteral limit =
    "float; all but boxes and scores constants";

static const TFLiteOperators operators = {
    {"NON_MAX_SUPPRESSION_V4",
     importNonMaxSuppression,
     {.inputs = 5, .needsKnownExtents = true, .limit = limit}},
    {"NON_MAX_SUPPRESSION_V5",
     importNonMaxSuppression,
     {.inputs = 6, .needsKnownExtents = true, .limit = limit}}};
