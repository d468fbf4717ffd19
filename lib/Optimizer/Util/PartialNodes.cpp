//===- PartialNodes.cpp - Parts of results from parts of operands ---------===//

#include "Util/PartialNodes.h"

using namespace glowish;

namespace {

/// Indices of an operand, of which some may be outside of it.
struct Reach {
  int64_t first, last;
};

} // namespace

static Reach getReach(const OperandAxis &axis, AxisRange range) {
  return {range.begin * axis.stride - axis.pad,
          (range.end - 1) * axis.stride - axis.pad + axis.reach};
}

std::optional<OperandRanges> glowish::getOperandRanges(const Node &node,
                                                       AxisRange range) {
  if (node.getNumResults() != 1)
    return std::nullopt;
  std::optional<OperandAxes> axes = followAxis(node, range.dim);
  if (!axes)
    return std::nullopt;
  OperandRanges ranges(node.getNumOperands());
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    if (!axis)
      continue;
    Reach reach = getReach(*axis, range);
    int64_t extent = node.getOperand(i).getShape()[axis->dim];
    AxisRange needed = {axis->dim, std::max<int64_t>(0, reach.first),
                        std::min(extent, reach.last + 1)};
    if (needed.size() <= 0)
      return std::nullopt;
    ranges[i] = needed;
  }
  return ranges;
}

/// The pads of \p node's images for \p range of its result.
static void cutPads(std::vector<int64_t> &pads, const Node &node,
                    AxisRange range) {
  // A copy: what followAxis returned ends with the statement.
  const OperandAxis axis = *followAxis(node, range.dim)->front();
  if (axis.dim != 1 && axis.dim != 2)
    return;
  Reach reach = getReach(axis, range);
  int64_t extent = node.getOperand(0).getShape()[axis.dim];
  pads[axis.dim - 1] = std::max<int64_t>(0, -reach.first);
  pads[axis.dim + 1] = std::max<int64_t>(0, reach.last + 1 - extent);
}

NodeDraft glowish::draftPart(const Node &node, AxisRange range,
                             llvm::ArrayRef<NodeValue> operands) {
  NodeDraft draft = node.getDraft();
  draft.operands.assign(operands.begin(), operands.end());
  for (auto [attr, value] :
       llvm::zip_equal(node.getInfo().attrs, draft.attrs)) {
    auto *list = std::get_if<std::vector<int64_t>>(&value);
    if (attr.axes == AxisRole::ImagePads)
      cutPads(*list, node, range);
    else if (attr.axes == AxisRole::ResultExtents)
      (*list)[range.dim] = range.size();
  }
  return draft;
}
