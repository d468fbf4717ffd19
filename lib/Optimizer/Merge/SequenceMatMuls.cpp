//===- SequenceMatMuls.cpp - One matmul for all time steps ----------------===//
//
// x[0] W, x[1] W, ..., as unrolled recurrent cells have them, become slices of
// x W: the weights are read once and not at each step.
//
//===----------------------------------------------------------------------===//

#include "Util/ConstantTensors.h"
#include "Util/NodeTrial.h"
#include "Util/Projections.h"
#include "glowish/Optimizer/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace glowish;

namespace {

/// A projection of one step, a slice of a sequence.
struct SequenceStep {
  Projection projection;
  SliceNode *slice = nullptr;

  int64_t getStart(int64_t axis) const { return slice->getStarts()[axis]; }
  int64_t getSize(int64_t axis) const { return slice->getSizes()[axis]; }
  /// Returns the matmul, with its bias if \p bias is not null.
  NodeValue getResult(NodeValue bias) const {
    return bias ? projection.getResult() : NodeValue(projection.matMul);
  }
};

/// The key of a group of steps: the sequence, the dimension that is sliced, and
/// the weights.
using Key = std::pair<std::pair<Node *, unsigned>, std::pair<int64_t, Node *>>;

} // namespace

/// The dimension that \p slice cuts, if it is one, not the last; -1 otherwise.
static int64_t getCutAxis(SliceNode &slice) {
  DimsRef whole = slice.getInput().getShape();
  int64_t axis = -1, last = int64_t(whole.size()) - 1;
  for (int64_t d = 0; d <= last; ++d) {
    if (slice.getSizes()[d] == whole[d] && slice.getSteps()[d] == 1)
      continue;
    if (axis >= 0 || d == last || slice.getSteps()[d] != 1)
      return -1;
    axis = d;
  }
  return axis;
}

/// Whether \p value is a matmul, with constants added or multiplied, that has
/// no other reader: it adds another operand in its epilogue.
static bool isMatMul(NodeValue value) {
  // A factor and a bias are what there can be.
  constexpr unsigned maxNodes = 4;
  for (unsigned i = 0;
       i < maxNodes && value.hasOneUse() && isElementWise(*value.node); ++i) {
    NodeValue next;
    for (NodeValue operand : value.node->getOperands())
      if (operand.getType() == value.getType() && !getConstantTensor(operand))
        next = operand;
    if (!next)
      return false;
    value = next;
  }
  return value.hasOneUse() && llvm::isa<MatMulNode>(value.node);
}

/// Whether the result of \p projection is needed as a part of a larger buffer
/// as well as by itself: it is moved, or goes into the epilogue of another
/// matmul. An epilogue of its own would be lost.
static bool canBePart(const Projection &projection) {
  NodeValue result = projection.getResult();
  auto isMove = [](const Use &use) {
    return llvm::isa<ReshapeNode, TransposeNode, SliceNode>(use.getUser());
  };
  if (llvm::all_of(result.node->uses(), isMove))
    return result.node->hasUses();
  if (!result.hasOneUse())
    return false;
  Node &user = *(*result.node->uses().begin()).getUser();
  return isElementWise(user) &&
         llvm::any_of(user.getOperands(), [&](NodeValue operand) {
           return operand != result && isMatMul(operand);
         });
}

static std::optional<SequenceStep> matchStep(MatMulNode &matMul) {
  NodeValue lhs = matMul.getLhs();
  if (auto *reshape = lhs.getNodeAs<ReshapeNode>())
    lhs = reshape->getInput();
  auto *slice = lhs.getNodeAs<SliceNode>();
  std::optional<Projection> projection = getProjection(matMul);
  if (!slice || !projection || !canBePart(*projection) ||
      getCutAxis(*slice) < 0 ||
      slice->getType().getShape().back() != matMul.getLhs().getShape().back())
    return std::nullopt;
  return SequenceStep{*projection, slice};
}

