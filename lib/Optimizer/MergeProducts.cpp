//===- MergeProducts.cpp - Products of one matrix become one --------------===//
//
// x A, x B and x C, as queries, keys and values are, become slices of
// x [A B C]: x is read, and packed, once. So do the biases that follow.
//
//===----------------------------------------------------------------------===//

#include "ConstantTensors.h"
#include "Patterns.h"
#include "glowish/Optimizer/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace glowish;

namespace {

/// A product with constant weights, and the sum with a constant row that alone
/// reads it, if there is one.
struct Projection {
  MatMulNode *product = nullptr;
  AddNode *sum = nullptr;
  NodeValue bias;

  NodeValue getResult() const {
    return sum ? sum->getResult() : product->getResult();
  }
};

} // namespace

/// The sum of \p product and a constant row that alone reads it.
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

/// \p product as a projection, if its result is only moved: what computes with
/// it element by element would be its epilogue otherwise.
static std::optional<Projection> matchProjection(MatMulNode &product) {
  NodeValue weights = product.getRhs();
  if (!getConstantTensor(weights) || !weights.hasOneUse() ||
      weights.getShape().size() != 2 || !product.getEpilogue().empty() ||
      product.hasPredicate() || product.getType().getNumElements() == 0 ||
      !isFloatKind(product.getType().getKind()))
    return std::nullopt;
  Projection projection;
  projection.product = &product;
  findBias(projection);
  NodeValue result = projection.getResult();
  bool isMoved = llvm::all_of(result.node->uses(), [](const Use &use) {
    return llvm::isa<ReshapeNode, TransposeNode>(use.getUser());
  });
  if (!isMoved || !result.node->hasUses())
    return std::nullopt;
  return projection;
}

/// The biases of \p projections in a row, zeros where there are none.
static NodeValue joinBiases(llvm::ArrayRef<Projection> projections,
                            Function &function) {
  llvm::SmallVector<NodeValue, 4> biases;
  for (const Projection &projection : projections) {
    NodeValue bias = projection.bias;
    int64_t columns = projection.product->getType().getShape().back();
    if (!bias)
      bias = function.getModule().createConstant(
          projection.product->getName(),
          Tensor(Type(projection.product->getType().getKind(), {columns})));
    if (bias.getShape().size() != 1)
      bias = function.create<ReshapeNode>(bias.node->getName(), bias, columns)
                 ->getResult();
    biases.push_back(bias);
  }
  return function.create<ConcatNode>("bias", biases, int64_t(0))->getResult();
}

/// Replaces all of \p projections by slices of one product.
static void merge(llvm::ArrayRef<Projection> projections, Function &function) {
  MatMulNode &first = *projections.front().product;
  InsertionGuard guard(function, &first);
  llvm::SmallVector<NodeValue, 4> weights;
  for (const Projection &projection : projections)
    weights.push_back(projection.product->getRhs());
  NodeValue joined =
      function.create<ConcatNode>("weights", weights, int64_t(1))->getResult();
  NodeValue whole =
      function.create<MatMulNode>(first.getName(), first.getLhs(), joined)
          ->getResult();
  if (llvm::any_of(projections,
                   [](const Projection &p) { return bool(p.bias); }))
    whole = function
                .create<AddNode>(first.getName(), whole,
                                 joinBiases(projections, function))
                ->getResult();
  std::vector<int64_t> starts(whole.getShape().size(), 0);
  std::vector<int64_t> sizes(whole.getShape().begin(), whole.getShape().end());
  std::vector<int64_t> steps(starts.size(), 1);
  for (const Projection &projection : projections) {
    NodeValue result = projection.getResult();
    sizes.back() = result.getShape().back();
    NodeValue slice = function
                          .create<SliceNode>(result.node->getName(), whole,
                                             starts, sizes, steps)
                          ->getResult();
    result.replaceAllUsesWith(slice);
    starts.back() += sizes.back();
    if (projection.sum)
      function.erase(projection.sum);
    function.erase(projection.product);
  }
}

llvm::Expected<bool> glowish::mergeProducts(Function &function,
                                            const GraphPassContext &) {
  llvm::MapVector<std::pair<Node *, unsigned>, std::vector<Projection>> groups;
  for (Node &node : function.getNodes())
    if (auto *product = llvm::dyn_cast<MatMulNode>(&node))
      if (auto projection = matchProjection(*product)) {
        NodeValue lhs = product->getLhs();
        groups[{lhs.node, lhs.result}].push_back(*projection);
      }
  bool changed = false;
  for (const auto &group : groups)
    if (group.second.size() > 1) {
      merge(group.second, function);
      changed = true;
    }
  return changed;
}
