//===- Projections.cpp - Products with constant weights and biases --------===//

#include "Util/Projections.h"
#include "Util/ConstantTensors.h"
#include "Util/Patterns.h"

using namespace glowish;

/// The sum of the product and a constant row that alone reads it.
static void findBias(Projection &projection) {
  NodeValue product = projection.product->getResult();
  if (!product.hasOneUse())
    return;
  auto *sum =
      llvm::dyn_cast<AddNode>((*product.node->uses().begin()).getUser());
  if (!sum || sum->getType() != product.getType())
    return;
  int64_t columns = product.getShape().back();
  for (auto [value, bias] : bothOrders(*sum))
    if (value == product && getConstantTensor(bias) &&
        bias.getType().getNumElements() == columns &&
        bias.getShape().back() == columns) {
      projection.sum = sum;
      projection.bias = bias;
    }
}

std::optional<Projection> glowish::getProjection(MatMulNode &product) {
  NodeValue weights = product.getRhs();
  if (!getConstantTensor(weights) || weights.getShape().size() != 2 ||
      product.getType().getNumElements() == 0 ||
      !isFloatKind(product.getType().getKind()))
    return std::nullopt;
  Projection projection;
  projection.product = &product;
  findBias(projection);
  return projection;
}

bool glowish::isOnlyMoved(const Projection &projection) {
  Node &node = *projection.getResult().node;
  return node.hasUses() && llvm::all_of(node.uses(), [](const Use &use) {
           return llvm::isa<ReshapeNode, TransposeNode>(use.getUser());
         });
}
