//===- Attention.cpp - Attention of matmuls and a softmax -----------------===//
//
// softmax(query * key^T * scale + mask) * value, where intermediate results
// have no other readers. Scale and mask may be absent; exporters scale the
// matmul, or the query, or query and key with a root each.
//
//===----------------------------------------------------------------------===//

#include "Util/ConstantTensors.h"
#include "Util/Rewriter.h"

using namespace glowish;

/// The largest value of an additive mask that excludes a score: e^x of the sum
/// is 0 beside any other score.
static constexpr double maskedScore = -1e9;
/// Adding this to a score gives the same as replacing it.
static constexpr double replacingScore = -1e30;
/// The largest value that may replace excluded scores, where each query has a
/// score that is not excluded: e^x is 0 beside that.
static constexpr double replacedScore = -1e4;

namespace {

struct Scores {
  MatMulNode *matMul = nullptr;
  double scale = 1;
  /// Added to the matmul; null for none.
  NodeValue mask;
  /// Where this is not null, scores become `fill` where it is `fillsWhere`.
  NodeValue condition;
  bool fillsWhere = false;
  double fill = 0;
};

} // namespace

/// A matmul times constants, all with one user.
static std::optional<Scores> matchScaledMatMul(NodeValue value) {
  Scores scores;
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
static std::optional<Scores> matchMasked(AddNode &sum) {
  for (auto [value, mask] :
       {std::pair(sum.getX(), sum.getY()), std::pair(sum.getY(), sum.getX())}) {
    std::optional<Scores> scores = matchScaledMatMul(value);
    if (!scores || value.getType() != sum.getType())
      continue;
    scores->mask = mask;
    return scores;
  }
  return std::nullopt;
}

/// Whether \p condition is a constant that is not \p value everywhere along its
/// last dimension.
static bool leavesOne(NodeValue condition, bool value) {
  const Tensor *tensor = getConstantTensor(condition);
  if (!tensor || tensor->getType().getRank() == 0)
    return false;
  int64_t length = tensor->getType().getShape().back();
  for (int64_t i = 0; i < tensor->getNumElements(); i += length) {
    bool isFound = false;
    for (int64_t k = 0; k < length; ++k)
      isFound |= (tensor->getAsDouble(i + k) != 0) != value;
    if (!isFound)
      return false;
  }
  return true;
}

/// \p select as a matmul of which some elements are replaced.
static std::optional<Scores> matchReplaced(SelectNode &select) {
  for (bool fillsWhere : {false, true}) {
    NodeValue value = fillsWhere ? select.getOperand(2) : select.getOperand(1);
    NodeValue other = fillsWhere ? select.getOperand(1) : select.getOperand(2);
    std::optional<double> fill = getUniformValue(other);
    bool isReplaced = fill && *fill <= replacedScore &&
                      leavesOne(select.getOperand(0), fillsWhere);
    if (!fill || !(*fill <= replacingScore || isReplaced) ||
        value.getType() != select.getType())
      continue;
    std::optional<Scores> scores = matchScaledMatMul(value);
    if (!scores)
      continue;
    scores->condition = select.getOperand(0);
    scores->fillsWhere = fillsWhere;
    scores->fill = isReplaced ? std::min(*fill, replacingScore) : *fill;
    return scores;
  }
  return std::nullopt;
}

static std::optional<Scores> matchScores(NodeValue value) {
  if (!value.hasOneUse())
    return std::nullopt;
  if (auto *sum = value.getNodeAs<AddNode>())
    return matchMasked(*sum);
  if (auto *select = value.getNodeAs<SelectNode>())
    return matchReplaced(*select);
  return matchScaledMatMul(value);
}

/// Whether the matmuls have the same leading dimensions, and there are keys.
static bool fits(MatMulNode &scores, MatMulNode &result) {
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

/// \p value without its constant factor, by which \p scale is multiplied. The
/// factor may be before transposes and reshapes.
static NodeValue takeFactor(NodeValue value, double &scale,
                            RewriteContext &context) {
  auto [inner, factor] = splitFactor(value);
  scale *= factor;
  if (inner != value)
    return inner;
  bool isMoved = llvm::isa<TransposeNode, ReshapeNode>(value.node);
  if (!isMoved || value.getType().isQuantized())
    return value;
  NodeValue before = value.node->getOperand(0);
  NodeValue taken = takeFactor(before, scale, context);
  if (taken == before)
    return value;
  if (auto *transpose = value.getNodeAs<TransposeNode>())
    return context.transpose(taken, transpose->getPermutation());
  return context.reshape(taken, value.getShape());
}

static NodeValue swapLastTwo(NodeValue value, RewriteContext &context) {
  std::vector<int64_t> permutation;
  for (size_t d = 0; d < value.getShape().size(); ++d)
    permutation.push_back(d);
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  return context.transpose(value, permutation);
}

static NodeValue recognizeAttention(MatMulNode &root, RewriteContext &context) {
  auto *softmax = root.getLhs().getNodeAs<SoftmaxNode>();
  if (!softmax || !root.getLhs().hasOneUse() ||
      softmax->getAxis() + 1 != int64_t(softmax->getType().getRank()))
    return {};
  std::optional<Scores> scores = matchScores(softmax->getInput());
  if (!scores || !fits(*scores->matMul, root))
    return {};
  double scale = scores->scale;
  NodeValue query = takeFactor(scores->matMul->getLhs(), scale, context);
  NodeValue key = swapLastTwo(
      takeFactor(scores->matMul->getRhs(), scale, context), context);
  NodeValue mask = scores->mask;
  if (scores->condition) {
    ElemKind kind = root.getType().getKind();
    NodeValue zero = context.createScalar(kind, 0);
    NodeValue fill = context.createScalar(kind, scores->fill);
    mask = scores->fillsWhere
               ? context.create<SelectNode>(scores->condition, fill, zero)
               : context.create<SelectNode>(scores->condition, zero, fill);
  }
  return context.create<AttentionNode>(query, key, root.getRhs(), mask, scale,
                                       /*causal=*/false);
}

/// Whether a constant mask lets query m attend to keys up to m + keys -
/// queries.
static bool isCausal(const Tensor &mask, int64_t queries, int64_t keys) {
  DimsRef shape = mask.getType().getShape();
  if (mask.getNumElements() != queries * keys || shape.size() < 2 ||
      shape.back() != keys || keys < queries)
    return false;
  for (int64_t m = 0; m < queries; ++m)
    for (int64_t n = 0; n < keys; ++n) {
      double value = mask.getAsDouble(m * keys + n);
      bool isSeen = n <= m + keys - queries;
      if (isSeen ? value != 0 : !(value <= maskedScore))
        return false;
    }
  return true;
}

static NodeValue recognizeCausal(AttentionNode &root, RewriteContext &context) {
  const Tensor *mask = getConstantTensor(root.getMask());
  DimsRef query = root.getQuery().getShape(), key = root.getKey().getShape();
  if (root.getCausal() || !mask ||
      !isCausal(*mask, query[query.size() - 2], key[key.size() - 2]))
    return {};
  return context.create<AttentionNode>(root.getQuery(), root.getKey(),
                                       root.getValue(), NodeValue(),
                                       root.getScale(), /*causal=*/true);
}

llvm::Expected<bool>
glowish::recognizeAttentions(Function &function,
                             const GraphPassContext &context) {
  static const RewriteSet set = [] {
    RewriteSet rewrites;
    rewrites.add<recognizeAttention>(NodeKind::MatMul);
    rewrites.add<recognizeCausal>(NodeKind::Attention);
    return rewrites;
  }();
  return applyRewrites(function, set, context);
}
