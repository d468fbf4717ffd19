//===- DynamicDims.cpp - Values with dynamic dimensions -------------------===//

#include "ONNX/DynamicDims.h"
#include "Common/Positions.h"
#include "ONNX/GraphScope.h"
#include "llvm/ADT/Sequence.h"

using namespace glowish;
using namespace glowish::onnximport;

llvm::Expected<DynamicValue> onnximport::getDynamicInput(OpContext &op,
                                                         unsigned index) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(index));
  return DynamicValue{value, op.getExtents(index)};
}

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

NodeValue onnximport::countAlong(OpContext &op, const DynamicValue &x,
                                 unsigned dim) {
  if (!x.value || x.isDynamic(dim))
    return x.getExtent(dim);
  return op.scalar(ElemKind::Int64, double(x.getShape()[dim]));
}

NodeValue onnximport::countAlong(OpContext &op, const DynamicValue &x,
                                 llvm::ArrayRef<int64_t> dims) {
  if (!x.value)
    return {};
  double known = 1;
  NodeValue count;
  for (int64_t d : dims) {
    if (!x.isDynamic(d))
      known *= double(x.getShape()[d]);
    else
      count = count ? op.mul(count, x.getExtent(d)) : x.getExtent(d);
  }
  if (!count)
    return op.scalar(ElemKind::Int64, known);
  return known == 1 ? count : op.mul(count, known);
}

NodeValue onnximport::numberAlong(OpContext &op, const DynamicValue &x,
                                  unsigned dim) {
  if (!x.value)
    return {};
  return op.iota(ElemKind::Int64, x.getRank(), dim, x.getShape()[dim]);
}

//===- Elements beyond the actual extents ---------------------------------===//

NodeValue onnximport::isInside(OpContext &op, const DynamicValue &x,
                               llvm::ArrayRef<int64_t> dims) {
  NodeValue inside;
  for (int64_t d : dims) {
    if (!x.value || !x.isDynamic(d))
      continue;
    NodeValue along = op.less(numberAlong(op, x, d), x.getExtent(d));
    inside = inside ? op.logicalAnd(inside, along) : along;
  }
  return inside;
}

NodeValue onnximport::fillOutside(OpContext &op, const DynamicValue &x,
                                  llvm::ArrayRef<int64_t> dims, double filler) {
  NodeValue inside = isInside(op, x, dims);
  if (!inside || op.hasFailed())
    return x.value;
  return op.select(inside, x.value, op.number(x.value, filler));
}

NodeValue onnximport::wrapDynamicIndices(OpContext &op, NodeValue indices,
                                         const DynamicValue &x, unsigned axis) {
  if (!indices || !x.value || !x.isDynamic(axis))
    return indices;
  return wrapIndices(op, indices, x.getExtent(axis));
}

//===- Unification of extents ---------------------------------------------===//

static void crop(OpContext &op, DynamicValue &x, unsigned dim, int64_t size) {
  x.value = op.slice(x.value, dim, 0, size);
}

llvm::Error onnximport::unify(OpContext &op, DynamicValue &xs, unsigned x,
                              DynamicValue &ys, unsigned y) {
  if (!xs.value || !ys.value)
    return llvm::Error::success();
  int64_t sizeX = xs.getShape()[x], sizeY = ys.getShape()[y];
  if (!xs.isDynamic(x) && !ys.isDynamic(y))
    return llvm::Error::success();
  bool isConstantX = !xs.isDynamic(x), isConstantY = !ys.isDynamic(y);
  if ((isConstantX && sizeX > sizeY) || (isConstantY && sizeY > sizeX))
    return makeError("an extent is {0}, but one that must equal it is at most "
                     "{1}",
                     std::max(sizeX, sizeY), std::min(sizeX, sizeY));
  crop(op, xs, x, std::min(sizeX, sizeY));
  crop(op, ys, y, std::min(sizeX, sizeY));
  NodeValue extent;
  if (!isConstantX && !isConstantY)
    extent = sizeX <= sizeY ? xs.getExtent(x) : ys.getExtent(y);
  xs.setExtent(x, extent);
  ys.setExtent(y, extent);
  return llvm::Error::success();
}

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

