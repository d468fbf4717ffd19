//===- Trees.cpp - Lowering of decision trees -----------------------------===//

#include "Lowering/Lowering.h"
#include "glowish/Graph/NodeBuilder.h"
#include <limits>

using namespace glowish;

namespace {

/// For each node of an ensemble what a step from it needs; at a leaf it stays.
struct TreeSteps {
  explicit TreeSteps(const TreeEnsembleNode &root);

  std::vector<int64_t> features, left, right, leafRows;
  /// The length of the longest way.
  int64_t depth = 0;
};

} // namespace

TreeSteps::TreeSteps(const TreeEnsembleNode &root) {
  int64_t numNodes = int64_t(root.getFeatures().size());
  std::vector<int64_t> depths(size_t(numNodes), 0);
  for (int64_t i = 0; i < numNodes; ++i) {
    bool isLeaf = root.getFeatures()[i] < 0;
    int64_t child = root.getChildren()[i];
    features.push_back(isLeaf ? 0 : root.getFeatures()[i]);
    left.push_back(isLeaf ? i : child);
    right.push_back(isLeaf ? i : child + 1);
    leafRows.push_back(isLeaf ? child : 0);
    if (isLeaf)
      continue;
    // Children are behind their parents.
    for (int64_t next : {child, child + 1})
      depths[next] = std::max(depths[next], depths[i] + 1);
    depth = std::max(depth, depths[child]);
    depth = std::max(depth, depths[child + 1]);
  }
}

/// Returns the leaves [N, trees] that the rows of the input reach.
static NodeValue findLeaves(NodeBuilder &b, const TreeEnsembleNode &root,
                            const TreeSteps &steps) {
  NodeValue input = root.getInput();
  int64_t rows = input.getShape()[0], columns = input.getShape()[1];
  int64_t numTrees = int64_t(root.getRoots().size());
  NodeValue elements = b.reshape(input, {rows * columns});
  NodeValue starts = b.mul(b.iota(ElemKind::Int64, 2, 0, rows), columns);
  NodeValue features = b.int64s(steps.features), left = b.int64s(steps.left),
            right = b.int64s(steps.right);
  NodeValue nodes = b.broadcast(
      b.reshape(b.int64s(root.getRoots()), {1, numTrees}), {rows, numTrees});
  for (int64_t i = 0; i < steps.depth; ++i) {
    NodeValue places = b.add(b.gather(features, nodes, 0), starts);
    NodeValue isLeft = b.lessOrEqual(b.gather(elements, places, 0),
                                     b.gather(root.getValues(), nodes, 0));
    nodes =
        b.select(isLeft, b.gather(left, nodes, 0), b.gather(right, nodes, 0));
  }
  return nodes;
}

/// Walks all trees of all rows, a step of each at a time, and combines the
/// weights of the leaves of each group.
NodeValue glowish::lowerTreeEnsemble(TreeEnsembleNode &root,
                                     RewriteContext &context) {
  const Type &type = root.getInput().getType();
  if (root.getType().hasExtents() || type.getNumElements() == 0)
    return {};
  NodeBuilder b(context.getFunction(), root.getName());
  TreeSteps steps(root);
  NodeValue leaves = findLeaves(b, root, steps);
  int64_t rows = type.getDim(0), width = 1;
  NodeValue weights;
  if (root.getWeights()) {
    width = root.getWeights().getShape()[1];
    weights = b.gather(root.getWeights(),
                       b.gather(b.int64s(steps.leafRows), leaves, 0), 0);
  } else {
    weights = b.unsqueeze(b.gather(root.getValues(), leaves, 0), 2);
  }
  double infinity = std::numeric_limits<double>::infinity();
  double none = root.getMode() == "sum"   ? 0
                : root.getMode() == "max" ? -infinity
                                          : infinity;
  std::vector<NodeValue> groups;
  int64_t first = 0;
  for (int64_t count : root.getGroups()) {
    groups.push_back(count ? b.reduce(b.slice(weights, 1, first, count),
                                      root.getMode(), {1}, /*keepDims=*/false)
                           : b.splat(type.getKind(), {rows, width}, none));
    first += count;
  }
  return b.concat(groups, 1);
}
