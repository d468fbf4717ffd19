//===- Extents.cpp - Values with extents that runs decide -----------------===//

#include "ONNX/Extents.h"
#include "Common/EqualExtents.h"
#include "Common/Outputs.h"
#include "Common/Positions.h"
#include "ONNX/GraphScope.h"
#include "llvm/ADT/Sequence.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Extents ------------------------------------------------------------===//

NodeValue onnximport::makeExtent(OpContext &op, NodeValue value,
                                 int64_t bound) {
  if (!value)
    return value;
  std::optional<int64_t> known = op.findBound(value);
  if (!known || *known > bound) {
    value = op.clip(value, 0, double(bound));
    if (value)
      op.setBound(value, bound);
  }
  return value;
}

//===- Alignment ----------------------------------------------------------===//

llvm::Error onnximport::align(OpContext &op, NodeValue &xs, unsigned x,
                              NodeValue &ys, unsigned y) {
  if (!xs || !ys)
    return llvm::Error::success();
  const Extent *ownX = xs.getType().getExtent(x),
               *ownY = ys.getType().getExtent(y);
  int64_t sizeX = xs.getShape()[x], sizeY = ys.getShape()[y];
  if (!ownX && !ownY)
    return llvm::Error::success();
  if ((!ownX && sizeX > sizeY) || (!ownY && sizeY > sizeX))
    return makeError("an extent is {0}, but one that must equal it is at most "
                     "{1}",
                     std::max(sizeX, sizeY), std::min(sizeX, sizeY));
  // Where both are open and have one bound, the nodes' extent rules say that
  // they are the same.
  if (ownX && ownY && sizeX == sizeY)
    return llvm::Error::success();
  requireSame(op, xs.getType().getLength(x), ys.getType().getLength(y));
  std::optional<Extent> extent;
  if (ownX && ownY)
    extent = sizeX <= sizeY ? *ownX : *ownY;
  xs = op.crop(xs, x, std::min(sizeX, sizeY), extent);
  ys = op.crop(ys, y, std::min(sizeX, sizeY), extent);
  return llvm::Error::success();
}

/// Aligns dimension \p fromEnd, counted from the last, of all \p values that
/// don't broadcast along it.
static llvm::Error alignDim(OpContext &op,
                            llvm::MutableArrayRef<NodeValue> values,
                            unsigned fromEnd) {
  NodeValue *first = nullptr;
  auto dim = [&](NodeValue x) { return x.getType().getRank() - 1 - fromEnd; };
  // The second round propagates the smallest bound to the first values.
  for (unsigned round = 0; round < 2; ++round)
    for (NodeValue &x : values) {
      if (!x || x.getType().getRank() <= fromEnd || x.getShape()[dim(x)] == 1)
        continue;
      if (!first)
        first = &x;
      GLOWISH_RETURN_IF_ERROR(align(op, *first, dim(*first), x, dim(x)));
    }
  return llvm::Error::success();
}

llvm::Error onnximport::alignBroadcast(OpContext &op,
                                       llvm::MutableArrayRef<NodeValue> values,
                                       unsigned numInner) {
  unsigned rank = 0;
  for (NodeValue x : values)
    rank = std::max(rank, x ? x.getType().getRank() : 0);
  for (unsigned d = numInner; d < rank; ++d)
    GLOWISH_RETURN_IF_ERROR(alignDim(op, values, d));
  return op.takeError();
}

llvm::Error onnximport::refuseExtents(NodeValue x, unsigned index,
                                      llvm::ArrayRef<int64_t> dims,
                                      const llvm::Twine &why) {
  for (int64_t d : dims)
    if (x && d < x.getType().getRank() && x.getType().getExtent(d))
      return makeError("a run decides the extent of dimension {0} of input "
                       "{1}, and {2}",
                       d, index, why.str());
  return llvm::Error::success();
}

llvm::Error onnximport::importElementWise(OpContext &op,
                                          const OpImporter &import) {
  op.keepExtents();
  std::vector<NodeValue> values(op.getNumInputs());
  bool isOpen = false, isLegacy = false;
  for (unsigned i = 0; i < values.size(); ++i) {
    if (!op.hasInput(i))
      continue;
    values[i] = op.peekInput(i);
    isOpen |= values[i].getType().hasExtents();
    isLegacy |=
        values[0] && values[i].getShape().size() != values[0].getShape().size();
  }
  if (isOpen && op.getOpset() < 7 && isLegacy)
    return makeError("dynamic dimensions broadcast only since opset 7");
  if (isOpen)
    GLOWISH_RETURN_IF_ERROR(alignBroadcast(op, values));
  for (unsigned i = 0; i < values.size(); ++i)
    if (values[i])
      op.replaceInput(i, values[i]);
  return import(op);
}

//===- Outputs ------------------------------------------------------------===//

std::optional<Extent> onnximport::findStated(const Module &module,
                                             const Type &type, unsigned dim) {
  Extent extent = type.getLength(dim);
  return module.isStated(extent) ? std::optional(extent) : std::nullopt;
}

NodeValue onnximport::sliceCorner(Function &function, NodeValue value,
                                  DimsRef shape) {
  Dims zeros(shape.size(), 0), ones(shape.size(), 1);
  return function
      .create<SliceNode>(value.node->getName(), value, zeros, shape, ones)
      ->getResult();
}

NodeValue onnximport::padTo(OpContext &op, NodeValue value, DimsRef shape) {
  if (!value || value.getShape() == shape)
    return value;
  std::vector<int64_t> pads(shape.size(), 0);
  for (auto [extent, larger] : llvm::zip_equal(value.getShape(), shape))
    pads.push_back(larger - extent);
  return op.pad(value, pads, 0);
}

llvm::Error onnximport::saveOpenOutput(GraphContext &graph,
                                       llvm::StringRef name, NodeValue value,
                                       DimsRef shape) {
  // A pseudo node that owns the nodes of the output.
  onnx::NodeProto proto;
  proto.add_output(name.str());
  OpContext op(proto, graph, {});
  // A dimension that is shorter than the output's has a constant extent.
  ExtentList extents;
  for (const Extent &length : value.getType().getLengths())
    extents.push_back(length);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue saved,
                           op.finish(padTo(op, op.dropExtents(value), shape)));
  std::string extentsName =
      graph.scope->makePlaceholderName(name.str() + ".extents", ".extents");
  return createOutput(op, name.str(),
                      op.restate(saved, saved.getType().withExtents(extents)),
                      extentsName);
}
