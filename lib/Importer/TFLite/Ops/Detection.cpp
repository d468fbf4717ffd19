//===- Detection.cpp - Boxes of an object detector ------------------------===//
//
// The custom operator TFLite_Detection_PostProcess: boxes are decoded, and of
// those that overlap the best are kept.
//
//===----------------------------------------------------------------------===//

#include "TFLite/CustomOptions.h"
#include "TFLite/Quantized.h"
#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::tflite;

namespace {

/// The options of the operator.
struct Detection {
  int64_t maxDetections, maxClasses, detectionsPerClass, numClasses;
  bool isRegular;
  float scoreThreshold, overlapThreshold;
  /// Of the encodings: y, x, height, width.
  double scales[4];
};

/// What is kept, best first: [count] each, and [count, 4] of boxes. The scores
/// of what is no detection are below 0.
struct Detections {
  NodeValue boxes, classes, scores;
};

} // namespace

static llvm::Expected<Detection> readOptions(const TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(CustomOptions map, CustomOptions::read(op));
  Detection options{
      .maxDetections = map.get("max_detections").AsInt64(),
      .maxClasses = map.get("max_classes_per_detection").AsInt64(),
      .detectionsPerClass = map.get("detections_per_class").IsNull()
                                ? 100
                                : map.get("detections_per_class").AsInt64(),
      .numClasses = map.get("num_classes").AsInt64(),
      .isRegular = map.get("use_regular_nms").AsBool(),
      .scoreThreshold = map.get("nms_score_threshold").AsFloat(),
      .overlapThreshold = map.get("nms_iou_threshold").AsFloat(),
      .scales = {}};
  const char *names[] = {"y_scale", "x_scale", "h_scale", "w_scale"};
  for (unsigned i = 0; i < 4; ++i) {
    options.scales[i] = double(map.get(names[i]).AsFloat());
    if (!(options.scales[i] > 0))
      return makeError("option {0} is {1}; accepted: positive numbers",
                       names[i], typerules::formatDouble(options.scales[i]));
  }
  constexpr int64_t most = 1 << 20;
  for (int64_t number : {options.maxDetections, options.maxClasses,
                         options.detectionsPerClass, options.numClasses})
    if (number < 1 || number > most)
      return makeError("an option is {0}; accepted: 1 to {1}", number, most);
  return options;
}

/// Boxes [N, 4] as top, left, bottom, right, of what input 0 states relative to
/// the anchors, input 2: their centers, and the logarithms of their sizes.
static NodeValue decodeBoxes(TFLiteOp &op, const Detection &options,
                             int64_t count) {
  NodeValue encodings = op.reshape(dequantized(op, 0), {count, 4});
  NodeValue anchors = dequantized(op, 2);
  auto part = [&](NodeValue x, int64_t column) {
    return op.slice(x, 1, column, 1);
  };
  NodeValue low[2], high[2];
  for (int64_t d = 0; d < 2; ++d) {
    NodeValue size = part(anchors, d + 2);
    NodeValue offset = op.div(part(encodings, d), options.scales[d]);
    NodeValue center = op.add(op.mul(offset, size), part(anchors, d));
    NodeValue half =
        op.mul(op.mul(op.unary<ExpNode>(op.div(part(encodings, d + 2),
                                               options.scales[d + 2])),
                      size),
               0.5);
    low[d] = op.sub(center, half);
    high[d] = op.add(center, half);
  }
  return op.concat({low[0], low[1], high[0], high[1]}, 1);
}

/// The indices of kept boxes, [classes, count], -1 where there are fewer, by
/// the scores [classes, N].
static NodeValue suppress(TFLiteOp &op, NodeValue boxes, NodeValue scores,
                          const Detection &options, int64_t count) {
  if (!boxes || !scores)
    return {};
  int64_t classes = scores.getShape()[0], candidates = scores.getShape()[1];
  NodeValue order = op.make<TopKNode>(scores, candidates, /*largest=*/true);
  // Of each class the scores in that order.
  NodeValue rows =
      op.mul(op.iota(ElemKind::Int64, 2, 0, classes), double(candidates));
  NodeValue sorted = op.gather(op.reshape(scores, {classes * candidates}),
                               op.add(order, rows), 0);
  NodeValue isGood = op.greaterOrEqual(sorted, double(options.scoreThreshold));
  NodeValue chosen = op.select(isGood, order, op.number(order, -1));
  if (op.hasFailed())
    return {};
  NodeValue kept = op.make<NonMaxSuppressionNode>(
      op.reshape(boxes, {1, candidates, 4}),
      op.reshape(chosen, {1, classes, candidates}),
      op.scalar(ElemKind::Float, double(options.overlapThreshold)), count);
  return op.reshape(kept, {classes, count});
}

/// Elements of the flat \p values at \p indices; \p absent where these are
/// negative.
static NodeValue pick(TFLiteOp &op, NodeValue values, NodeValue indices,
                      double absent) {
  NodeValue picked = op.gather(values, op.max(indices, 0), 0);
  return op.select(op.less(indices, 0), op.number(picked, absent), picked);
}

