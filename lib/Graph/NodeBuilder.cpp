//===- NodeBuilder.cpp - Create nodes by expressions ----------------------===//

#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Graph/CountedSymbols.h"
#include "glowish/Support/Error.h"
#include <numeric>

using namespace glowish;

llvm::Expected<NodeValue> NodeBuilder::create(NodeDraft draft) {
  GLOWISH_ASSIGN_OR_RETURN(Node *node,
                           function.tryCreate(name, std::move(draft)));
  return node->getResult();
}

llvm::Error NodeBuilder::checkConstant(const Type & /*type*/) {
  return llvm::Error::success();
}

NodeValue NodeBuilder::createConstant(Tensor tensor) {
  return function.getModule().createConstant(name, std::move(tensor));
}

NodeValue NodeBuilder::keep(llvm::Expected<NodeValue> value) {
  if (value)
    return *value;
  std::string text = llvm::toString(value.takeError());
  if (message.empty())
    message = std::move(text);
  return {};
}

llvm::Error NodeBuilder::takeError() const {
  return hasFailed() ? makeError("{0}", message) : llvm::Error::success();
}

llvm::Expected<NodeValue> NodeBuilder::finish(NodeValue value) const {
  GLOWISH_RETURN_IF_ERROR(takeError());
  assert(value && "null without an error");
  return value;
}

NodeValue NodeBuilder::scalar(ElemKind kind, double value) {
  Tensor tensor(Type(kind, Dims()));
  tensor.setFromDouble(0, value);
  return createConstant(std::move(tensor));
}

namespace {
/// What Extent::compute() needs.
struct ExtentNodes {
  NodeBuilder &b;
  llvm::function_ref<NodeValue(llvm::StringRef)> getValue;

  NodeValue getConstant(int64_t number) {
    return b.scalar(ElemKind::Int64, double(number));
  }
  NodeValue getSymbol(const std::string &name) { return getValue(name); }
  NodeValue add(NodeValue x, NodeValue y) { return b.add(x, y); }
  NodeValue multiply(NodeValue x, NodeValue y) { return b.mul(x, y); }
  /// Div rounds towards 0. But all factors in a numerator are positive
  /// (Extent::Quotient), and so are the symbols.
  NodeValue divideDown(NodeValue x, int64_t divisor) {
    return b.div(x, double(divisor));
  }
};
} // namespace

/// Returns the value of \p symbol in \p function: the input that states it, or
/// what a node counts. Null if there is neither; a body has no inputs.
static NodeValue findSymbol(const Function &function, llvm::StringRef symbol) {
  Placeholder *stated = function.getModule().findStated(symbol);
  if (stated)
    return function.isBody() ? NodeValue() : NodeValue(stated);
  for (const Node &node : function.getNodes())
    for (const CountedSymbol &counted : getCountedSymbols(node))
      if (counted.symbol == symbol)
        return counted.count;
  return {};
}

NodeValue
NodeBuilder::compute(const Extent &extent,
                     llvm::function_ref<NodeValue(llvm::StringRef)> getSymbol) {
  ExtentNodes nodes{*this, getSymbol};
  return extent.compute(nodes);
}

NodeValue NodeBuilder::compute(const Extent &extent) {
  for (const std::string &symbol : extent.getSymbols())
    if (!findSymbol(function, symbol))
      return keep(makeError("it computes with {0}, which a run decides, in a "
                            "branch or loop; accepted: known numbers there",
                            extent.describe()));
  return compute(extent, [&](llvm::StringRef symbol) {
    return findSymbol(function, symbol);
  });
}

NodeValue NodeBuilder::getLength(NodeValue x, unsigned dim) {
  if (!x)
    return x;
  const Extent *extent = x.getType().getExtent(dim);
  return extent ? compute(*extent)
                : scalar(ElemKind::Int64, double(x.getShape()[dim]));
}

NodeValue NodeBuilder::countAlong(NodeValue x, llvm::ArrayRef<int64_t> dims) {
  if (!x)
    return x;
  // The known ones are one factor.
  int64_t known = 1;
  NodeValue count;
  for (int64_t dim : dims)
    if (!x.getType().getExtent(unsigned(dim)))
      known *= x.getShape()[dim];
    else
      count = count ? mul(count, getLength(x, unsigned(dim)))
                    : getLength(x, unsigned(dim));
  if (!count)
    return scalar(ElemKind::Int64, double(known));
  return known == 1 ? count : mul(count, double(known));
}

NodeValue NodeBuilder::isInside(NodeValue x, llvm::ArrayRef<int64_t> dims) {
  NodeValue inside;
  for (int64_t dim : dims) {
    if (!x || !x.getType().getExtent(unsigned(dim)))
      continue;
    NodeValue own =
        less(iota(ElemKind::Int64, x.getShape().size(), dim, x.getShape()[dim]),
             getLength(x, unsigned(dim)));
    inside = inside ? logicalAnd(inside, own) : own;
  }
  return inside;
}

NodeValue NodeBuilder::fillOutside(NodeValue x, llvm::ArrayRef<int64_t> dims,
                                   double filler) {
  NodeValue inside = isInside(x, dims);
  return inside ? select(inside, closeDims(x, dims), number(x, filler)) : x;
}

NodeValue NodeBuilder::closeDims(NodeValue x, llvm::ArrayRef<int64_t> dims) {
  if (!x || !x.getType().hasExtents())
    return x;
  ExtentList extents(x.getType().getExtents());
  for (int64_t dim : dims)
    extents[dim].reset();
  return declareExtents(x, x.getType().withExtents(extents));
}

NodeValue NodeBuilder::uint64(uint64_t value) {
  return createConstant(
      Tensor::fromValues<uint64_t>(Type(ElemKind::UInt64, Dims()), {value}));
}

