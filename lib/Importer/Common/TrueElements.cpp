//===- TrueElements.cpp - Positions of true elements ----------------------===//

#include "Common/TrueElements.h"
#include "Common/Axes.h"

using namespace glowish;

Found glowish::findTrue(NodeBuilder &b, NodeValue flags) {
  if (!flags)
    return {};
  int64_t n = flags.getShape()[0];
  NodeValue ones = b.cast(flags, ElemKind::Int64);
  NodeValue counts = b.cumSum(ones, 0);
  NodeValue count = b.reshape(b.slice(counts, 0, n - 1, 1), {});
  // Other positions are scattered out of range.
  NodeValue targets =
      b.select(flags, b.sub(counts, 1), b.scalar(ElemKind::Int64, double(n)));
  NodeValue numbers = b.iota(ElemKind::Int64, 2, 0, n);
  NodeValue none = b.splat(ElemKind::Int64, {n, 1}, 0);
  if (b.hasFailed())
    return {};
  NodeValue positions =
      b.reshape(b.make<ScatterNode>(none, targets, numbers, "replace"), {n});
  return {positions, count, counts};
}

NodeValue glowish::listNonzero(NodeBuilder &b, NodeValue x) {
  NodeValue flags = b.cast(x, ElemKind::Bool);
  if (!flags)
    return flags;
  const Type &type = x.getType();
  if (NodeValue inside = b.isInside(x, getAllDims(type.getRank())))
    flags = b.logicalAnd(b.dropExtents(flags), inside);
  return b.reshape(flags, {type.getNumElements()});
}

NodeValue glowish::splitPositions(NodeBuilder &b, NodeValue positions,
                                  DimsRef shape) {
  if (!positions)
    return positions;
  int64_t n = positions.getShape()[0];
  if (shape.empty())
    return b.splat(ElemKind::Int64, {0, n}, 0);
  Dims strides = getDenseStrides(shape);
  std::vector<NodeValue> rows;
  for (unsigned d = 0; d < shape.size(); ++d) {
    NodeValue whole = b.div(positions, double(strides[d]));
    if (d > 0)
      whole =
          b.sub(whole, b.mul(b.div(whole, double(shape[d])), double(shape[d])));
    rows.push_back(b.reshape(whole, {1, n}));
  }
  return b.concat(rows, 0);
}

/// Returns a symbol that the module does not have: \p name, or that and a
/// number.
static Extent makeSymbol(const Module &module, const std::string &name) {
  std::string symbol = name;
  for (unsigned i = 1; module.getSymbols().find(symbol); ++i)
    symbol = name + "." + std::to_string(i);
  return Extent::symbol(symbol);
}

NodeValue glowish::takeCounted(NodeBuilder &b, NodeValue x, unsigned dim,
                               NodeValue count) {
  if (!x || !count)
    return {};
  if (auto *constant = count.getNodeAs<Constant>())
    return b.slice(x, dim, 0, constant->getTensor().getAsInt(0));
  const Type &type = x.getType();
  ExtentList extents(type.getExtents());
  extents.resize(type.getRank());
  extents[dim] = makeSymbol(b.getFunction().getModule(),
                            b.getName().str() + "." + std::to_string(dim));
  return b.make<DeclareExtentsNode>(x, type.withExtents(extents),
                                    std::vector<NodeValue>{count},
                                    std::vector<int64_t>{dim});
}
