//===- Indexing.cpp - Gathers, scatters and sorted indices as ONNX --------===//

#include "ONNX/GraphWriter.h"

using namespace glowish;

/// Whether \p indices are inside of \p extent, or come from where ONNX leaves
/// it open what becomes of those that are not: from outside of the function.
/// What the function computes may count on this project's rules.
static bool areTrusted(NodeValue indices, int64_t extent) {
  while (true) {
    if (auto *constant = indices.getNodeAs<Constant>()) {
      const Tensor &tensor = constant->getTensor();
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        if (tensor.getAsInt(i) < -extent || tensor.getAsInt(i) >= extent)
          return false;
      return true;
    }
    switch (indices.node->getKind()) {
    case NodeKind::Placeholder:
      return !llvm::cast<Placeholder>(indices.node)->getOwner();
    case NodeKind::Cast:
    case NodeKind::Reshape:
    case NodeKind::Transpose:
    case NodeKind::Broadcast:
    case NodeKind::Slice:
      indices = indices.node->getOperand(0);
      continue;
    default:
      return false;
    }
  }
}

static void exportGather(GraphWriter &w, const GatherNode &node) {
  int64_t extent = node.getInput().getShape()[node.getAxis()];
  OnnxValue indices = w.get(node.getIndices());
  if (!areTrusted(node.getIndices(), extent))
    indices = w.op("Clip", {indices, w.numberLike(indices, double(-extent)),
                            w.numberLike(indices, double(extent - 1))});
  w.setResult(node, w.op("Gather", {w.get(node.getInput()), indices},
                         {intAttr("axis", node.getAxis())}));
}
static const NodeExporter gather(NodeKind::Gather, exportGather);

//===- Scatter ------------------------------------------------------------===//

/// \p indices, those out of the range of \p rows as \p rows.
static OnnxValue sendAway(GraphWriter &w, OnnxValue indices, int64_t rows) {
  OnnxValue zero = w.numberLike(indices, 0);
  OnnxValue end = w.numberLike(indices, double(rows));
  OnnxValue isIn = w.op("And", {w.op("GreaterOrEqual", {indices, zero}),
                                w.op("Less", {indices, end})});
  return w.select(isIn, indices, end);
}

/// \p indices of \p rows counted from 0.
static OnnxValue countFromStart(GraphWriter &w, OnnxValue indices,
                                int64_t rows) {
  OnnxValue isNegative = w.op("Less", {indices, w.numberLike(indices, 0)});
  return w.select(isNegative,
                  w.add(indices, w.numberLike(indices, double(rows))), indices);
}

/// Rows combined one after the other by \p combine ("Max", "Min"), for which
/// ScatterND has no reduction before operator set 18: a loop over the updates.
static OnnxValue writeScatterLoop(GraphWriter &w, llvm::StringRef combine,
                                  OnnxValue x, OnnxValue indices,
                                  OnnxValue updates, const Type &type,
                                  int64_t count) {
  onnx::GraphProto graph;
  graph.set_name("scatter");
  GraphWriter body(w.getPool(), graph);
  auto addInput = [&](llvm::StringRef name, const Type &type) {
    OnnxValue input{w.getPool().takeName(name), type.getKind()};
    *graph.add_input() = makeValueInfo(input.name, type);
    return input;
  };
  auto addOutput = [&](OnnxValue value, const Type &type) {
    value = body.makeOutput(value);
    *graph.add_output() = makeValueInfo(value.name, type);
  };
  OnnxValue number = addInput("number", Type(ElemKind::Int64, {}));
  OnnxValue goesOn = addInput("condition", Type(ElemKind::Bool, {}));
  OnnxValue state = addInput("rows", type);
  number = body.reshape(number, {1});
  OnnxValue index = body.op("Gather", {indices, number});
  OnnxValue row = body.op(combine, {body.op("Gather", {state, index}),
                                    body.op("Gather", {updates, number})});
  addOutput(goesOn, Type(ElemKind::Bool, {}));
  addOutput(body.op("ScatterND", {state, body.reshape(index, {1, 1}), row}),
            type);
  return w.raw("Loop", {w.number(ElemKind::Int64, double(count)), {}, x},
               {x.kind}, {graphAttr("body", std::move(graph))})[0];
}

