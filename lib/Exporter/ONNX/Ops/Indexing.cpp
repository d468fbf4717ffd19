//===- Indexing.cpp - Export of indexing nodes ----------------------------===//

#include "ONNX/GraphWriter.h"

using namespace glowish;

/// Whether the result of \p node has no elements but those of its operand.
static bool keepsElements(const Node &node) {
  return llvm::isa<CastNode>(node) ||
         (node.getInfo().has(OpTrait::StaticDataMovement) &&
          node.getNumOperands() == 1 && !llvm::isa<PadNode>(node));
}

/// Whether \p indices can be used without clamping: they are known to be in
/// range, or come directly from an input of the model, for which ONNX does not
/// define indices out of range. Computed indices may depend on the graph's
/// semantics for them.
static bool areTrusted(NodeValue indices, int64_t extent) {
  while (true) {
    if (auto *constant = indices.getNodeAs<Constant>()) {
      const Tensor &tensor = constant->getTensor();
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        if (tensor.getAsInt(i) < -extent || tensor.getAsInt(i) >= extent)
          return false;
      return true;
    }
    if (auto *input = indices.getNodeAs<Placeholder>())
      return !input->getOwner();
    if (!keepsElements(*indices.node))
      return false;
    indices = indices.node->getOperand(0);
  }
}

static const NodeExporter gather = [](GraphWriter &w, const GatherNode &node) {
  int64_t extent = node.getInput().getShape()[node.getAxis()];
  OnnxValue indices = w.get(node.getIndices());
  if (!areTrusted(node.getIndices(), extent))
    indices = w.op("Clip", {indices, w.numberLike(indices, double(-extent)),
                            w.numberLike(indices, double(extent - 1))});
  return w.op("Gather", {w.get(node.getInput()), indices},
              {intAttr("axis", node.getAxis())});
};

//===- Scatter ------------------------------------------------------------===//

/// Replaces those of \p indices that are out of range by \p rows.
static OnnxValue replaceOutOfRange(GraphWriter &w, const OnnxValue &indices,
                                   int64_t rows) {
  OnnxValue zero = w.numberLike(indices, 0);
  OnnxValue end = w.numberLike(indices, double(rows));
  OnnxValue isInRange = w.op("And", {w.op("GreaterOrEqual", {indices, zero}),
                                     w.op("Less", {indices, end})});
  return w.select(isInRange, indices, end);
}

/// Makes negative \p indices count from the start of \p rows.
static OnnxValue normalizeIndices(GraphWriter &w, const OnnxValue &indices,
                                  int64_t rows) {
  OnnxValue isNegative = w.op("Less", {indices, w.numberLike(indices, 0)});
  return w.select(isNegative,
                  w.add(indices, w.numberLike(indices, double(rows))), indices);
}

/// Combines rows in order by \p combine ("Max", "Min"), which ScatterND
/// supports from opset 18 on only, by a loop over the updates.
static OnnxValue writeScatterLoop(GraphWriter &w, llvm::StringRef combine,
                                  const OnnxValue &x, const OnnxValue &indices,
                                  const OnnxValue &updates, const Type &type,
                                  int64_t count) {
  onnx::GraphProto graph;
  graph.set_name("scatter");
  GraphWriter body(w.getPool(), graph);
  OnnxValue number = body.addInput("number", Type(ElemKind::Int64, {}));
  OnnxValue condition = body.addInput("condition", Type(ElemKind::Bool, {}));
  OnnxValue state = body.addInput("rows", type);
  number = body.reshape(number, {1});
  OnnxValue index = body.op("Gather", {indices, number});
  OnnxValue row = body.op(combine, {body.op("Gather", {state, index}),
                                    body.op("Gather", {updates, number})});
  body.addOutput(condition, Type(ElemKind::Bool, {}));
  body.addOutput(
      body.op("ScatterND", {state, body.reshape(index, {1, 1}), row}), type);
  return w.raw("Loop", {w.number(ElemKind::Int64, double(count)), {}, x},
               {x.kind}, {graphAttr("body", std::move(graph))})[0];
}

static OnnxValue exportScatter(GraphWriter &w, const ScatterNode &node) {
  const Type &type = node.getType();
  int64_t rows = type.getDim(0), count = node.getIndices().getShape()[0];
  OnnxValue x = w.get(node.getInput()), indices = w.get(node.getIndices());
  indices = w.cast(indices, ElemKind::Int64);
  bool isTrusted = areTrusted(node.getIndices(), rows);
  // Updates out of range are written to an additional row.
  if (!isTrusted) {
    x = w.pad(x, {0, 0, 1, 0}, 0);
    indices = replaceOutOfRange(w, normalizeIndices(w, indices, rows), rows);
  }
  llvm::StringRef mode = node.getMode();
  OnnxValue updates = w.get(node.getUpdates()), result;
  if (mode == "max" || mode == "min") {
    Type padded = type.withShape({rows + !isTrusted, type.getDim(1)});
    result = writeScatterLoop(w, mode == "max" ? "Max" : "Min", x, indices,
                              updates, padded, count);
  } else {
    result = w.op("ScatterND", {x, w.reshape(indices, {count, 1}), updates},
                  {stringAttr("reduction", mode == "replace" ? "none" : mode)});
  }
  if (!isTrusted)
    result = w.slice(result, {0}, {0}, {rows}, {1});
  return result;
}
static const NodeExporter scatter = exportScatter;

