//===- Projections.cpp - Matmuls with constant weights and biases ---------===//

#include "Util/Projections.h"
#include "Util/ConstantTensors.h"
#include "Util/Patterns.h"

using namespace glowish;

/// The sum of the matmul and a constant row that alone reads it.
static void findBias(Projection &projection) {
  NodeValue matMul = projection.matMul->getResult();
  if (!matMul.hasOneUse())
    return;
  auto *sum = llvm::dyn_cast<AddNode>((*matMul.node->uses().begin()).getUser());
  if (!sum || sum->getType() != matMul.getType())
    return;
  int64_t columns = matMul.getShape().back();
  for (auto [value, bias] : bothOrders(*sum))
    if (value == matMul && getConstantTensor(bias) &&
        bias.getType().getNumElements() == columns &&
        !bias.getShape().empty() && bias.getShape().back() == columns) {
      projection.sum = sum;
      projection.bias = bias;
    }
}

std::optional<Projection> glowish::getProjection(MatMulNode &matMul) {
  NodeValue weights = matMul.getRhs();
  if (!getConstantTensor(weights) || weights.getShape().size() != 2 ||
      matMul.getType().getNumElements() == 0 ||
      !isFloatKind(matMul.getType().getKind()))
    return std::nullopt;
  Projection projection;
  projection.matMul = &matMul;
  findBias(projection);
  return projection;
}

bool glowish::isOnlyMoved(const Projection &projection) {
  Node &node = *projection.getResult().node;
  return node.hasUses() && llvm::all_of(node.uses(), [](const Use &use) {
           return llvm::isa<ReshapeNode, TransposeNode>(use.getUser());
         });
}