NodeValue NodeBuilder::int64s(llvm::ArrayRef<int64_t> values) {
  return createConstant(Tensor::fromValues<int64_t>(
      Type(ElemKind::Int64, {int64_t(values.size())}), values));
}

NodeValue NodeBuilder::transpose(NodeValue x,
                                 llvm::ArrayRef<int64_t> permutation) {
  return x ? make<TransposeNode>(x, permutation) : x;
}

NodeValue NodeBuilder::declareExtents(NodeValue x, const Type &type) {
  if (!x || x.getType() == type)
    return x;
  return make<DeclareExtentsNode>(x, type);
}

NodeValue NodeBuilder::dropExtents(NodeValue x) {
  return x ? declareExtents(x, x.getType().withoutExtents()) : x;
}

NodeValue NodeBuilder::repack(NodeValue x, const Type &type) {
  if (!x)
    return x;
  const Type &own = x.getType();
  if (!own.hasExtents() && !type.hasExtents())
    return reshape(x, type.getShape());
  Type result = own.withShape(type.getShape()).withExtents(type.getExtents());
  return own == result ? x : make<RepackNode>(x, result);
}

NodeValue NodeBuilder::swapDims(NodeValue x, int64_t first, int64_t second) {
  if (!x || first == second)
    return x;
  std::vector<int64_t> permutation(x.getShape().size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[first], permutation[second]);
  return transpose(x, permutation);
}

NodeValue NodeBuilder::transposeLast(NodeValue x) {
  if (!x)
    return x;
  int64_t rank = x.getType().getRank();
  return swapDims(x, rank - 2, rank - 1);
}

NodeValue NodeBuilder::slice(NodeValue x, int64_t axis, int64_t start,
                             int64_t size) {
  if (!x)
    return x;
  std::vector<int64_t> starts(x.getShape().size(), 0);
  std::vector<int64_t> steps(x.getShape().size(), 1);
  std::vector<int64_t> sizes(x.getShape());
  if (start == 0 && size == sizes[axis])
    return x;
  starts[axis] = start;
  sizes[axis] = size;
  return make<SliceNode>(x, starts, sizes, steps);
}

NodeValue NodeBuilder::reverse(NodeValue x, llvm::ArrayRef<int64_t> axes) {
  if (!x)
    return x;
  std::vector<int64_t> sizes(x.getShape());
  std::vector<int64_t> starts(sizes.size(), 0), steps(sizes.size(), 1);
  for (int64_t axis : axes) {
    if (sizes[axis] == 0)
      return x;
    starts[axis] = sizes[axis] - 1;
    steps[axis] = -1;
  }
  return make<SliceNode>(x, starts, sizes, steps);
}

NodeValue NodeBuilder::concat(llvm::ArrayRef<NodeValue> parts, int64_t axis) {
  for (NodeValue part : parts)
    if (!part)
      return {};
  return parts.size() == 1 ? parts[0] : make<ConcatNode>(parts, axis);
}

NodeValue NodeBuilder::broadcast(NodeValue x, DimsRef shape) {
  return !x || x.getShape() == shape ? x : make<BroadcastNode>(x, shape);
}

NodeValue NodeBuilder::unsqueeze(NodeValue x, int64_t axis) {
  if (!x)
    return x;
  std::vector<int64_t> dims(x.getShape().size());
  std::iota(dims.begin(), dims.end(), 0);
  dims.insert(dims.begin() + axis, -1);
  return rearrange(x, dims);
}

NodeValue NodeBuilder::rearrange(NodeValue x, llvm::ArrayRef<int64_t> dims) {
  if (!x)
    return x;
  const Type &type = x.getType();
  Dims shape;
  ExtentList extents;
  bool mayBeOne = false;
  for (int64_t dim : dims) {
    const Extent *extent = dim < 0 ? nullptr : type.getExtent(unsigned(dim));
    shape.push_back(dim < 0 ? 1 : type.getDim(unsigned(dim)));
    extents.push_back(extent ? std::optional(*extent) : std::nullopt);
    mayBeOne |= extent && shape.back() <= 1;
  }
  // The rule of a Reshape can't tell which of several dimensions of at most 1 a
  // run decides.
  return mayBeOne ? repack(x, type.withShape(shape).withExtents(extents))
                  : reshape(x, shape);
}

NodeValue NodeBuilder::pad(NodeValue x, llvm::ArrayRef<int64_t> pads,
                           double value) {
  if (!x || llvm::all_of(pads, [](int64_t count) { return count == 0; }))
    return x;
  return make<PadNode>(x, pads, "constant", value);
}

NodeValue NodeBuilder::reduce(NodeValue x, llvm::StringRef mode,
                              llvm::ArrayRef<int64_t> axes, bool keepDims) {
  return !x || axes.empty() ? x : make<ReduceNode>(x, mode, axes, keepDims);
}

NodeValue NodeBuilder::table(ElemKind kind, DimsRef shape,
                             llvm::function_ref<double(DimsRef)> fn) {
  if (hasFailed())
    return {};
  llvm::Error error = checkShape(kind, shape);
  if (!error)
    error = checkConstant(Type(kind, shape));
  if (error)
    return keep(std::move(error));
  Tensor tensor(Type(kind, shape));
  Dims index(shape.size(), 0);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    tensor.setFromDouble(i, fn(index));
    for (size_t d = shape.size(); d > 0 && ++index[d - 1] == shape[d - 1]; --d)
      index[d - 1] = 0;
  }
  return createConstant(std::move(tensor));
}

NodeValue NodeBuilder::iota(ElemKind kind, unsigned rank, int64_t axis,
                            int64_t extent) {
  Dims shape(rank, 1);
  shape[axis] = extent;
  return table(kind, shape, [&](DimsRef index) { return double(index[axis]); });
}
