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
    lhs = b.reshape(lhs, {1, lhs.getShape()[0]});
  if (isColumn)
    rhs = b.reshape(rhs, {rhs.getShape()[0], 1});
  NodeValue result = b.matMul(lhs, rhs);
  if (!result)
    return {};
  Dims shape(result.getShape());
  if (isColumn)
    shape.pop_back();
  if (isRow)
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  return b.reshape(result, shape);
}

NodeValue glowish::makeFullyConnected(NodeBuilder &b, NodeValue input,
                                      NodeValue weights, NodeValue bias) {
  if (!input || !weights)
    return {};
  DimsRef shape = weights.getShape();
  if (bias && input.getShape().size() == 2 && shape.size() == 2 &&
      bias.getShape() == shape.take_back())
    return b.make<FullyConnectedNode>(input, weights, bias);
  NodeValue result = makeMatMul(b, input, weights);
  return bias ? b.add(result, bias) : result;
}
