//===- Canonicalize.cpp - Clean-ups that are always right -----------------===//

#include "Util/ConstantTensors.h"
#include "Util/Permutations.h"
#include "Util/Rewriter.h"
#include "Util/SliceParts.h"
#include "glowish/Base/CheckedInt.h"
#include "llvm/ADT/Sequence.h"

using namespace glowish;

// canonicalizeNAME for the nodes whose record has HasCanonicalization.
#define CANONICALIZATION(NAME)                                                 \
  static NodeValue canonicalize##NAME(NAME##Node &root,                        \
                                      RewriteContext &context);
#define GET_CANONICALIZATION_LIST
#include "glowish/Graph/NodeFunctions.inc"

//===- Reshapes and transposes --------------------------------------------===//

static NodeValue canonicalizeReshape(ReshapeNode &root,
                                     RewriteContext &context) {
  if (NodeValue joined = joinReshapes(root, context))
    return joined;
  NodeValue input = root.getInput();
  if (auto *splat = input.getNodeAs<SplatNode>())
    return context.create<SplatNode>(splat->getElemKind(), root.getShape(),
                                     splat->getValue());
  auto *transpose = input.getNodeAs<TransposeNode>();
  if (transpose && isReshape(*transpose))
    return context.reshape(transpose->getInput(), root.getType().getShape());
  return {};
}

/// Returns the value itself where one view takes its extents, and another one
/// gives them back.
static NodeValue canonicalizeDeclareExtents(DeclareExtentsNode &root,
                                            RewriteContext &) {
  auto *inner = root.getInput().getNodeAs<DeclareExtentsNode>();
  bool isSame = inner && root.getType().hasExtents() &&
                root.getCounts().empty() && inner->getCounts().empty() &&
                inner->getInput().getType() == root.getType();
  return isSame ? inner->getInput() : NodeValue();
}

/// Returns a Reshape; it is not taken where it has other extents, as it has the
/// elements in row-major order of the bounds.
static NodeValue canonicalizeRepack(RepackNode &root, RewriteContext &context) {
  const Type &from = root.getInput().getType(), &to = root.getType();
  if (!root.getCounts().empty() || from.getNumElements() != to.getNumElements())
    return {};
  return context.reshape(root.getInput(), to.getShape());
}

static NodeValue canonicalizeTranspose(TransposeNode &root,
                                       RewriteContext &context) {
  NodeValue input = root.getInput();
  if (auto *inner = input.getNodeAs<TransposeNode>()) {
    std::vector<int64_t> joined;
    for (int64_t axis : root.getPermutation())
      joined.push_back(inner->getPermutation()[axis]);
    return context.transpose(inner->getInput(), joined);
  }
  if (auto *splat = input.getNodeAs<SplatNode>())
    return context.create<SplatNode>(
        splat->getElemKind(), root.getType().getShape(), splat->getValue());
  return {};
}

//===- Slices and concatenations ------------------------------------------===//

static NodeValue canonicalizeSlice(SliceNode &root, RewriteContext &context) {
  NodeValue input = root.getInput();
  auto isOne = [](int64_t step) { return step == 1; };
  bool isPlain = llvm::all_of(root.getSteps(), isOne);
  if (input.getShape() == root.getType().getShape() && isPlain)
    return input;
  if (root.getType().getNumElements() == 0)
    return {};
  if (auto *inner = input.getNodeAs<SliceNode>()) {
    std::vector<int64_t> starts, steps;
    for (unsigned d = 0; d < root.getStarts().size(); ++d) {
      starts.push_back(inner->getStarts()[d] +
                       root.getStarts()[d] * inner->getSteps()[d]);
      // The step to a next element, of which there is none if it overflows.
      CheckedInt step = CheckedInt(root.getSteps()[d]) * inner->getSteps()[d];
      steps.push_back(step.get().value_or(1));
    }
    return context.create<SliceNode>(inner->getInput(), starts, root.getSizes(),
                                     steps);
  }
  auto *concat = input.getNodeAs<ConcatNode>();
  if (!concat || !isPlain)
    return {};
  // A slice within one of the parts.
  int64_t axis = concat->getAxis(), begin = 0;
  for (NodeValue part : concat->getInputs()) {
    int64_t start = root.getStarts()[axis] - begin;
    int64_t extent = part.getShape()[axis];
    if (start >= 0 && start + root.getSizes()[axis] <= extent) {
      std::vector<int64_t> starts = root.getStarts().vec();
      starts[axis] = start;
      return context.create<SliceNode>(part, starts, root.getSizes(),
                                       root.getSteps());
    }
    // A run decides where the next one begins.
    if (part.getType().getExtent(unsigned(axis)))
      return {};
    begin += extent;
  }
  return {};
}

