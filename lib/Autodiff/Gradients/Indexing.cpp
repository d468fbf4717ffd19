//===- Indexing.cpp - Gradients of indexing nodes -------------------------===//

#include "../GradientContext.h"

using namespace glowish;

/// Flattens \p indices to int64 [n]. Unless they are known to be in range they
/// are clamped to it.
static NodeValue flattenIndices(GradientContext &g, NodeValue indices,
                                int64_t extent, bool clamps) {
  indices = g.cast(g.reshape(indices, {indices.getType().getNumElements()}),
                   ElemKind::Int64);
  if (!clamps)
    return indices;
  return g.min(g.max(indices, -double(extent)), double(extent - 1));
}

void glowish::differentiateGather(GatherNode &node, GradientContext &g) {
  NodeValue gradient = g.getGradient(), input = node.getInput();
  int64_t axis = node.getAxis(), extent = input.getShape()[axis];
  NodeValue indices =
      flattenIndices(g, node.getIndices(), extent, /*clamps=*/true);
  Dims shape(input.getShape());
  shape[axis] = node.getIndices().getType().getNumElements();
  g.accumulate(node.inputIdx,
               g.scatterAdd(g.reshape(gradient, shape), indices, axis, extent));
}

void glowish::differentiateDynamicUpdateSlice(DynamicUpdateSliceNode &node,
                                              GradientContext &g) {
  NodeValue gradient = g.getGradient(), start = node.getStart();
  const Type &type = node.getUpdate().getType();
  int64_t axis = node.getAxis(), count = type.getDim(axis);
  int64_t lastStart = node.getType().getDim(axis) - count;
  g.accumulate(node.inputIdx, g.make<DynamicUpdateSliceNode>(
                                  gradient, g.zeros(type), start, axis));
  if (type.getNumElements() == 0)
    return;
  NodeValue first = g.clip(g.cast(g.reshape(start, {1}), ElemKind::Int64), 0,
                           double(lastStart));
  NodeValue indices = g.add(g.iota(ElemKind::Int64, 1, 0, count), first);
  g.accumulate(node.updateIdx, g.gather(gradient, indices, axis));
}

namespace {
/// Gradients of the modes of Scatter.
class ScatterGradient {
public:
  ScatterGradient(ScatterNode &node, GradientContext &g)
      : node(node), g(g), kind(node.getType().getKind()),
        rows(node.getInput().getShape()[0]),
        length(node.getInput().getShape()[1]), gradient(g.getGradient()),
        indices(node.getIndices()) {}
  void run();

private:
  void runReplace();
  void runAdd();
  void runMul();
  void runExtreme();
  /// Returns row indices[i] of \p value for each i; unspecified rows for
  /// indices out of range.
  NodeValue pick(NodeValue value) { return g.gather(value, indices, 0); }
  NodeValue scatter(NodeValue target, NodeValue updates, llvm::StringRef mode) {
    return target && updates
               ? g.make<ScatterNode>(target, indices, updates, mode)
               : NodeValue();
  }
  NodeValue zeroOutside(NodeValue value);
  NodeValue isLast();

  ScatterNode &node;
  GradientContext &g;
  ElemKind kind;
  int64_t rows, length;
  NodeValue gradient, indices;
};
} // namespace

/// Zeros the rows of \p value whose index is out of range.
NodeValue ScatterGradient::zeroOutside(NodeValue value) {
  NodeValue column =
      g.reshape(indices, {indices.getType().getNumElements(), 1});
  NodeValue isInside = g.logicalAnd(g.greaterOrEqual(column, -double(rows)),
                                    g.less(column, double(rows)));
  return value ? g.select(isInside, value, g.number(value, 0)) : value;
}

/// Returns bool [M, 1]: whether row i of updates is the last one with its
/// index, found by scattering the row numbers and reading them back.
NodeValue ScatterGradient::isLast() {
  int64_t count = indices.getType().getNumElements();
  NodeValue numbers = g.iota(ElemKind::Int64, 2, 0, count);
  NodeValue written =
      scatter(g.splat(ElemKind::Int64, {rows, 1}, -1), numbers, "replace");
  return g.equal(pick(written), numbers);
}

void ScatterGradient::runReplace() {
  if (g.needsGradient(node.inputIdx))
    g.accumulate(
        node.inputIdx,
        scatter(gradient, g.zeros(node.getUpdates().getType()), "replace"));
  if (!g.needsGradient(node.updatesIdx))
    return;
  if (NodeValue picked = pick(gradient))
    g.accumulate(node.updatesIdx,
                 g.select(isLast(), picked, g.number(picked, 0)));
}

void ScatterGradient::runAdd() {
  g.accumulate(node.inputIdx, gradient);
  if (g.needsGradient(node.updatesIdx))
    g.accumulate(node.updatesIdx, zeroOutside(pick(gradient)));
}

/// Each factor's gradient is the product of the other factors. Zeros are
/// counted apart: if another factor is zero, the gradient is.
void ScatterGradient::runMul() {
  NodeValue one = g.scalar(kind, 1), zero = g.scalar(kind, 0);
  auto fill = [&](NodeValue value) {
    return g.select(g.equal(value, 0), one, value);
  };
  auto countZeros = [&](NodeValue value) {
    return g.cast(g.equal(value, 0), kind);
  };
  NodeValue input = node.getInput(), updates = node.getUpdates();
  NodeValue multiplied = scatter(fill(input), fill(updates), "mul");
  NodeValue zeros = scatter(countZeros(input), countZeros(updates), "add");
  auto differentiateFactor = [&](NodeValue factor, NodeValue adjoint,
                                 NodeValue multiplied, NodeValue zeros) {
    NodeValue others = g.sub(zeros, countZeros(factor));
    return g.select(g.equal(others, 0),
                    g.mul(adjoint, g.div(multiplied, fill(factor))), zero);
  };
  if (g.needsGradient(node.inputIdx))
    g.accumulate(node.inputIdx,
                 differentiateFactor(input, gradient, multiplied, zeros));
  if (g.needsGradient(node.updatesIdx))
    g.accumulate(node.updatesIdx,
                 zeroOutside(differentiateFactor(
                     updates, pick(gradient), pick(multiplied), pick(zeros))));
}

/// All elements that equal the maximum or minimum share the adjoint equally.
void ScatterGradient::runExtreme() {
  NodeValue input = node.getInput(), updates = node.getUpdates();
  NodeValue result = node.getResult();
  NodeValue zero = g.scalar(kind, 0);
  NodeValue isInput = g.equal(input, result);
  NodeValue isUpdate = g.equal(updates, pick(result));
  NodeValue count =
      scatter(g.cast(isInput, kind), g.cast(isUpdate, kind), "add");
  NodeValue share = g.div(gradient, count);
  if (g.needsGradient(node.inputIdx))
    g.accumulate(node.inputIdx, g.select(isInput, share, zero));
  if (g.needsGradient(node.updatesIdx))
    g.accumulate(node.updatesIdx,
                 zeroOutside(g.select(isUpdate, pick(share), zero)));
}

void ScatterGradient::run() {
  llvm::StringRef mode = node.getMode();
  if (rows == 0) { // nothing is written
    g.accumulate(node.inputIdx, gradient);
    g.accumulate(node.updatesIdx, g.zeros(node.getUpdates().getType()));
  } else if (mode == "replace") {
    runReplace();
  } else if (mode == "add") {
    runAdd();
  } else if (mode == "mul") {
    runMul();
  } else {
    runExtreme();
  }
}

void glowish::differentiateScatter(ScatterNode &node, GradientContext &g) {
  ScatterGradient(node, g).run();
}
