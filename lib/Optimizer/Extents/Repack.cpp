//===- Repack.cpp - Elements in dimensions that runs decide ---------------===//

#include "Extents/Repack.h"
#include "Extents/ExtentLowering.h"
#include "glowish/Optimizer/Passes.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/SetVector.h"

using namespace glowish;

//===- Places of elements -------------------------------------------------===//

namespace {
/// A dimension: its bound and, where a run decides it, its extent.
struct Dim {
  int64_t bound;
  std::optional<Extent> extent;
  bool operator==(const Dim &other) const = default;
};
} // namespace

/// Returns the dimensions of \p type, without those that are always 1.
/// Neighbours that no run decides are one.
static std::vector<Dim> getDims(const Type &type) {
  std::vector<Dim> dims;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    int64_t bound = type.getDim(d);
    if (const Extent *extent = type.getExtent(d))
      dims.push_back({bound, *extent});
    else if (!dims.empty() && !dims.back().extent)
      dims.back().bound *= bound;
    else if (bound != 1)
      dims.push_back({bound, std::nullopt});
  }
  return dims;
}

static int64_t countBounds(llvm::ArrayRef<Dim> dims) {
  int64_t count = 1;
  for (const Dim &dim : dims)
    count *= dim.bound;
  return count;
}

/// Returns the elements behind one index of the first of \p dims, from which on
/// the first alone may be open; none if another one is.
static std::optional<int64_t> countInner(llvm::ArrayRef<Dim> dims) {
  for (const Dim &dim : dims.drop_front())
    if (dim.extent)
      return std::nullopt;
  return countBounds(dims.drop_front());
}

bool glowish::keepsPlaces(const Type &from, const Type &to) {
  std::vector<Dim> own = getDims(from), other = getDims(to);
  llvm::ArrayRef<Dim> xs = own, ys = other;
  while (!xs.empty() && !ys.empty() && xs.back() == ys.back()) {
    xs = xs.drop_back();
    ys = ys.drop_back();
  }
  bool haveOuter = false;
  while (!xs.empty() && !ys.empty() && xs.front() == ys.front()) {
    haveOuter = true;
    xs = xs.drop_front();
    ys = ys.drop_front();
  }
  if (xs.empty() && ys.empty())
    return true;
  // Behind dimensions that stay, the bounds are the distances of elements.
  if (xs.empty() || ys.empty() ||
      (haveOuter && countBounds(xs) != countBounds(ys)))
    return false;
  return countInner(xs) && countInner(ys);
}

/// Returns the row-major strides of the extents of \p type.
static std::vector<NodeValue> getStrides(ExtentLowering &b, const Type &type) {
  std::vector<NodeValue> strides(type.getRank());
  NodeValue stride = b.scalar(ElemKind::Int64, 1);
  for (unsigned d = type.getRank(); d-- > 0;) {
    strides[d] = stride;
    const Extent *extent = type.getExtent(d);
    stride = extent ? b.mul(stride, b.compute(*extent))
                    : b.mul(stride, double(type.getDim(d)));
  }
  return strides;
}

/// Gathers the elements of \p x, of the type \p from with extents: computes the
/// number of each element of \p to in row-major order of the extents, and
/// splits it by those of \p from.
static NodeValue gatherElements(ExtentLowering &b, NodeValue x,
                                const Type &from, const Type &to) {
  NodeValue number = b.scalar(ElemKind::Int64, 0);
  std::vector<NodeValue> strides = getStrides(b, to);
  for (unsigned d = 0; d < to.getRank(); ++d)
    number = b.add(number,
                   b.mul(b.iota(ElemKind::Int64, to.getRank(), d, to.getDim(d)),
                         strides[d]));
  if (b.hasFailed())
    return {};
  number = b.broadcast(number, to.getShape());
  NodeValue position = number;
  if (from.hasExtents()) {
    position = b.scalar(ElemKind::Int64, 0);
    Dims bounds = getDenseStrides(from.getShape());
    strides = getStrides(b, from);
    for (unsigned d = 0; d < from.getRank(); ++d) {
      NodeValue index = b.div(number, strides[d]);
      number = b.sub(number, b.mul(index, strides[d]));
      position = b.add(position, b.mul(index, double(bounds[d])));
    }
  }
  return b.gather(b.reshape(x, {from.getNumElements()}), position, 0);
}

