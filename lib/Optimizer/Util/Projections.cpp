//===- Projections.cpp - Matmuls with constant weights and biases ---------===//

#include "Util/Projections.h"
#include "Util/ConstantTensors.h"
#include "Util/Patterns.h"

using namespace glowish;

/// The sum of the matmul and a constant row that alone reads it.
static void findBias(Projection &projection) {
  NodeValue matMul = projection.matMul;
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

/// The weights of \p node, with their parameters, if it is a matmul of floats.
static llvm::SmallVector<NodeValue, 3> getWeights(Node &node) {
  if (auto *matMul = llvm::dyn_cast<MatMulNode>(&node))
    return {matMul->getRhs()};
  if (auto *layer = llvm::dyn_cast<FullyConnectedNode>(&node))
    return {layer->getWeights()};
  auto *matMul = llvm::dyn_cast<MatMulNBitsNode>(&node);
  if (!matMul || matMul->getLhsScales())
    return {};
  llvm::SmallVector<NodeValue, 3> weights = {matMul->getRhs(),
                                             matMul->getScales()};
  if (matMul->getZeroPoints())
    weights.push_back(matMul->getZeroPoints());
  return weights;
}

std::optional<Projection> glowish::getProjection(Node &node) {
  llvm::SmallVector<NodeValue, 3> weights = getWeights(node);
  if (weights.empty() || !llvm::all_of(weights, getConstantTensor) ||
      weights.front().getShape().size() != 2 ||
      node.getType().getNumElements() == 0 ||
      !isFloatKind(node.getType().getKind()))
    return std::nullopt;
  Projection projection;
  projection.matMul = &node;
  if (auto *layer = llvm::dyn_cast<FullyConnectedNode>(&node)) {
    if (!getConstantTensor(layer->getBias()))
      return std::nullopt;
    projection.bias = layer->getBias();
  } else {
    findBias(projection);
  }
  return projection;
}

bool glowish::isOnlyMoved(const Projection &projection) {
  Node &node = *projection.getResult().node;
  return node.hasUses() && llvm::all_of(node.uses(), [](const Use &use) {
           return llvm::isa<ReshapeNode, TransposeNode>(use.getUser());
         });
}
