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

/// Gives dimension \p fromEnd, counted from the last, the same upper bound in
/// all \p values that do not broadcast along it. Returns the extent.
static llvm::Expected<NodeValue>
alignDim(OpContext &op, llvm::MutableArrayRef<DynamicValue> values,
         unsigned fromEnd) {
  DynamicValue *first = nullptr;
  for (unsigned round = 0; round < 2; ++round)
    for (DynamicValue &x : values) {
      if (!x.value || x.getRank() <= fromEnd)
        continue;
      unsigned dim = x.getRank() - 1 - fromEnd;
      if (x.getShape()[dim] == 1)
        continue;
      if (!first)
        first = &x;
      // The second round propagates the smallest bound to the first values.
      GLOWISH_RETURN_IF_ERROR(
          unify(op, *first, first->getRank() - 1 - fromEnd, x, dim));
    }
  if (first)
    return first->getExtent(first->getRank() - 1 - fromEnd);
  for (DynamicValue &x : values)
    if (x.value && x.getRank() > fromEnd)
      if (NodeValue extent = x.getExtent(x.getRank() - 1 - fromEnd))
        return extent;
  return NodeValue();
}

/// Whether dimension \p fromEnd, counted from the last, has one bound, and is
/// dynamic, in either all \p values that do not broadcast along it or in none.
static bool isAligned(llvm::ArrayRef<DynamicValue> values, unsigned fromEnd) {
  const DynamicValue *first = nullptr;
  auto dim = [&](const DynamicValue &x) { return x.getRank() - 1 - fromEnd; };
  for (const DynamicValue &x : values) {
    if (!x.value || x.getRank() <= fromEnd || x.getShape()[dim(x)] == 1)
      continue;
    if (!first)
      first = &x;
    if (first->getShape()[dim(*first)] != x.getShape()[dim(x)] ||
        first->isDynamic(dim(*first)) != x.isDynamic(dim(x)))
      return false;
  }
  return true;
}

llvm::Error onnximport::importElementWise(OpContext &op,
                                          const OpImporter &import) {
  std::vector<DynamicValue> values(op.getNumInputs());
  unsigned rank = 0;
  bool isDynamic = false, isLegacy = false;
  for (unsigned i = 0; i < values.size(); ++i) {
    if (!op.hasInput(i))
      continue;
    values[i] = {op.peekInput(i), op.getExtents(i)};
    isDynamic |= values[i].isDynamic();
    isLegacy |= i > 0 && values[i].getRank() != rank;
    rank = std::max(rank, values[i].getRank());
  }
  if (!isDynamic)
    return import(op);
  if (op.getOpset() < 7 && isLegacy)
    return makeError("dynamic dimensions broadcast only since opset 7");
  if (llvm::all_of(llvm::seq(rank),
                   [&](unsigned d) { return isAligned(values, d); })) {
    op.keepExtents();
    return import(op);
  }
  Extents extents(rank);
  for (unsigned d = 0; d < rank; ++d) {
    GLOWISH_ASSIGN_OR_RETURN(extents[rank - 1 - d], alignDim(op, values, d));
  }
  for (unsigned i = 0; i < values.size(); ++i)
    if (op.hasInput(i)) {
      GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.finish(values[i].value));
      op.replaceInput(i, value);
    }
  GLOWISH_RETURN_IF_ERROR(import(op));
  for (unsigned i = 0; i < op.getOutputs().size(); ++i)
    if (op.getOutputs()[i])
      op.setExtents(i, extents);
  return llvm::Error::success();
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

std::optional<Extent> onnximport::findExtent(const StatedSums &sums,
                                             const DynamicValue &value,
                                             unsigned dim) {
  return value.isDynamic(dim) ? sums.find(value.getExtent(dim))
                              : Extent(value.getShape()[dim]);
}

/// What a run leaves of \p value in an output of the extents \p shape
/// (InputExtents::next).
static ExtentList findSaved(const Module &module, const DynamicValue &value,
                            DimsRef shape) {
  StatedSums sums(module);
  ExtentList dims;
  for (auto [d, extent] : llvm::enumerate(shape)) {
    bool isWhole = !value.isDynamic(d) && value.getShape()[d] == extent;
    // Where data decide, it may be all of it.
    dims.push_back(isWhole ? std::nullopt : findExtent(sums, value, d));
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
                                          llvm::StringRef name,
                                          const DynamicValue &value,
                                          DimsRef shape) {
  // A pseudo node that owns the nodes of the output.
  onnx::NodeProto proto;
  proto.add_output(name.str());
  OpContext op(proto, graph, {});
  std::vector<NodeValue> counts;
  counts.reserve(shape.size());
  for (unsigned d = 0; d < shape.size(); ++d)
    counts.push_back(op.reshape(countAlong(op, value, d), {1}));
  NodeValue count = op.concat(counts, 0);
  NodeValue saved = padTo(op, value.value, shape);
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