/// Returns whether \p to has the dimensions of \p from with larger bounds.
static bool isEnlarged(const Type &from, const Type &to) {
  if (from.getExtents() != to.getExtents())
    return false;
  for (auto [d, bounds] :
       llvm::enumerate(llvm::zip_equal(from.getShape(), to.getShape()))) {
    auto [own, larger] = bounds;
    if (from.getExtent(d) ? own > larger : own != larger)
      return false;
  }
  return true;
}

NodeValue glowish::lowerExtentsOfRepack(RepackNode &node, ExtentLowering &b) {
  const Type from = node.getInput().getType(), &to = node.getType();
  for (auto [count, dim] : llvm::zip_equal(node.getCounts(), node.getDims()))
    b.define(to.getExtent(unsigned(dim))->getSymbol(), count);
  if (isEnlarged(from, to))
    return {};
  NodeValue x = b.dropExtents(node.getInput());
  int64_t own = from.getNumElements(), count = to.getNumElements();
  if (own == 0 || count == 0)
    return b.splat(to.getKind(), to.getShape(), 0);
  if (own < count || !keepsPlaces(from, to))
    return gatherElements(b, x, from, to);
  if (own > count)
    x = b.slice(b.reshape(x, {own}), 0, 0, count);
  return b.reshape(x, to.getShape());
}

//===- Rows ---------------------------------------------------------------===//

namespace {
/// A node that computes each row, along the last dimension, of an operand by
/// itself.
struct RowNode {
  Node *node;
  unsigned operand;
};
} // namespace

/// Returns \p node with the operand whose rows it computes; none if it is no
/// such node.
static std::optional<RowNode> findRowNode(Node &node) {
  if (node.getNumResults() != 1 || !node.getType().hasExtents())
    return std::nullopt;
  if (llvm::isa<FullyConnectedNode>(node))
    return RowNode{&node, FullyConnectedNode::inputIdx};
  if (auto *matmul = llvm::dyn_cast<MatMulNode>(&node)) {
    const Type &rhs = matmul->getRhs().getType();
    if (rhs.getRank() != 2 || rhs.hasExtents())
      return std::nullopt;
    return RowNode{&node, MatMulNode::lhsIdx};
  }
  if (!isElementWise(node))
    return std::nullopt;
  std::optional<RowNode> found;
  for (auto [i, value] : llvm::enumerate(node.getOperands())) {
    if (value.getShape() == node.getType().getShape()) {
      if (found)
        return std::nullopt;
      found = RowNode{&node, unsigned(i)};
    } else if (value.getShape().size() > 1 || value.getType().hasExtents()) {
      return std::nullopt;
    }
  }
  return found;
}

/// Creates \p row for \p value in the place of the operand.
static llvm::Expected<NodeValue> recreate(Function &function, RowNode row,
                                          NodeValue value) {
  NodeBuilder b(function, row.node->getName());
  if (auto *layer = llvm::dyn_cast<FullyConnectedNode>(row.node))
    return b.finish(
        b.add(b.matMul(value, layer->getWeights()), layer->getBias()));
  NodeDraft draft = row.node->getDraft();
  draft.operands[row.operand] = value;
  GLOWISH_ASSIGN_OR_RETURN(
      Node *node, function.tryCreate(row.node->getName(), std::move(draft)));
  return node->getResult();
}

/// Computes the rows that \p last unpacks where they were before they were
/// packed. Returns whether they were.
static llvm::Expected<bool> unpack(Function &function, RepackNode &last) {
  llvm::SmallVector<RowNode, 4> rows;
  NodeValue value = last.getInput();
  auto *first = value.getNodeAs<RepackNode>();
  while (!first) {
    if (llvm::isa<Constant, Placeholder>(value.node) || !value.hasUses(1))
      return false;
    std::optional<RowNode> row = findRowNode(*value.node);
    if (!row)
      return false;
    rows.push_back(*row);
    value = row->node->getOperand(row->operand);
    first = value.getNodeAs<RepackNode>();
  }
  const Type &packed = first->getType(), &to = last.getType();
  unsigned rank = to.getRank();
  if (!value.hasUses(1) || rank == 0 || packed.getRank() == 0 ||
      packed.getExtent(packed.getRank() - 1) || to.getExtent(rank - 1) ||
      last.getInput().getShape().back() != to.getDim(rank - 1))
    return false;
  // The rows of the result, as long as those that were packed.
  Dims shape(to.getShape());
  shape.back() = packed.getShape().back();
  ExtentList extents(to.getExtents());
  extents.resize(rank);
  Type unpacked = packed.withShape(shape).withExtents(extents);
  const Type &from = first->getInput().getType();
  if (!keepsPlaces(from, unpacked) ||
      from.getNumElements() != unpacked.getNumElements())
    return false;
  InsertionGuard guard(function, &last);
  NodeBuilder b(function, first->getName());
  value = b.make<RepackNode>(first->getInput(), TypeList{unpacked});
  GLOWISH_ASSIGN_OR_RETURN(value, b.finish(value));
  for (RowNode row : llvm::reverse(rows)) {
    GLOWISH_ASSIGN_OR_RETURN(value, recreate(function, row, value));
  }
  if (value.getType() != to)
    return makeError("the rows are {0}; they were {1}", value.getType().str(),
                     to.str());
  last.getResult().replaceAllUsesWith(value);
  return true;
}