/// The slice that \p a and \p b, joined along \p axis, are; null where they are
/// not neighbours in one value.
static NodeValue joinNeighbours(NodeValue a, NodeValue b, int64_t axis,
                                RewriteContext &context) {
  auto *first = a.getNodeAs<SliceNode>(), *second = b.getNodeAs<SliceNode>();
  if (!first || !second || first->getInput() != second->getInput() ||
      first->getSteps() != second->getSteps())
    return {};
  std::vector<int64_t> expected = first->getStarts().vec();
  std::vector<int64_t> sizes = first->getSizes().vec();
  CheckedInt next =
      CheckedInt(sizes[axis]) * first->getSteps()[axis] + expected[axis];
  if (!next.get())
    return {};
  expected[axis] = *next.get();
  if (second->getStarts() != llvm::ArrayRef<int64_t>(expected))
    return {};
  sizes[axis] += second->getSizes()[axis];
  return context.create<SliceNode>(first->getInput(), first->getStarts(), sizes,
                                   first->getSteps());
}

static NodeValue canonicalizeConcat(ConcatNode &root, RewriteContext &context) {
  llvm::SmallVector<NodeValue, 4> inputs = root.getInputs();
  if (inputs.size() == 1)
    return inputs[0];
  int64_t axis = root.getAxis();
  if (NodeValue whole = findWhole(inputs, axis))
    return whole;
  llvm::SmallVector<NodeValue, 4> flat;
  for (NodeValue input : inputs) {
    auto *inner = input.getNodeAs<ConcatNode>();
    if (input.getShape()[axis] == 0 && root.getType().getDim(axis) != 0)
      continue;
    if (inner && inner->getAxis() == axis && input.hasOneUse())
      llvm::append_range(flat, inner->getInputs());
    else if (NodeValue joined =
                 flat.empty()
                     ? NodeValue()
                     : joinNeighbours(flat.back(), input, axis, context))
      flat.back() = joined;
    else
      flat.push_back(input);
  }
  if (llvm::ArrayRef<NodeValue>(flat) == llvm::ArrayRef<NodeValue>(inputs))
    return {};
  return context.create<ConcatNode>(flat, axis);
}

/// Picking by constant indices at equal distances is a slice.
static NodeValue canonicalizeGather(GatherNode &root, RewriteContext &context) {
  const Tensor *indices = getConstantTensor(root.getIndices());
  NodeValue input = root.getInput();
  int64_t axis = root.getAxis(), extent = input.getShape()[axis];
  if (!indices || indices->getNumElements() == 0 || extent == 0 ||
      input.getType().isQuantized())
    return {};
  // A run decides which element one from the end is.
  bool isOpen = input.getType().getExtent(unsigned(axis));
  auto isNegative = [&](int64_t i) { return indices->getAsInt(i) < 0; };
  if (isOpen && llvm::any_of(llvm::seq(indices->getNumElements()), isNegative))
    return {};
  auto getIndex = [&](int64_t i) {
    int64_t index = indices->getAsInt(i);
    return std::clamp<int64_t>(index < 0 ? index + extent : index, 0,
                               extent - 1);
  };
  int64_t count = indices->getNumElements(), start = getIndex(0);
  int64_t step = count == 1 ? 1 : getIndex(1) - start;
  if (step <= 0)
    return {};
  for (int64_t i = 1; i < count; ++i)
    if (getIndex(i) != start + i * step)
      return {};
  std::vector<int64_t> starts(input.getShape().size(), 0);
  std::vector<int64_t> sizes(input.getShape().begin(), input.getShape().end());
  std::vector<int64_t> steps(starts.size(), 1);
  starts[axis] = start;
  sizes[axis] = count;
  steps[axis] = step;
  return context.reshape(context.create<SliceNode>(input, starts, sizes, steps),
                         root.getType().getShape());
}