/// Each class by itself; the best of all classes.
static Detections detectByClass(TFLiteOp &op, NodeValue boxes, NodeValue scores,
                                const Detection &options) {
  int64_t count = scores ? scores.getShape()[0] : 1;
  int64_t perClass = std::min(options.detectionsPerClass, count);
  NodeValue byClass = op.transpose(scores, {1, 0});
  NodeValue kept = suppress(op, boxes, byClass, options, perClass);
  NodeValue classes =
      op.broadcast(op.iota(ElemKind::Int64, 2, 0, options.numClasses),
                   {options.numClasses, perClass});
  NodeValue numbers =
      op.add(op.mul(op.max(kept, 0), double(options.numClasses)), classes);
  NodeValue isNone = op.less(kept, 0);
  numbers = op.select(isNone, op.number(kept, -1), numbers);
  NodeValue flatScores = op.reshape(scores, {count * options.numClasses});
  int64_t all = options.numClasses * perClass;
  NodeValue keptScores = op.reshape(pick(op, flatScores, numbers, -1), {all});
  int64_t most = std::min(options.maxDetections, all);
  if (op.hasFailed())
    return {};
  NodeValue best = op.make<TopKNode>(keptScores, most, /*largest=*/true);
  auto choose = [&](NodeValue values) {
    return op.gather(op.reshape(values, {all}), best, 0);
  };
  return {.boxes = op.gather(boxes, op.max(choose(kept), 0), 0),
          .classes = choose(classes),
          .scores = choose(keptScores)};
}

/// All classes together: a box has the score of its best class.
static Detections detectBest(TFLiteOp &op, NodeValue boxes, NodeValue scores,
                             const Detection &options) {
  if (!scores)
    return {};
  int64_t count = scores.getShape()[0];
  int64_t most = std::min(options.maxDetections, count);
  int64_t classes = std::min(options.maxClasses, options.numClasses);
  NodeValue best = op.reduce(scores, "max", {1}, /*keepDims=*/false);
  NodeValue kept = op.reshape(
      suppress(op, boxes, op.reshape(best, {1, count}), options, most), {most});
  NodeValue rows = op.max(kept, 0);
  NodeValue ofKept = op.gather(scores, rows, 0);
  if (op.hasFailed())
    return {};
  NodeValue names = op.make<TopKNode>(ofKept, classes, /*largest=*/true);
  NodeValue numbers =
      op.add(op.mul(op.unsqueeze(rows, 1), double(options.numClasses)), names);
  NodeValue flat = op.reshape(scores, {count * options.numClasses});
  NodeValue isNone = op.less(op.unsqueeze(kept, 1), 0);
  NodeValue values = op.gather(flat, numbers, 0);
  values = op.select(isNone, op.number(values, -1), values);
  NodeValue repeated = op.broadcast(op.unsqueeze(op.gather(boxes, rows, 0), 1),
                                    {most, classes, 4});
  return {.boxes = op.reshape(repeated, {most * classes, 4}),
          .classes = op.reshape(names, {most * classes}),
          .scores = op.reshape(values, {most * classes})};
}

/// Outputs: boxes, classes, scores, which are 0 where there are fewer
/// detections, and their number.
static llvm::Error setDetections(TFLiteOp &op, const Detections &found,
                                 int64_t count) {
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  NodeValue isFound = op.greaterOrEqual(found.scores, 0);
  int64_t got = found.scores.getShape()[0];
  auto complete = [&](NodeValue values, Dims shape) {
    shape.insert(shape.begin(), {1, count});
    Dims own(shape);
    own[1] = got;
    std::vector<int64_t> pads(2 * shape.size());
    pads[shape.size() + 1] = count - got;
    return op.pad(op.reshape(values, own), pads, 0);
  };
  auto orZero = [&](NodeValue condition, NodeValue values) {
    return op.select(condition, values, op.number(values, 0));
  };
  NodeValue classes = op.cast(found.classes, ElemKind::Float);
  GLOWISH_RETURN_IF_ERROR(op.setOutput(
      0, complete(orZero(op.unsqueeze(isFound, 1), found.boxes), {4})));
  GLOWISH_RETURN_IF_ERROR(
      op.setOutput(1, complete(orZero(isFound, classes), {})));
  GLOWISH_RETURN_IF_ERROR(
      op.setOutput(2, complete(orZero(isFound, found.scores), {})));
  return op.setOutput(3, op.reduce(op.cast(isFound, ElemKind::Float), "sum",
                                   {0}, /*keepDims=*/true));
}

static llvm::Error importDetection(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Detection options, readOptions(op));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 3));
  int64_t count = op.getShape(1)[1], columns = op.getShape(1)[2];
  if (op.getShape(1)[0] != 1 || count < 1 || columns < options.numClasses ||
      op.input(0).getType().getNumElements() != 4 * count ||
      op.getShape(2) != DimsRef({count, 4}))
    return op.refuseInput(1, "[1, boxes, classes], with four numbers a box in "
                             "inputs 0 and 2");
  NodeValue boxes = decodeBoxes(op, options, count);
  // Classes in front of those that are meant are the background.
  NodeValue scores =
      op.slice(op.reshape(dequantized(op, 1), {count, columns}), 1,
               columns - options.numClasses, options.numClasses);
  Detections found = options.isRegular
                         ? detectByClass(op, boxes, scores, options)
                         : detectBest(op, boxes, scores, options);
  int64_t most = options.isRegular
                     ? options.maxDetections
                     : options.maxDetections *
                           std::min(options.maxClasses, options.numClasses);
  return setDetections(op, found, most);
}

static const TFLiteOperators operators = {
    {"TFLite_Detection_PostProcess",
     importDetection,
     {.inputs = 3, .needsKnownExtents = true, .limit = "one image"}}};