static void exportScatter(GraphWriter &w, const ScatterNode &node) {
  const Type &type = node.getType();
  int64_t rows = type.getDim(0), count = node.getIndices().getShape()[0];
  OnnxValue x = w.get(node.getInput()), indices = w.get(node.getIndices());
  indices = w.cast(indices, ElemKind::Int64);
  bool isTrusted = areTrusted(node.getIndices(), rows);
  // What is out of range goes to one more row.
  if (!isTrusted) {
    x = w.pad(x, {0, 0, 1, 0}, 0);
    indices = sendAway(w, countFromStart(w, indices, rows), rows);
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
  w.setResult(node, result);
}
static const NodeExporter scatter(NodeKind::Scatter, exportScatter);

//===- Sorted indices -----------------------------------------------------===//

static void exportTopK(GraphWriter &w, const TopKNode &node) {
  OnnxValues results =
      w.ops(2, "TopK", {w.get(node.getInput()), w.ints({node.getCount()})},
            {intAttr("axis", -1), intAttr("largest", node.getLargest()),
             intAttr("sorted", 1)});
  w.setResult(node, results[1]);
}
static const NodeExporter topK(NodeKind::TopK, exportTopK);

/// ONNX's operator wants scores: those of the candidates fall from the first
/// on, and what is no candidate has 0. What it picks is sorted by the scores
/// again, [B, C, count].
static void exportNonMaxSuppression(GraphWriter &w,
                                    const NonMaxSuppressionNode &node) {
  DimsRef boxes = node.getBoxes().getShape(), shape = node.getType().getShape();
  DimsRef candidates = node.getCandidates().getShape();
  int64_t count = shape[2], numBoxes = boxes[1], numCandidates = candidates[2];
  if (countElements(shape) == 0 || numBoxes == 0 || numCandidates == 0)
    return w.setResult(node, w.filled(ElemKind::Int64, shape, -1));
  Tensor falling(Type(ElemKind::Float, {1, 1, numCandidates}));
  for (int64_t i = 0; i < numCandidates; ++i)
    falling.setFromDouble(i, double(numCandidates - i));
  OnnxValue points =
      w.op("Expand", {w.constant(std::move(falling)), w.ints(candidates)});
  OnnxValue order = sendAway(w, w.get(node.getCandidates()), numBoxes);
  OnnxValue none = w.filled(ElemKind::Float,
                            {candidates[0], candidates[1], numBoxes + 1}, 0);
  OnnxValue scores = w.slice(
      w.op("ScatterElements", {none, order, points}, {intAttr("axis", 2)}), {2},
      {0}, {numBoxes}, {1});
  OnnxValue picked = w.op("NonMaxSuppression",
                          {w.get(node.getBoxes()), scores, w.ints({count}),
                           w.reshape(w.get(node.getThreshold()), {1}),
                           w.constant(Tensor::fromValues<float>(
                               Type(ElemKind::Float, {1}), {0.0f}))});
  OnnxValue ones = w.op("Expand", {w.number(ElemKind::Float, 1),
                                   w.op("Slice", {w.op("Shape", {picked}),
                                                  w.ints({0}), w.ints({1})})});
  OnnxValue isPicked =
      w.op("ScatterND",
           {w.filled(ElemKind::Float, {shape[0], shape[1], numBoxes}, 0),
            picked, ones});
  OnnxValues best = w.ops(
      2, "TopK", {w.mul(isPicked, scores), w.ints({std::min(count, numBoxes)})},
      {intAttr("axis", 2)});
  OnnxValue result =
      w.select(w.op("Greater", {best[0], w.numberLike(best[0], 0)}), best[1],
               w.number(ElemKind::Int64, -1));
  if (count > numBoxes)
    result = w.pad(result, {0, 0, 0, 0, 0, count - numBoxes}, -1);
  w.setResult(node, result);
}
static const NodeExporter nonMaxSuppression(NodeKind::NonMaxSuppression,
                                            exportNonMaxSuppression);
