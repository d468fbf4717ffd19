//===- Concats.cpp - Concatenations move below element-wise nodes ---------===//
//
// f(Concat(a, b), y) becomes Concat(f(a, y1), f(b, y2)) for the parts y1 and y2
// of y, also where a reshape is between the two. So each part is one loop that
// writes it where it belongs; before, the concatenation lay in memory until
// another loop read it. Rotary embeddings join the halves of a vector, or its
// even and odd elements, and compute on.
//
// There are no more instructions after than before where each part is computed
// by something that takes f in, or would have been copied to its place.
//
//===----------------------------------------------------------------------===//

#include "Util/BroadcastShapes.h"
#include "Util/ConstantTensors.h"
#include "Util/Rewriter.h"

using namespace glowish;

/// Each part gets a loop of its own, with code of its own.
static constexpr size_t maxParts = 8;
/// How far parts are cut out of what is computed beside a concatenation.
static constexpr unsigned maxDepth = 8;

namespace {

/// The shapes of the root and of the concatenation, which differ by a reshape,
/// and a part of the latter.
struct Cut {
  Dims outer, inner;
  int64_t axis = 0, start = 0, size = 0;
  /// Whether a run decides where parts begin.
  bool isOpen = false;
};

} // namespace

//===- Other operands -----------------------------------------------------===//

/// Whether parts of \p value are computed instead of parts of its result taken.
static bool isCutInside(NodeValue value) {
  return isElementWise(*value.node) && value.hasOneUse();
}

/// Whether the parts of \p value, an operand beside a concatenation, cost
/// nothing: views, or parts of what is computed for this alone.
static bool canCut(NodeValue value, const Cut &cut, unsigned depth = 0) {
  if (value.getType().isQuantized() || depth == maxDepth)
    return false;
  if (isCutInside(value))
    return llvm::all_of(value.node->getOperands(), [&](NodeValue operand) {
      return canCut(operand, cut, depth + 1);
    });
  // An anchor would lose the element-wise node as its epilogue.
  if (value.node->getInfo().takesEpilogue && value.hasOneUse())
    return false;
  auto shape = reshapeBroadcast(value.getShape(), cut.outer, cut.inner);
  return shape && (!cut.isOpen || (*shape)[cut.axis] == 1);
}

/// The part of \p value that meets the part \p cut of the concatenation.
static NodeValue cutOut(NodeValue value, const Cut &cut,
                        RewriteContext &context) {
  if (isCutInside(value)) {
    NodeDraft draft = value.node->getDraft();
    for (NodeValue &operand : draft.operands)
      operand = cutOut(operand, cut, context);
    return context.recreate(*value.node, std::move(draft));
  }
  Dims sizes = *reshapeBroadcast(value.getShape(), cut.outer, cut.inner);
  NodeValue whole = context.reshape(value, sizes);
  if (sizes[cut.axis] == 1)
    return whole;
  Dims starts(sizes.size(), 0), steps(sizes.size(), 1);
  starts[cut.axis] = cut.start;
  sizes[cut.axis] = cut.size;
  return context.create<SliceNode>(whole, starts, sizes, steps);
}

//===- The concatenation --------------------------------------------------===//

/// The concatenation that \p value is, perhaps reshaped, if nothing else reads
/// it; or null.
static ConcatNode *getConcat(NodeValue value) {
  if (!value.hasOneUse())
    return nullptr;
  if (auto *reshape = value.getNodeAs<ReshapeNode>()) {
    value = reshape->getInput();
    if (!value.hasOneUse())
      return nullptr;
  }
  return value.getNodeAs<ConcatNode>();
}

/// Whether an element-wise node of \p part takes no instruction more than
/// \p part, which is to be in its place in a concatenation, does by itself.
static bool takesNode(NodeValue part, bool areOthersConstant) {
  // In an epilogue, a part of another value could need a copy.
  if (part.node->getInfo().takesEpilogue)
    return part.hasOneUse() && areOthersConstant;
  bool isOwn = part.hasOneUse();
  while (auto *reshape = part.getNodeAs<ReshapeNode>()) {
    part = reshape->getInput();
    isOwn &= part.hasOneUse();
  }
  if (isElementWise(*part.node))
    return isOwn;
  return llvm::isa<SliceNode, Placeholder>(part.node) ||
         isConstantOrSplat(part);
}

/// Returns the whole of \p concat, of which \p operand is perhaps a reshape.
static Cut getWhole(NodeValue operand, ConcatNode &concat) {
  int64_t axis = concat.getAxis();
  llvm::SmallVector<NodeValue, 4> parts = concat.getInputs();
  bool isOpen = llvm::any_of(llvm::drop_end(parts), [&](NodeValue part) {
    return part.getType().getExtent(unsigned(axis));
  });
  return {.outer = Dims(operand.getShape()),
          .inner = Dims(concat.getType().getShape()),
          .axis = axis,
          .isOpen = isOpen};
}

/// Whether it pays to compute \p root on the parts of \p concat, and whether
/// there are such parts of its other operands.
static bool isWorthwhile(Node &root, NodeValue operand, ConcatNode &concat) {
  if (concat.getInputs().size() > maxParts ||
      operand.getShape() != root.getType().getShape() ||
      root.getType().getNumElements() == 0 || operand.getType().isQuantized() ||
      root.getType().isQuantized())
    return false;
  Cut cut = getWhole(operand, concat);
  bool areOthersConstant = true;
  for (NodeValue value : root.getOperands()) {
    if (value == operand)
      continue;
    areOthersConstant &= isConstantOrSplat(value);
    if (!canCut(value, cut))
      return false;
  }
  return llvm::all_of(concat.getInputs(), [&](NodeValue part) {
    return takesNode(part, areOthersConstant);
  });
}

static NodeValue sinkConcat(Node &root, RewriteContext &context) {
  NodeValue operand;
  for (NodeValue value : root.getOperands())
    if (ConcatNode *concat = getConcat(value);
        concat && isWorthwhile(root, value, *concat)) {
      operand = value;
      break;
    }
  if (!operand)
    return {};
  ConcatNode &concat = *getConcat(operand);
  Cut cut = getWhole(operand, concat);
  llvm::SmallVector<NodeValue, 4> parts;
  for (NodeValue part : concat.getInputs()) {
    cut.size = part.getShape()[cut.axis];
    NodeDraft draft = root.getDraft();
    for (NodeValue &value : draft.operands)
      value = value == operand ? part : cutOut(value, cut, context);
    parts.push_back(context.recreate(root, std::move(draft)));
    cut.start += cut.size;
  }
  NodeValue joined = context.create<ConcatNode>(parts, cut.axis);
  return context.reshape(joined, cut.outer);
}

llvm::Expected<bool> glowish::sinkConcats(Function &function,
                                          const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.addElementWise<sinkConcat>();
  });
}
