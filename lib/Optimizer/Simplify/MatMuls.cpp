//===- MatMuls.cpp - Moves factors and transposes of matmuls --------------===//
//
// Factors of an operand go into constant weights, or behind the matmul, where
// they are an epilogue. Transposes on two sides of a matmul become one.
//
//===----------------------------------------------------------------------===//

#include "Util/ConstantTensors.h"
#include "Util/Patterns.h"
#include "Util/Rewriter.h"

using namespace glowish;

/// In half precisions factors keep results in range where they are.
static bool canMoveFactors(const Type &type) {
  return type.getKind() == ElemKind::Float ||
         type.getKind() == ElemKind::Double;
}

/// Whether \p value is a constant of which the matmul of the root makes the
/// only use, so that a changed one can take its place.
static bool isOwnConstant(NodeValue value) {
  return getConstantTensor(value) && value.hasOneUse();
}

//===- Factors ------------------------------------------------------------===//

/// (x * c) y is (x y) * c, or x (y * c) where y is a constant.
static NodeValue moveFactors(MatMulNode &root, RewriteContext &context) {
  if (!canMoveFactors(root.getType()))
    return {};
  // Scaled weights are what this makes; constant folding comes later.
  auto take = [](NodeValue value) {
    auto [inner, factor] = splitFactor(value);
    bool goes = value.hasOneUse() && !getConstantTensor(inner);
    return goes ? std::pair(inner, factor) : std::pair(value, 1.0);
  };
  auto [lhs, lhsFactor] = take(root.getLhs());
  auto [rhs, rhsFactor] = take(root.getRhs());
  double factor = lhsFactor * rhsFactor;
  if ((lhs == root.getLhs() && rhs == root.getRhs()) ||
      !(std::abs(factor) >= 1e-15 && std::abs(factor) <= 1e15))
    return {};
  NodeValue scalar = context.createScalar(root.getType().getKind(), factor);
  if (isOwnConstant(rhs))
    return context.create<MatMulNode>(lhs,
                                      context.create<MulNode>(rhs, scalar));
  if (isOwnConstant(lhs))
    return context.create<MatMulNode>(context.create<MulNode>(lhs, scalar),
                                      rhs);
  return context.create<MulNode>(context.create<MatMulNode>(lhs, rhs), scalar);
}

/// The operand of the matmul \p node whose columns are factors of those of the
/// result: its weights, or their scales.
static std::optional<unsigned> getScaledOperand(const Node &node) {
  if (llvm::isa<MatMulNode>(node))
    return MatMulNode::rhsIdx;
  if (llvm::isa<MatMulNBitsNode>(node))
    return MatMulNBitsNode::scalesIdx;
  return std::nullopt;
}

/// (x W) * c is x (W * c) for constants W and c, of which c is one value or one
/// for each column. Of weights of few bits the scales are multiplied.
template <typename T>
static NodeValue scaleWeights(T &root, RewriteContext &context) {
  constexpr bool isMul = std::is_same_v<T, MulNode>;
  if (!canMoveFactors(root.getType()))
    return {};
  for (auto [value, factor] : bothOrders(root)) {
    std::optional<unsigned> scaled = getScaledOperand(*value.node);
    if (!scaled || (!isMul && value != root.getX()))
      continue;
    NodeValue weights = value.node->getOperand(*scaled);
    DimsRef shape = weights.getShape();
    if (!value.hasOneUse() || !isOwnConstant(weights) ||
        value.getType() != root.getType() ||
        !getChannelValues(factor, shape.back()))
      continue;
    int64_t count = factor.getType().getNumElements();
    NodeValue row = context.reshape(factor, {count});
    NodeDraft draft = value.node->getDraft();
    draft.operands[*scaled] = context.create<T>(weights, row);
    return context.getFunction()
        .create(root.getName(), std::move(draft))
        ->getResult();
  }
  return {};
}

//===- Transposes ---------------------------------------------------------===//

/// x where \p value is x with its last two dimensions swapped.
static NodeValue matchSwapped(NodeValue value) {
  auto *transpose = value.getNodeAs<TransposeNode>();
  if (!transpose || getConstantTensor(transpose->getInput()))
    return {};
  auto permutation = transpose->getPermutation();
  int64_t rank = permutation.size();
  for (int64_t d = 0; d < rank; ++d) {
    int64_t expected = d < rank - 2 ? d : 2 * rank - 3 - d;
    if (permutation[d] != expected)
      return {};
  }
  return transpose->getInput();
}

/// x^T y^T is (y x)^T: one transpose in place of two.
static NodeValue joinTransposes(MatMulNode &root, RewriteContext &context) {
  NodeValue x = matchSwapped(root.getLhs()), y = matchSwapped(root.getRhs());
  if (!x || !y || root.getLhs() == root.getRhs())
    return {};
  return context.transposeMatrices(context.create<MatMulNode>(y, x));
}

/// (x^T y)^T is y^T x, and (x y^T)^T is y x^T. Constants stay on the right,
/// where they are packed.
static NodeValue swapMatMul(TransposeNode &root, RewriteContext &context) {
  NodeValue swapped = matchSwapped(root.getResult());
  auto *matMul = swapped ? swapped.getNodeAs<MatMulNode>() : nullptr;
  if (!matMul || !swapped.hasOneUse())
    return {};
  NodeValue lhs = matMul->getLhs(), rhs = matMul->getRhs();
  if (NodeValue x = matchSwapped(lhs); x && !getConstantTensor(rhs))
    return context.create<MatMulNode>(context.transposeMatrices(rhs), x);
  if (NodeValue y = matchSwapped(rhs))
    return context.create<MatMulNode>(y, context.transposeMatrices(lhs));
  return {};
}

llvm::Expected<bool> glowish::simplifyMatMuls(Function &function,
                                              const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<moveFactors>(NodeKind::MatMul);
    rewrites.add<joinTransposes>(NodeKind::MatMul);
    rewrites.add<scaleWeights<MulNode>>(NodeKind::Mul);
    rewrites.add<scaleWeights<DivNode>>(NodeKind::Div);
    rewrites.add<swapMatMul>(NodeKind::Transpose);
  });
}
