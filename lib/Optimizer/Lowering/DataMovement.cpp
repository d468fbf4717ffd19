//===- DataMovement.cpp - Lowering of data movement -----------------------===//

#include "Lowering/Lowering.h"

using namespace glowish;

/// Returns a Reshape where no run decides an extent. Others have larger bounds,
/// and are computed for these.
NodeValue glowish::lowerRepack(RepackNode &root, RewriteContext &context) {
  if (root.getType().hasExtents())
    return {};
  return context.create<ReshapeNode>(root.getInput(),
                                     root.getType().getShape());
}

/// [a, b] repeated [r, s] times: reshape to [1, a, 1, b], broadcast to
/// [r, a, s, b], reshape to [r * a, s * b].
NodeValue glowish::lowerTile(TileNode &root, RewriteContext &context) {
  Dims split, repeated;
  for (auto [dim, count] :
       llvm::zip(root.getInput().getShape(), root.getRepeats())) {
    split.append({1, dim});
    // An empty dimension stays empty; a large count beside it would be an
    // invalid shape.
    repeated.append({dim == 0 ? 1 : count, dim});
  }
  NodeValue value = context.reshape(root.getInput(), split);
  value = context.create<BroadcastNode>(value, repeated);
  return context.reshape(value, root.getType().getShape());
}

/// The part of \p value from \p start on along dimension \p axis, \p size
/// elements, forwards or backwards.
static NodeValue sliceAlong(NodeValue value, int64_t axis, int64_t start,
                            int64_t size, int64_t step,
                            RewriteContext &context) {
  std::vector<int64_t> starts(value.getShape().size(), 0);
  std::vector<int64_t> steps(value.getShape().size(), 1);
  std::vector<int64_t> sizes(value.getShape());
  starts[axis] = start;
  sizes[axis] = size;
  steps[axis] = step;
  return context.create<SliceNode>(value, starts, sizes, steps);
}

/// \p count elements to put before or after \p value along \p axis.
static NodeValue makeBorder(NodeValue value, int64_t axis, int64_t count,
                            bool isEnd, bool isReflected,
                            RewriteContext &context) {
  int64_t extent = value.getShape()[axis];
  if (isReflected)
    return sliceAlong(value, axis, isEnd ? extent - 2 : count, count, -1,
                      context);
  NodeValue edge =
      sliceAlong(value, axis, isEnd ? extent - 1 : 0, 1, 1, context);
  Dims shape(edge.getShape());
  shape[axis] = count;
  return context.create<BroadcastNode>(edge, shape);
}

/// Modes reflect and edge, one dimension after the other.
NodeValue glowish::lowerPad(PadNode &root, RewriteContext &context) {
  if (root.getMode() == "constant")
    return {};
  bool isReflected = root.getMode() == "reflect";
  NodeValue value = root.getInput();
  int64_t rank = value.getShape().size();
  for (int64_t d = 0; d < rank; ++d) {
    int64_t before = root.getPads()[d], after = root.getPads()[rank + d];
    llvm::SmallVector<NodeValue, 3> parts;
    if (before > 0)
      parts.push_back(
          makeBorder(value, d, before, false, isReflected, context));
    parts.push_back(value);
    if (after > 0)
      parts.push_back(makeBorder(value, d, after, true, isReflected, context));
    if (parts.size() > 1)
      value = context.create<ConcatNode>(parts, d);
  }
  return value;
}