/// Whether \p steps, in order, are all of the sequence, each element once.
static bool areWhole(llvm::ArrayRef<SequenceStep> steps, int64_t axis) {
  int64_t next = 0;
  for (const SequenceStep &step : steps) {
    if (step.getStart(axis) != next)
      return false;
    next += step.getSize(axis);
  }
  return next == steps.front().slice->getInput().getShape()[axis];
}

/// Returns the bias that all of \p steps have; null where they have none, or
/// different ones.
static NodeValue getCommonBias(llvm::ArrayRef<SequenceStep> steps) {
  NodeValue bias = steps.front().projection.bias;
  bool isCommon = llvm::all_of(steps, [&](const SequenceStep &step) {
    return step.projection.bias == bias;
  });
  return isCommon ? bias : NodeValue();
}

/// Makes slices of one matmul, which has the right side of \p first, that have
/// what \p steps compute, with \p bias unless that is null.
static llvm::SmallVector<NodeValue, 4>
makeSlices(llvm::ArrayRef<SequenceStep> steps, MatMulNode &first,
           NodeValue bias, Function &function) {
  NodeValue whole =
      function
          .create<MatMulNode>(first.getName(), steps.front().slice->getInput(),
                              first.getRhs())
          ->getResult();
  if (bias)
    whole = function.create<AddNode>(first.getName(), whole, bias)->getResult();
  llvm::SmallVector<NodeValue, 4> parts;
  for (const SequenceStep &step : steps) {
    NodeValue result = step.getResult(bias);
    Dims sizes(step.slice->getSizes());
    sizes.back() = result.getShape().back();
    NodeValue part = function
                         .create<SliceNode>(result.node->getName(), whole,
                                            step.slice->getStarts(), sizes,
                                            step.slice->getSteps())
                         ->getResult();
    if (part.getShape() != result.getShape())
      part = function
                 .create<ReshapeNode>(result.node->getName(), part,
                                      result.getShape())
                 ->getResult();
    parts.push_back(part);
  }
  return parts;
}

/// Replaces all of \p steps by slices of one matmul, which stands where
/// \p first, the first of the matmuls, stands; false where extents do not allow
/// it.
static bool merge(llvm::ArrayRef<SequenceStep> steps, MatMulNode &first,
                  Function &function) {
  NodeValue bias = getCommonBias(steps);
  llvm::SmallVector<NodeValue, 4> parts;
  {
    NodeTrial trial(function, first);
    parts = makeSlices(steps, first, bias, function);
    for (auto [step, part] : llvm::zip_equal(steps, parts))
      if (!trial.allows(step.getResult(bias), part))
        return false;
    trial.keep();
  }
  for (auto [step, part] : llvm::zip_equal(steps, parts)) {
    step.getResult(bias).replaceAllUsesWith(part);
    if (bias && step.projection.sum)
      function.erase(step.projection.sum);
    function.erase(step.projection.matMul);
  }
  return true;
}

llvm::Expected<bool> glowish::batchSequenceMatMuls(Function &function,
                                                   const GraphPassContext &) {
  llvm::MapVector<Key, std::vector<SequenceStep>> groups;
  for (Node &node : function.getNodes())
    if (auto *matMul = llvm::dyn_cast<MatMulNode>(&node))
      if (std::optional<SequenceStep> step = matchStep(*matMul)) {
        NodeValue sequence = step->slice->getInput();
        groups[{{sequence.node, sequence.result},
                {getCutAxis(*step->slice), matMul->getRhs().node}}]
            .push_back(*step);
      }
  bool changed = false;
  for (auto &[key, steps] : groups) {
    int64_t axis = key.second.first;
    auto &first = llvm::cast<MatMulNode>(*steps.front().projection.matMul);
    llvm::sort(steps, [&](const SequenceStep &a, const SequenceStep &b) {
      return a.getStart(axis) < b.getStart(axis);
    });
    if (steps.size() < 2 || !areWhole(steps, axis))
      continue;
    changed |= merge(steps, first, function);
  }
  return changed;
}
