//===- MatMuls.cpp - Matmuls of one matrix become one ---------------------===//
//
// x A, x B and x C, as queries, keys and values are, become slices of
// x [A B C]: x is read, and packed, once. So do the biases that follow. Weights
// of few bits are joined with their scales and zero points.
//
//===----------------------------------------------------------------------===//

#include "Util/NodeTrial.h"
#include "Util/Projections.h"
#include "glowish/Base/TensorSource.h"
#include "glowish/Optimizer/Passes.h"
#include "llvm/ADT/MapVector.h"
#include <tuple>

using namespace glowish;

/// What matmuls have in common that can become one: the lhs; of weights of few
/// bits also their kind, the rows of a block, and whether there are zero
/// points.
using GroupKey = std::tuple<NodeValue, unsigned, int64_t, unsigned>;

static GroupKey getGroupKey(Node &node) {
  NodeValue lhs = node.getOperand(0);
  auto *matMul = llvm::dyn_cast<MatMulNBitsNode>(&node);
  if (!matMul)
    return {lhs, unsigned(lhs.getElemKind()), 0, 0};
  return {lhs, unsigned(matMul->getRhs().getElemKind()), matMul->getBlock(),
          unsigned(bool(matMul->getZeroPoints()))};
}

/// \p node as a projection that may become a part of another: nothing else
/// reads its weights, and its result is only moved. What computes with it
/// element by element would be its epilogue otherwise.
static std::optional<Projection> matchProjection(Node &node) {
  std::optional<Projection> projection = getProjection(node);
  if (!projection || !isOnlyMoved(*projection) ||
      !node.getOperand(1).hasOneUse())
    return std::nullopt;
  return projection;
}

/// The biases of \p projections in a row, zeros where there are none.
static NodeValue joinBiases(llvm::ArrayRef<Projection> projections,
                            Function &function) {
  llvm::SmallVector<NodeValue, 4> biases;
  for (const Projection &projection : projections) {
    NodeValue bias = projection.bias;
    int64_t columns = projection.getResult().getShape().back();
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

/// Returns the constants \p parts side by side; none where not all are
/// matrices that are constants.
static NodeValue joinConstants(llvm::ArrayRef<NodeValue> parts,
                               Function &function) {
  std::vector<std::shared_ptr<const Tensor>> payloads;
  int64_t columns = 0;
  for (NodeValue part : parts) {
    auto *constant = part.getNodeAs<Constant>();
    if (!constant || part.getShape().size() != 2)
      return {};
    payloads.push_back(constant->getPayload());
    columns += part.getShape()[1];
  }
  Type type(parts[0].getElemKind(), {parts[0].getShape()[0], columns});
  return function.getModule().createConstant(
      "weights", Tensor::defer(type, std::make_shared<JoinedColumns>(
                                         std::move(payloads))));
}

/// Operand \p index of all of \p projections, side by side; none where they
/// have none.
static NodeValue joinOperands(llvm::ArrayRef<Projection> projections,
                              unsigned index, Function &function) {
  llvm::SmallVector<NodeValue, 4> parts;
  for (const Projection &projection : projections)
    if (NodeValue part = projection.matMul->getOperand(index))
      parts.push_back(part);
  if (parts.empty())
    return {};
  if (NodeValue joined = joinConstants(parts, function))
    return joined;
  return function.create<ConcatNode>("weights", parts, int64_t(1))->getResult();
}

/// The matmul of the weights of all of \p projections.
static NodeValue joinMatMuls(llvm::ArrayRef<Projection> projections,
                             Function &function) {
  Node &first = *projections.front().matMul;
  auto join = [&](unsigned index) {
    return joinOperands(projections, index, function);
  };
  NodeValue lhs = first.getOperand(0);
  if (auto *matMul = llvm::dyn_cast<MatMulNBitsNode>(&first))
    return function
        .create<MatMulNBitsNode>(first.getName(), lhs, join(1), join(2),
                                 join(3), /*lhsScales=*/NodeValue(),
                                 matMul->getBlock())
        ->getResult();
  return function.create<MatMulNode>(first.getName(), lhs, join(1))
      ->getResult();
}

/// Makes slices of one matmul that have what \p projections compute.
static llvm::SmallVector<NodeValue, 4>
makeSlices(llvm::ArrayRef<Projection> projections, Function &function) {
  Node &first = *projections.front().matMul;
  NodeValue whole = joinMatMuls(projections, function);
  if (llvm::any_of(projections,
                   [](const Projection &p) { return bool(p.bias); }))
    whole = function
                .create<AddNode>(first.getName(), whole,
                                 joinBiases(projections, function))
                ->getResult();
  std::vector<int64_t> starts(whole.getShape().size(), 0);
  std::vector<int64_t> sizes(whole.getShape().begin(), whole.getShape().end());
  std::vector<int64_t> steps(starts.size(), 1);
  llvm::SmallVector<NodeValue, 4> slices;
  for (const Projection &projection : projections) {
    NodeValue result = projection.getResult();
    sizes.back() = result.getShape().back();
    slices.push_back(function
                         .create<SliceNode>(result.node->getName(), whole,
                                            starts, sizes, steps)
                         ->getResult());
    starts.back() += sizes.back();
  }
  return slices;
}

/// Replaces all of \p projections by slices of one matmul; false where extents
/// do not allow it.
static bool merge(llvm::ArrayRef<Projection> projections, Function &function) {
  llvm::SmallVector<NodeValue, 4> slices;
  {
    NodeTrial trial(function, *projections.front().matMul);
    slices = makeSlices(projections, function);
    for (auto [projection, slice] : llvm::zip_equal(projections, slices))
      if (!trial.allows(projection.getResult(), slice))
        return false;
    trial.keep();
  }
  for (auto [projection, slice] : llvm::zip_equal(projections, slices)) {
    projection.getResult().replaceAllUsesWith(slice);
    if (projection.sum)
      function.erase(projection.sum);
    function.erase(projection.matMul);
  }
  return true;
}

llvm::Expected<bool> glowish::mergeMatMuls(Function &function,
                                           const GraphPassContext &) {
  llvm::MapVector<GroupKey, std::vector<Projection>> groups;
  for (Node &node : function.getNodes())
    if (std::optional<Projection> projection = matchProjection(node))
      groups[getGroupKey(node)].push_back(*projection);
  bool changed = false;
  for (const auto &group : groups)
    if (group.second.size() > 1)
      changed |= merge(group.second, function);
  return changed;
}
