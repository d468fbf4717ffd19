//===- MatMuls.cpp - Matmuls of one matrix become one ---------------------===//
//
// x A, x B and x C, as queries, keys and values are, become slices of
// x [A B C]: x is read, and packed, once. So do the biases that follow.
//
//===----------------------------------------------------------------------===//

#include "Util/Projections.h"
#include "glowish/Optimizer/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace glowish;

/// \p matMul as a projection, if its result is only moved: what computes with
/// it element by element would be its epilogue otherwise.
static std::optional<Projection> matchProjection(MatMulNode &matMul) {
  if (!matMul.getRhs().hasOneUse())
    return std::nullopt;
  std::optional<Projection> projection = getProjection(matMul);
  if (!projection || !isOnlyMoved(*projection))
    return std::nullopt;
  return projection;
}

/// The biases of \p projections in a row, zeros where there are none.
static NodeValue joinBiases(llvm::ArrayRef<Projection> projections,
                            Function &function) {
  llvm::SmallVector<NodeValue, 4> biases;
  for (const Projection &projection : projections) {
    NodeValue bias = projection.bias;
    int64_t columns = projection.matMul->getType().getShape().back();
    if (!bias)
      bias = function.getModule().createConstant(
          projection.matMul->getName(),
          Tensor(Type(projection.matMul->getType().getKind(), {columns})));
    if (bias.getShape().size() != 1)
      bias = function.create<ReshapeNode>(bias.node->getName(), bias, columns)
                 ->getResult();
    biases.push_back(bias);
  }
  return function.create<ConcatNode>("bias", biases, int64_t(0))->getResult();
}

/// Replaces all of \p projections by slices of one matmul.
static void merge(llvm::ArrayRef<Projection> projections, Function &function) {
  MatMulNode &first = *projections.front().matMul;
  InsertionGuard guard(function, &first);
  llvm::SmallVector<NodeValue, 4> weights;
  for (const Projection &projection : projections)
    weights.push_back(projection.matMul->getRhs());
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
    function.erase(projection.matMul);
  }
}

llvm::Expected<bool> glowish::mergeMatMuls(Function &function,
                                           const GraphPassContext &) {
  llvm::MapVector<std::pair<Node *, unsigned>, std::vector<Projection>> groups;
  for (Node &node : function.getNodes())
    if (auto *matMul = llvm::dyn_cast<MatMulNode>(&node))
      if (auto projection = matchProjection(*matMul)) {
        NodeValue lhs = matMul->getLhs();
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