//===- Nodes that do nothing ----------------------------------------------===//

static NodeValue canonicalizeBroadcast(BroadcastNode &root, RewriteContext &) {
  NodeValue input = root.getInput();
  return input.getType() == root.getType() ? input : NodeValue();
}

static NodeValue canonicalizePad(PadNode &root, RewriteContext &) {
  bool isNothing =
      llvm::all_of(root.getPads(), [](int64_t pad) { return pad == 0; });
  return isNothing ? root.getInput() : NodeValue();
}

static NodeValue canonicalizeCast(CastNode &root, RewriteContext &) {
  NodeValue input = root.getX();
  return input.getType() == root.getType() ? input : NodeValue();
}

/// A condition that is the same everywhere.
static NodeValue canonicalizeSelect(SelectNode &root, RewriteContext &) {
  std::optional<double> condition = getUniformValue(root.getCondition());
  if (!condition)
    return {};
  NodeValue chosen = *condition != 0 ? root.getX() : root.getY();
  return chosen.getType() == root.getType() ? chosen : NodeValue();
}

static NodeValue canonicalizeResize(ResizeNode &root, RewriteContext &) {
  NodeValue input = root.getInput();
  bool isSame = input.getType() == root.getType() && root.getScaleH() == 1 &&
                root.getScaleW() == 1;
  return isSame ? input : NodeValue();
}

//===- Arithmetic ---------------------------------------------------------===//

/// x where the other operand is neutral and the shape stays.
static NodeValue dropNeutral(Node &root, NodeValue x, NodeValue other,
                             double neutral) {
  if (x.getType() != root.getType())
    return {};
  std::optional<double> value = getUniformValue(other);
  return value && *value == neutral ? x : NodeValue();
}

// x + 0 is not x for x = -0, but equal to it.
static NodeValue canonicalizeAdd(AddNode &root, RewriteContext &) {
  if (NodeValue x = dropNeutral(root, root.getX(), root.getY(), 0))
    return x;
  return dropNeutral(root, root.getY(), root.getX(), 0);
}
static NodeValue canonicalizeSub(SubNode &root, RewriteContext &) {
  return dropNeutral(root, root.getX(), root.getY(), 0);
}
static NodeValue canonicalizeDiv(DivNode &root, RewriteContext &) {
  return dropNeutral(root, root.getX(), root.getY(), 1);
}

/// Variances are squares: x to the power 2 is x * x, and exactly so.
static NodeValue canonicalizePow(PowNode &root, RewriteContext &context) {
  std::optional<double> exponent = getUniformValue(root.getOperand(1));
  if (!exponent || (*exponent != 1 && *exponent != 2) ||
      root.getOperand(0).getType() != root.getType())
    return {};
  NodeValue x = root.getOperand(0);
  return *exponent == 1 ? x : context.create<MulNode>(x, x);
}

static NodeValue canonicalizeMul(MulNode &root, RewriteContext &) {
  NodeValue x = root.getX(), y = root.getY();
  if (NodeValue value = dropNeutral(root, x, y, 1))
    return value;
  return dropNeutral(root, y, x, 1);
}

//===- After transposes have moved ----------------------------------------===//

static NodeValue makeReshape(TransposeNode &root, RewriteContext &context) {
  if (!isReshape(root))
    return {};
  return context.reshape(root.getInput(), root.getType().getShape());
}

llvm::Expected<bool>
glowish::makeTransposesReshapes(Function &function,
                                const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<makeReshape>(NodeKind::Transpose);
  });
}

llvm::Expected<bool> glowish::canonicalize(Function &function,
                                           const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
#define CANONICALIZATION(NAME) rewrites.add<canonicalize##NAME>(NodeKind::NAME);
#define GET_CANONICALIZATION_LIST
#include "glowish/Graph/NodeFunctions.inc"
  });
}