static OnnxValue exportDynamicUpdateSlice(GraphWriter &w,
                                          const DynamicUpdateSliceNode &node) {
  const Type &type = node.getUpdate().getType();
  int64_t axis = node.getAxis(), count = type.getDim(unsigned(axis));
  int64_t lastStart = node.getType().getDim(unsigned(axis)) - count;
  OnnxValue x = w.get(node.getInput());
  if (type.getNumElements() == 0)
    return w.op("Identity", {x});
  OnnxValue start = w.cast(w.get(node.getStart()), ElemKind::Int64);
  Dims ones(type.getRank(), 1), along(ones);
  start = w.op("Clip", {w.reshape(start, ones), w.numberLike(start, 0),
                        w.numberLike(start, double(lastStart))});
  along[axis] = count;
  Tensor numbers(Type(ElemKind::Int64, along));
  for (int64_t i = 0; i < count; ++i)
    numbers.data<int64_t>()[i] = i;
  OnnxValue indices =
      w.op("Expand", {w.add(start, w.constant(std::move(numbers))),
                      w.ints(type.getShape())});
  return w.op("ScatterElements", {x, indices, w.get(node.getUpdate())},
              {intAttr("axis", axis)});
}
static const NodeExporter dynamicUpdateSlice = exportDynamicUpdateSlice;

//===- Sorted indices -----------------------------------------------------===//

static const NodeExporter topK = [](GraphWriter &w, const TopKNode &node) {
  OnnxValues results =
      w.ops(2, "TopK", {w.get(node.getInput()), w.ints({node.getCount()})},
            {intAttr("axis", -1), intAttr("largest", node.getLargest()),
             intAttr("sorted", 1)});
  return results[1];
};

/// ONNX's operator takes scores: the candidates get descending ones, and other
/// boxes 0. The selected boxes are sorted by these scores again, [B, C, count].
static OnnxValue exportNonMaxSuppression(GraphWriter &w,
                                         const NonMaxSuppressionNode &node) {
  DimsRef boxes = node.getBoxes().getShape(), shape = node.getType().getShape();
  DimsRef candidates = node.getCandidates().getShape();
  int64_t count = shape[2], numBoxes = boxes[1], numCandidates = candidates[2];
  if (countElements(shape) == 0 || numBoxes == 0 || numCandidates == 0)
    return w.filled(ElemKind::Int64, shape, -1);
  Tensor descending(Type(ElemKind::Float, {1, 1, numCandidates}));
  for (int64_t i = 0; i < numCandidates; ++i)
    descending.setFromDouble(i, double(numCandidates - i));
  OnnxValue rankScores =
      w.op("Expand", {w.constant(std::move(descending)), w.ints(candidates)});
  OnnxValue order = replaceOutOfRange(w, w.get(node.getCandidates()), numBoxes);
  OnnxValue none = w.filled(ElemKind::Float,
                            {candidates[0], candidates[1], numBoxes + 1}, 0);
  OnnxValue scores = w.slice(
      w.op("ScatterElements", {none, order, rankScores}, {intAttr("axis", 2)}),
      {2}, {0}, {numBoxes}, {1});
  OnnxValue selected = w.op("NonMaxSuppression",
                            {w.get(node.getBoxes()), scores, w.ints({count}),
                             w.reshape(w.get(node.getThreshold()), {1}),
                             w.constant(Tensor::fromValues<float>(
                                 Type(ElemKind::Float, {1}), {0.0f}))});
  OnnxValue ones = w.op("Expand", {w.number(ElemKind::Float, 1),
                                   w.op("Slice", {w.op("Shape", {selected}),
                                                  w.ints({0}), w.ints({1})})});
  OnnxValue isSelected =
      w.op("ScatterND",
           {w.filled(ElemKind::Float, {shape[0], shape[1], numBoxes}, 0),
            selected, ones});
  OnnxValues best =
      w.ops(2, "TopK",
            {w.mul(isSelected, scores), w.ints({std::min(count, numBoxes)})},
            {intAttr("axis", 2)});
  OnnxValue result =
      w.select(w.op("Greater", {best[0], w.numberLike(best[0], 0)}), best[1],
               w.number(ElemKind::Int64, -1));
  if (count > numBoxes)
    result = w.pad(result, {0, 0, 0, 0, 0, count - numBoxes}, -1);
  return result;
}
static const NodeExporter nonMaxSuppression = exportNonMaxSuppression;

static const NodeRefusal treeEnsemble(
    NodeKind::TreeEnsemble,
    "decision trees are in the domain ai.onnx.ml; models are written with "
    "ONNX's own operators");