/// Erases \p node and those that computed its operands, of which nothing is
/// used.
static void eraseUnused(Function &function, Node &node) {
  llvm::SmallVector<Node *, 4> unused = {&node};
  while (!unused.empty()) {
    Node *last = unused.pop_back_val();
    if (last->hasUses() || llvm::isa<Constant, Placeholder>(last))
      continue;
    llvm::SetVector<Node *> operands;
    for (NodeValue value : last->getOperands())
      if (value)
        operands.insert(value.node);
    function.erase(last);
    unused.append(operands.begin(), operands.end());
  }
}

/// Computes rows that are packed to compute them, and unpacked after it, where
/// they are. Attention of PyTorch, whose batch is the second dimension, packs
/// them for its last layer.
static llvm::Expected<bool> unpackRows(Function &function) {
  bool changed = false;
  // Those that are erased come before.
  for (Node &node : llvm::make_early_inc_range(function.getNodes())) {
    auto *repack = llvm::dyn_cast<RepackNode>(&node);
    if (!repack)
      continue;
    GLOWISH_ASSIGN_OR_RETURN(bool isUnpacked, unpack(function, *repack));
    if (isUnpacked)
      eraseUnused(function, *repack);
    changed |= isUnpacked;
  }
  return changed;
}

//===- Order of rows ------------------------------------------------------===//

/// Returns the permutation of \p type, of rows along its last dimension, that
/// puts the dimensions which a run decides first. Empty where as many rows lie
/// side by side as there are such groups, or more: to move them costs more than
/// the ends of the groups do.
static std::vector<int64_t> findRowOrder(const Type &type) {
  std::vector<int64_t> order, closed;
  unsigned last = type.getRank() - 1;
  int64_t groups = 1, rows = 1;
  for (unsigned d = 0; d < last; ++d) {
    bool isOpen = type.getExtent(d);
    (isOpen ? order : closed).push_back(d);
    (order.empty() ? groups : rows) *= type.getDim(d);
  }
  if (order.empty() || groups <= rows)
    return {};
  llvm::append_range(order, closed);
  order.push_back(last);
  return order;
}

/// Puts dimensions that a run decides first among the rows of matmuls with
/// weights, so that rows which a run needs lie side by side.
static llvm::Expected<bool> orderRows(Function &function) {
  bool changed = false;
  for (Node &node : llvm::make_early_inc_range(function.getNodes())) {
    auto *matmul = llvm::dyn_cast<MatMulNode>(&node);
    if (!matmul || !findRowNode(node))
      continue;
    std::vector<int64_t> order = findRowOrder(matmul->getLhs().getType());
    if (order.empty())
      continue;
    std::vector<int64_t> inverse(order.size());
    for (auto [place, dim] : llvm::enumerate(order))
      inverse[dim] = place;
    InsertionGuard guard(function, matmul);
    NodeBuilder b(function, matmul->getName());
    NodeValue result = b.transpose(
        b.matMul(b.transpose(matmul->getLhs(), order), matmul->getRhs()),
        inverse);
    GLOWISH_ASSIGN_OR_RETURN(result, b.finish(result));
    matmul->getResult().replaceAllUsesWith(result);
    function.erase(matmul);
    changed = true;
  }
  return changed;
}

llvm::Expected<bool> glowish::arrangeRows(Function &function,
                                          const GraphPassContext &) {
  GLOWISH_ASSIGN_OR_RETURN(bool isUnpacked, unpackRows(function));
  GLOWISH_ASSIGN_OR_RETURN(bool isOrdered, orderRows(function));
  return isUnpacked || isOrdered;
}
