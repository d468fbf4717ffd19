//===- AttentionScores.cpp - The scores of an attention -------------------===//

#include "Recognize/AttentionScores.h"
#include "Util/ConstantTensors.h"
#include <limits>

using namespace glowish;

/// Adding this to a score gives the same as replacing it.
static constexpr double replacingScore = -1e30;
/// The largest value that may replace excluded scores, where each query has a
/// score that is not excluded: e^x is 0 beside that.
static constexpr double replacedScore = -1e4;

/// A matmul times constants, all with one user.
static std::optional<AttentionScores> matchScaledMatMul(NodeValue value) {
  AttentionScores scores;
  while (value.hasOneUse()) {
    if (auto *matMul = value.getNodeAs<MatMulNode>()) {
      scores.matMul = matMul;
      return scores;
    }
    auto [inner, factor] = splitFactor(value);
    if (inner == value)
      return std::nullopt;
    scores.scale *= factor;
    value = inner;
  }
  return std::nullopt;
}

/// \p sum as a matmul plus a mask.
static std::optional<AttentionScores> matchMasked(AddNode &sum) {
  for (auto [value, mask] :
       {std::pair(sum.getX(), sum.getY()), std::pair(sum.getY(), sum.getX())}) {
    std::optional<AttentionScores> scores = matchScaledMatMul(value);
    if (!scores || value.getType() != sum.getType())
      continue;
    scores->mask = mask;
    return scores;
  }
  return std::nullopt;
}

/// Returns how many elements the last dimension of the result of \p node has in
/// all runs.
static int64_t getLeastLength(const Node &node) {
  const Type &type = node.getType();
  unsigned last = type.getRank() - 1;
  const SymbolRanges &symbols = node.getParent()->getModule().getSymbols();
  auto range = symbols.getRange(type.getLength(last));
  return range ? range->low : 0;
}

/// Whether the condition of \p select is a constant that is not \p value
/// everywhere along its last dimension.
static bool leavesOne(const SelectNode &select, bool value) {
  const Tensor *tensor = getConstantTensor(select.getCondition());
  if (!tensor || tensor->getType().getRank() == 0)
    return false;
  int64_t length = tensor->getType().getShape().back();
  int64_t least = std::min(length, getLeastLength(select));
  for (int64_t i = 0; i < tensor->getNumElements(); i += length) {
    bool isFound = false;
    for (int64_t k = 0; k < least; ++k)
      isFound |= (tensor->getAsDouble(i + k) != 0) != value;
    if (!isFound)
      return false;
  }
  return true;
}

/// \p select as a matmul, perhaps plus a mask, of which some elements are
/// replaced.
static std::optional<AttentionScores> matchReplaced(SelectNode &select) {
  for (bool fillsWhere : {false, true}) {
    NodeValue value = fillsWhere ? select.getOperand(2) : select.getOperand(1);
    NodeValue other = fillsWhere ? select.getOperand(1) : select.getOperand(2);
    std::optional<double> fill = getUniformValue(other);
    bool isReplaced =
        fill && *fill <= replacedScore && leavesOne(select, fillsWhere);
    if (!fill || !(*fill <= replacingScore || isReplaced) ||
        value.getType() != select.getType())
      continue;
    auto *sum = value.getNodeAs<AddNode>();
    std::optional<AttentionScores> scores =
        sum && value.hasOneUse() ? matchMasked(*sum) : matchScaledMatMul(value);
    // A mask may hide what is left beside those.
    if (!scores || (scores->mask && isReplaced))
      continue;
    scores->condition = select.getOperand(0);
    scores->fillsWhere = fillsWhere;
    scores->fill = isReplaced ? std::min(*fill, replacingScore) : *fill;
    return scores;
  }
  return std::nullopt;
}

/// The scores that \p value is, which is read by a softmax, and by \p numUses
/// in all.
static std::optional<AttentionScores> matchScores(NodeValue value,
                                                  unsigned numUses) {
  if (!value.hasUses(numUses))
    return std::nullopt;
  if (auto *sum = value.getNodeAs<AddNode>())
    return matchMasked(*sum);
  if (auto *select = value.getNodeAs<SelectNode>())
    return matchReplaced(*select);
  return matchScaledMatMul(value);
}

/// Whether \p condition is whether a row of \p scores has nothing but
/// -infinity.
static bool isMaskedRow(NodeValue condition, NodeValue scores) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  auto *equal = condition.getNodeAs<EqualNode>();
  auto *largest = equal ? equal->getX().getNodeAs<ReduceNode>() : nullptr;
  return largest && getUniformValue(equal->getY()) == none &&
         largest->getInput() == scores && largest->getMode() == "max" &&
         largest->getKeepDims() && largest->getAxes().size() == 1 &&
         largest->getAxes()[0] + 1 == int64_t(scores.getType().getRank());
}

/// The softmax that \p select leaves but for masked rows, which it makes 0.
static SoftmaxNode *matchCleared(const SelectNode &select) {
  auto *softmax = select.getY().getNodeAs<SoftmaxNode>();
  bool isCleared = softmax && select.getY().hasOneUse() &&
                   select.getType() == softmax->getType() &&
                   getUniformValue(select.getX()) == 0.0 &&
                   isMaskedRow(select.getCondition(), softmax->getInput());
  return isCleared ? softmax : nullptr;
}

std::optional<AttentionWeights> glowish::matchWeights(NodeValue value) {
  if (!value.hasOneUse())
    return std::nullopt;
  auto *softmax = value.getNodeAs<SoftmaxNode>();
  auto *select = value.getNodeAs<SelectNode>();
  if (select)
    softmax = matchCleared(*select);
  if (!softmax || softmax->getAxis() + 1 != int64_t(value.getType().getRank()))
    return std::nullopt;
  // The largest score is another reader.
  unsigned numUses = select ? 2 : 1;
  std::optional<AttentionScores> scores =
      matchScores(softmax->getInput(), numUses);
  if (!scores)
    return std::nullopt;
  return AttentionWeights{*scores, select != nullptr};
}

NodeValue AttentionScores::makeMask(RewriteContext &context) const {
  if (!condition)
    return mask;
  ElemKind kind = matMul->getType().getKind();
  NodeValue added = mask ? mask : context.createScalar(kind, 0);
  NodeValue filled = context.createScalar(kind, fill);
  return fillsWhere ? context.create<SelectNode>(condition, filled, added)
                    : context.create<SelectNode>(condition, added, filled);
}

bool glowish::fitsAttention(MatMulNode &scores, MatMulNode &result) {
  DimsRef leading = result.getType().getShape().drop_back(2);
  return llvm::all_of(
             llvm::ArrayRef<NodeValue>{scores.getLhs(), scores.getRhs(),
                                       result.getLhs(), result.getRhs()},
             [&](NodeValue value) {
               return value.getShape().drop_back(2) == leading;
             }) &&
         scores.getType().getShape().back() > 0 &&
         isFloatKind(result.getType().getKind());
}
