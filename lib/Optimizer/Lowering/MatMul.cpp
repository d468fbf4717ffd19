//===- MatMul.cpp - Lowering of matrix products ---------------------------===//

#include "Lowering/Lowering.h"
#include "Util/Dequantization.h"
#include "glowish/Graph/RepeatedBlocks.h"

using namespace glowish;

NodeValue glowish::lowerFullyConnected(FullyConnectedNode &root,
                                       RewriteContext &context) {
  NodeValue matMul =
      context.create<MatMulNode>(root.getInput(), root.getWeights());
  return context.create<AddNode>(matMul, root.getBias());
}

NodeValue glowish::lowerMatMulNBits(MatMulNBitsNode &root,
                                    RewriteContext &context) {
  NodeValue lhs = root.getLhs(), rhs = root.getRhs();
  NodeValue weights =
      dequantizeRows(context.getFunction(), root.getName(), rhs,
                     root.getScales(), root.getZeroPoints(), root.getBlock());
  ElemKind kind = root.getType().getKind();
  if (root.getLhsScales()) {
    NodeValue floats = context.create<CastNode>(lhs, ElemKind::Float);
    lhs = context.create<MulNode>(
        floats,
        repeatBlocks(context.getFunction(), root.getName(), root.getLhsScales(),
                     /*axis=*/unsigned(lhs.getShape().size() - 1),
                     rhs.getShape()[0], root.getBlock()));
  }
  if (lhs.getElemKind() == ElemKind::Float)
    return context.create<MatMulNode>(lhs, weights);
  lhs = context.create<CastNode>(lhs, ElemKind::Float);
  return context.create<CastNode>(context.create<MatMulNode>(lhs, weights),
                                  kind);
}
