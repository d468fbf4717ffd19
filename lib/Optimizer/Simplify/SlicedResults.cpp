//===- SlicedResults.cpp - Of results only what slices take ---------------===//
//
// Slices move towards the inputs, past the nodes whose results they are parts
// of: these compute only the parts. A vision transformer, for example, reads
// its classes off the first token; its last layer is computed for that alone.
//
// Nodes are visited from the last to the first, so that all readers of a result
// have become slices when its turn comes, if they ever do.
//
//===----------------------------------------------------------------------===//

#include "Util/NodeTrial.h"
#include "Util/PartialNodes.h"
#include "glowish/Optimizer/Passes.h"

using namespace glowish;

/// Several parts of a result are computed one by one if they are at most this
/// share of it: each reads again what it has in common with the others.
static constexpr double mostInParts = 0.75;

namespace {

/// Slices of one value that take the same part of it.
struct Part {
  llvm::SmallVector<SliceNode *, 2> slices;
  /// The dimensions in which it can be computed from parts of operands.
  llvm::SmallVector<AxisRange, 4> ranges;

  SliceNode &getSlice() const { return *slices.front(); }
  bool hasSlice(const SliceNode &slice) const {
    return getSlice().getStarts() == slice.getStarts() &&
           getSlice().getSizes() == slice.getSizes();
  }
};

} // namespace

static bool hasUnitSteps(const SliceNode &slice) {
  return llvm::all_of(slice.getSteps(), [](int64_t step) { return step == 1; });
}

static Part makePart(SliceNode &slice) {
  NodeValue whole = slice.getInput();
  Part part{{&slice}, {}};
  for (unsigned d = 0; d < slice.getSizes().size(); ++d) {
    int64_t begin = slice.getStarts()[d];
    AxisRange range = {d, begin, begin + slice.getSizes()[d]};
    if (range.size() != 0 && range.size() != whole.getShape()[d] &&
        getOperandRanges(*whole.node, range))
      part.ranges.push_back(range);
  }
  return part;
}

/// The parts of \p node's result that are read, where to compute them one by
/// one is less work than the whole; else nothing.
static llvm::SmallVector<Part, 4> findParts(const Node &node) {
  llvm::SmallVector<Part, 4> parts;
  for (const Use &use : node.uses()) {
    auto *slice = llvm::dyn_cast<SliceNode>(use.getUser());
    if (!slice || !hasUnitSteps(*slice))
      return {};
    auto *same = llvm::find_if(
        parts, [&](const Part &part) { return part.hasSlice(*slice); });
    if (same == parts.end())
      parts.push_back(makePart(*slice));
    else
      same->slices.push_back(slice);
  }
  double share = 0;
  for (const Part &part : parts) {
    double own = 1;
    for (AxisRange range : part.ranges)
      own *=
          double(range.size()) / double(node.getType().getShape()[range.dim]);
    share += own;
  }
  bool isLess = parts.size() == 1 ? share < 1 : share <= mostInParts;
  return isLess ? parts : llvm::SmallVector<Part, 4>();
}

/// Whether parameters of quantization are involved, which may differ along a
/// dimension.
static bool hasQuantizedValues(const Node &node) {
  auto isQuantized = [](NodeValue value) {
    return value && value.getType().isQuantized();
  };
  return node.getType().isQuantized() ||
         llvm::any_of(node.getOperands(), isQuantized);
}

/// Returns \p value restricted to \p range. Of a slice, the new slice reads the
/// input: a chain of slices would make the producer compute more than is read.
static NodeValue cut(Function &function, NodeValue value, AxisRange range) {
  DimsRef shape = value.getShape();
  if (range.size() == shape[range.dim])
    return value;
  std::vector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  std::vector<int64_t> sizes(shape.begin(), shape.end());
  auto *slice = value.getNodeAs<SliceNode>();
  if (slice && hasUnitSteps(*slice)) {
    starts = slice->getStarts().vec();
    value = slice->getInput();
  }
  starts[range.dim] += range.begin;
  sizes[range.dim] = range.size();
  auto *made = function.create<SliceNode>(value.node->getName(), value, starts,
                                          sizes, steps);
  if (slice && !slice->hasUses())
    function.erase(slice);
  return made->getResult();
}

/// The result of \p node at \p range, computed from parts of its operands; null
/// where that is not possible.
static NodeValue computePart(Function &function, const Node &node,
                             AxisRange range) {
  std::optional<OperandRanges> needed = getOperandRanges(node, range);
  if (!needed)
    return {};
  llvm::SmallVector<NodeValue, 4> operands = node.getOperands();
  for (auto [operand, part] : llvm::zip_equal(operands, *needed))
    if (part)
      operand = cut(function, operand, *part);
  return function.create(node.getName(), draftPart(node, range, operands))
      ->getResult();
}

/// Erases \p node, and the slices that nothing but it reads.
static void eraseWithSlices(Function &function, Node *node) {
  llvm::SmallVector<NodeValue, 4> operands = node->getOperands();
  function.erase(node);
  for (NodeValue operand : operands) {
    auto *slice = operand.getNodeAs<SliceNode>();
    if (slice && !slice->hasUses())
      function.erase(slice);
  }
}

/// What the slices of \p part take of \p node's result.
static NodeValue computePart(Function &function, Node &node, const Part &part) {
  NodeValue value(&node);
  for (AxisRange range : part.ranges) {
    NodeValue whole = value;
    if (NodeValue less = computePart(function, *whole.node, range))
      value = less;
    if (value != whole && whole.node != &node)
      eraseWithSlices(function, whole.node);
  }
  const SliceNode &slice = part.getSlice();
  for (auto [d, begin, size] :
       llvm::enumerate(slice.getStarts(), slice.getSizes()))
    value = cut(function, value, {unsigned(d), begin, begin + size});
  return value;
}

/// Lets parts of \p node that are computed by themselves take the places of the
/// slices of \p parts; false where extents do not allow it.
static bool replaceByParts(Function &function, Node &node,
                           llvm::ArrayRef<Part> parts) {
  NodeTrial trial(function, node);
  llvm::SmallVector<NodeValue, 4> values;
  for (const Part &part : parts) {
    values.push_back(computePart(function, node, part));
    if (!trial.allows(part.getSlice().getResult(), values.back()))
      return false;
  }
  trial.keep();
  for (auto [part, value] : llvm::zip_equal(parts, values))
    for (SliceNode *slice : part.slices) {
      slice->getResult().replaceAllUsesWith(value);
      function.erase(slice);
    }
  return true;
}

llvm::Expected<bool> glowish::bubbleUpSlices(Function &function,
                                             const GraphPassContext &) {
  auto nodes = llvm::to_vector(llvm::make_pointer_range(function.getNodes()));
  bool changed = false;
  for (Node *node : llvm::reverse(nodes)) {
    // canonicalize joins slices of slices.
    if (llvm::isa<SliceNode>(node) || node->getNumResults() != 1 ||
        !node->getInfo().followAxis || hasQuantizedValues(*node))
      continue;
    llvm::SmallVector<Part, 4> parts = findParts(*node);
    if (parts.empty() || !replaceByParts(function, *node, parts))
      continue;
    function.erase(node);
    changed = true;
  }
  return changed;
}