llvm::Error onnximport::passOuterExtents(OpContext &op, unsigned count) {
  Extents extents = op.hasInput(0) ? op.getExtents(0) : Extents();
  for (unsigned d = count; d < extents.size(); ++d)
    if (extents[d])
      return makeError("the extent of dimension {0} of input 0 is known only "
                       "when the model runs; accepted: such extents of the "
                       "first {1} dimensions",
                       d, count);
  extents.truncate(std::min<size_t>(extents.size(), count));
  for (unsigned i = 0; i < op.getOutputs().size(); ++i) {
    if (NodeValue output = op.getOutputs()[i]) {
      Extents own = extents;
      own.resize(output.getShape().size());
      op.setExtents(i, own);
    }
  }
  return llvm::Error::success();
}

//===- Outputs ------------------------------------------------------------===//

llvm::Error onnximport::setDynamicOutput(OpContext &op, unsigned index,
                                         DynamicValue value) {
  // Even computed extents are known if they are folded to constants.
  for (unsigned d = 0; value.value && d < value.extents.size(); ++d)
    if (auto *extent = value.getExtent(d).getNodeAs<Constant>()) {
      crop(op, value, d, extent->getTensor().getAsInt(0));
      value.extents[d] = {};
    }
  GLOWISH_RETURN_IF_ERROR(op.setOutput(index, value.value));
  op.setExtents(index, value.extents);
  return llvm::Error::success();
}

std::optional<Extent> onnximport::findStated(const Module &module,
                                             const Type &type, unsigned dim) {
  Extent extent = type.getLength(dim);
  bool isStated =
      llvm::all_of(extent.getSymbols(), [&](const std::string &symbol) {
        return module.findStated(symbol);
      });
  return isStated ? std::optional(extent) : std::nullopt;
}

/// What a run leaves of \p value in an output of the extents \p shape
/// (InputExtents::next).
static ExtentList findSaved(const Module &module, NodeValue value,
                            DimsRef shape) {
  ExtentList dims;
  for (auto [d, bound] : llvm::enumerate(shape)) {
    bool isWhole =
        !value.getType().getExtent(d) && value.getShape()[d] == bound;
    // Where data decide, it may be all of it.
    dims.push_back(isWhole ? std::nullopt
                           : findStated(module, value.getType(), d));
  }
  bool isAny = llvm::any_of(dims, [](auto &dim) { return dim.has_value(); });
  return isAny ? dims : ExtentList();
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

llvm::Error onnximport::saveDynamicOutput(GraphContext &graph,
                                          llvm::StringRef name, NodeValue value,
                                          DimsRef shape) {
  // A pseudo node that owns the nodes of the output.
  onnx::NodeProto proto;
  proto.add_output(name.str());
  OpContext op(proto, graph, {});
  std::vector<NodeValue> counts;
  counts.reserve(shape.size());
  for (unsigned d = 0; d < shape.size(); ++d)
    counts.push_back(op.reshape(op.getLength(value, d), {1}));
  NodeValue count = op.concat(counts, 0);
  NodeValue saved = padTo(op, op.dropExtents(value), shape);
  GLOWISH_ASSIGN_OR_RETURN(count, op.finish(count));
  GLOWISH_ASSIGN_OR_RETURN(saved, op.finish(saved));
  Module &module = graph.function.getModule();
  std::string extentsName =
      graph.scope->makePlaceholderName(name.str() + ".extents", ".extents");
  Placeholder *extents = module.createPlaceholder(
      extentsName, count.getType(), /*isInput=*/false, /*isOutput=*/true);
  Placeholder *output = module.createPlaceholder(
      name, saved.getType(), /*isInput=*/false, /*isOutput=*/true);
  output->setExtents(extents);
  output->setNextExtents(findSaved(module, value, shape));
  graph.function.create<SaveNode>("save_" + extentsName, count,
                                  NodeValue(extents));
  graph.function.create<SaveNode>("save_" + name.str(), saved,
                                  NodeValue(output));
  return llvm::Error::success();
}
