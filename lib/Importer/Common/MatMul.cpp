//===- MatMul.cpp - Matrix multiplication ---------------------------------===//

#include "Common/MatMul.h"

using namespace glowish;

/// The dimension added for a vector is removed from the result.
NodeValue glowish::makeMatMul(NodeBuilder &b, NodeValue lhs, NodeValue rhs) {
  if (!lhs || !rhs)
    return {};
  bool isRow = lhs.getShape().size() == 1;
  bool isColumn = rhs.getShape().size() == 1;
  if (isRow)
    lhs = b.unsqueeze(lhs, 0);
  if (isColumn)
    rhs = b.unsqueeze(rhs, 1);
  NodeValue result = b.matMul(lhs, rhs);
  if (!result || (!isRow && !isColumn))
    return result;
  std::vector<int64_t> dims;
  int64_t rank = result.getShape().size();
  for (int64_t d = 0; d < rank; ++d)
    if (!(isColumn && d == rank - 1) && !(isRow && d == rank - 2))
      dims.push_back(d);
  return b.rearrange(result, dims);
}

/// Whether \p bias is a row of a matrix of \p columns, of any rank that such a
/// matrix broadcasts.
static bool isRow(const Type &bias, int64_t columns) {
  return bias.getRank() <= 2 && bias.getNumElements() == columns &&
         (bias.getRank() == 0 || bias.getShape().back() == columns);
}

NodeValue glowish::makeFullyConnected(NodeBuilder &b, NodeValue input,
                                      NodeValue weights, NodeValue bias) {
  if (!input || !weights)
    return {};
  DimsRef shape = weights.getShape();
  if (bias && !bias.getType().hasExtents() && input.getShape().size() == 2 &&
      shape.size() == 2 && isRow(bias.getType(), shape[1]))
    return b.make<FullyConnectedNode>(input, weights,
                                      b.reshape(bias, shape.take_back()));
  NodeValue result = makeMatMul(b, input, weights);
  return bias ? b.add(result, bias) : result;
}

NodeValue glowish::makeGemm(NodeBuilder &b, NodeValue x, NodeValue y,
                            NodeValue bias, const GemmForm &form) {
  if (form.transposesX)
    x = b.transposeLast(x);
  if (form.transposesY)
    y = b.transposeLast(y);
  if (!x || !y)
    return {};
  auto scale = [&](NodeValue value, double factor) {
    return factor == 1 ? value : b.mul(value, factor);
  };
  bias = form.beta == 0 ? NodeValue() : scale(bias, form.beta);
  // Half precisions and integers could not hold the product of both.
  ElemKind kind = y.getElemKind();
  bool scalesWeights = llvm::isa<Constant>(y.node) &&
                       (kind == ElemKind::Float || kind == ElemKind::Double);
  if (form.alpha == 1 || scalesWeights)
    return makeFullyConnected(b, x, scale(y, form.alpha), bias);
  NodeValue result = scale(b.matMul(x, y), form.alpha);
  return bias ? b.add(result, bias) : result;
}
