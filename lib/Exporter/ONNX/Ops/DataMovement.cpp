//===- DataMovement.cpp - Export of data movement -------------------------===//

#include "ONNX/GraphWriter.h"

using namespace glowish;

/// Permutes \p values, one per dimension, to the stored order of a value of
/// layout \p layout.
static Layout permuteToStored(llvm::ArrayRef<int64_t> values,
                              const Layout &layout) {
  Layout permuted(values.size());
  for (size_t d = 0; d < values.size(); ++d)
    permuted[layout[d]] = values[d];
  return permuted;
}

//===- Permutations and shapes --------------------------------------------===//

/// Changes the layout only; a Transpose is created when a user needs it.
static void exportTranspose(GraphWriter &w, const TransposeNode &node) {
  NodeValue input = node.getInput();
  if (w.findTransposedWeights(&node))
    return;
  w.setResult(node, w.getStored(input),
              compose(w.getLayout(input), node.getPermutation()));
}
static const NodeExporter transpose = exportTranspose;

/// Whether the stored order of the elements of \p value is the function's: only
/// dimensions of extent 1 are permuted.
static bool areElementsInPlace(const GraphWriter &w, NodeValue value) {
  int64_t last = -1;
  Layout layout = w.getLayout(value);
  for (size_t d = 0; d < layout.size(); ++d) {
    if (value.getShape()[d] == 1)
      continue;
    if (layout[d] < last)
      return false;
    last = layout[d];
  }
  return true;
}

static OnnxValue exportReshape(GraphWriter &w, const ReshapeNode &node) {
  NodeValue input = node.getInput();
  OnnxValue x =
      areElementsInPlace(w, input) ? w.getStored(input) : w.get(input);
  return w.reshape(x, node.getShape());
}
static const NodeExporter reshape = exportReshape;
static const NodeRefusal repack(NodeKind::Repack,
                                "a run decides the shape; accepted: a single "
                                "value of each symbol");

static void exportBroadcast(GraphWriter &w, const BroadcastNode &node) {
  NodeValue input = node.getInput();
  Layout layout = w.getLayout(input);
  if (layout.size() != node.getShape().size())
    return w.setResult(node,
                       w.op("Expand", {w.get(input), w.ints(node.getShape())}));
  w.setResult(
      node,
      w.op("Expand", {w.getStored(input),
                      w.ints(permuteToStored(node.getShape(), layout))}),
      layout);
}
static const NodeExporter broadcast = exportBroadcast;

static const NodeExporter tile = [](GraphWriter &w, const TileNode &node) {
  Layout layout = w.getLayout(node.getInput());
  w.setResult(
      node,
      w.op("Tile", {w.getStored(node.getInput()),
                    w.ints(permuteToStored(node.getRepeats(), layout))}),
      layout);
};

//===- Slices and concatenations ------------------------------------------===//

/// The result has the layout of the first input whose layout is not the
/// identity.
static const NodeExporter concat = [](GraphWriter &w, const ConcatNode &node) {
  Layout layout = getIdentityLayout(node.getType().getRank());
  for (NodeValue input : node.getInputs())
    if (isIdentity(layout))
      layout = w.getLayout(input);
  OnnxValues parts;
  for (NodeValue input : node.getInputs())
    parts.push_back(w.get(input, invert(layout)));
  w.setResult(node,
              w.op("Concat", parts, {intAttr("axis", layout[node.getAxis()])}),
              layout);
};

/// Dimensions that are not sliced are left out of the axes.
static const NodeExporter slice = [](GraphWriter &w, const SliceNode &node) {
  NodeValue input = node.getInput();
  Layout layout = w.getLayout(input);
  Layout axes, starts, ends, steps;
  for (size_t d = 0; d < layout.size(); ++d) {
    int64_t start = node.getStarts()[d], size = node.getSizes()[d];
    int64_t step = node.getSteps()[d];
    if (start == 0 && step == 1 && size == input.getShape()[d])
      continue;
    axes.push_back(layout[d]);
    starts.push_back(start);
    steps.push_back(step);
    if (size == 0)
      ends.push_back(start);
    else if (step > 0)
      ends.push_back(start + (size - 1) * step + 1);
    else // Negative ends would count from the end.
      ends.push_back(start + (size - 1) * step > 0
                         ? start + (size - 1) * step - 1
                         : std::numeric_limits<int64_t>::min());
  }
  OnnxValue x = w.getStored(input);
  w.setResult(node, axes.empty() ? x : w.slice(x, axes, starts, ends, steps),
              layout);
};

static const NodeExporter pad = [](GraphWriter &w, const PadNode &node) {
  Layout layout = w.getLayout(node.getInput());
  size_t rank = layout.size();
  Layout pads = permuteToStored(node.getPads().take_front(rank), layout);
  llvm::append_range(pads,
                     permuteToStored(node.getPads().drop_front(rank), layout));
  w.setResult(node,
              w.pad(w.getStored(node.getInput()), pads, node.getValue(),
                    node.getMode()),
              layout);
};
