//===- Reshape.cpp - Reshape, Squeeze, Transpose --------------------------===//

#include "ONNX/Ops/Reshape.h"
#include "Common/OpenReshape.h"
#include "ONNX/ShapeInts.h"
#include "glowish/Base/CheckedInt.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Reshaping ----------------------------------------------------------===//

static Dims getBounds(llvm::ArrayRef<OpenDim> dims) {
  Dims bounds;
  for (const OpenDim &dim : dims)
    bounds.push_back(dim.bound);
  return bounds;
}

static std::vector<OpenDim> getOpenDims(const Type &type) {
  std::vector<OpenDim> dims;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    const Extent *extent = type.getExtent(d);
    dims.push_back({type.getDim(d),
                    extent ? std::optional(*extent) : std::optional<Extent>()});
  }
  return dims;
}

NodeValue onnximport::reshapeOpen(OpContext &op, NodeValue x,
                                  llvm::ArrayRef<OpenDim> to) {
  if (!x)
    return x;
  ExtentList extents;
  for (const OpenDim &dim : to)
    extents.push_back(dim.extent);
  return op.repack(x,
                   x.getType().withShape(getBounds(to)).withExtents(extents));
}

llvm::Expected<OpenDim> onnximport::joinDims(OpContext &op, NodeValue x,
                                             unsigned begin, unsigned end) {
  const Type &type = x.getType();
  std::vector<Extent> lengths = type.getLengths();
  std::optional<Extent> extent =
      multiplyAll(llvm::ArrayRef(lengths).slice(begin, end - begin));
  if (!extent)
    return makeError("the extent of dimensions {0} to {1} of {2} has too many "
                     "terms",
                     begin, end - 1, type.str());
  OpenDim joined{countElements(type.getShape().slice(begin, end - begin))};
  if (!extent->isConstant())
    joined.extent = extent;
  return joined;
}

NodeValue onnximport::flatten(OpContext &op, NodeValue x) {
  if (!x)
    return x;
  llvm::Expected<OpenDim> joined = joinDims(op, x, 0, x.getShape().size());
  if (!joined)
    return op.keep(joined.takeError());
  return reshapeOpen(op, x, *joined);
}

//===- Reshape ------------------------------------------------------------===//

/// Returns the product of the bounds of \p dims.
static llvm::Expected<int64_t> countBounds(llvm::ArrayRef<OpenDim> dims) {
  CheckedInt bound(1);
  for (const OpenDim &dim : dims)
    bound = bound * dim.bound;
  if (!bound.get())
    return makeError("the shape has too many elements");
  return *bound.get();
}

/// Infers the dimension that has the rest of the elements of \p x, whose other
/// dimensions are \p others.
static llvm::Expected<OpenDim> findRest(OpContext &op, NodeValue x,
                                        llvm::ArrayRef<OpenDim> others) {
  GLOWISH_ASSIGN_OR_RETURN(OpenDim all,
                           joinDims(op, x, 0, x.getShape().size()));
  GLOWISH_ASSIGN_OR_RETURN(int64_t bound, countBounds(others));
  std::optional<Extent> known = Extent(1);
  for (const OpenDim &dim : others)
    known = known ? multiply(*known, dim.extent.value_or(dim.bound)) : known;
  if (!known)
    return makeError("the shape has too many extents that a run decides");
  if (known == Extent(0))
    return makeError("the shape divides by an extent of 0");
  Extent count = all.extent.value_or(all.bound);
  std::optional<int64_t> divisor = known->getConstant();
  if (!all.extent && divisor && all.bound % *divisor != 0)
    return makeError("{0} elements cannot be divided by {1}", all.bound,
                     *divisor);
  std::optional<Extent> rest = divideElements(count, *known);
  // A dimension that none of the others has keeps its bound.
  int64_t most = all.bound / std::max<int64_t>(bound, 1);
  bool isMost = bound > 0 && all.bound % bound == 0;
  if (!rest) {
    if (!isMost)
      most = all.bound;
    NodeValue length = op.div(op.compute(count), op.compute(*known));
    length = makeExtent(op, length, most);
    GLOWISH_RETURN_IF_ERROR(op.takeError());
    return OpenDim{most, op.getExtent(length, most)};
  }
  if (std::optional<int64_t> number = rest->getConstant())
    return OpenDim{*number};
  const SymbolRanges &symbols = op.getFunction().getModule().getSymbols();
  std::optional<IntRange> range = symbols.getRange(*rest);
  if (!isMost || (range && range->high > most))
    most = range ? std::min(range->high, all.bound) : all.bound;
  return OpenDim{most, rest};
}

/// Returns dimension \p d given by \p number, which is not -1.
static llvm::Expected<OpenDim> readDim(OpContext &op, NodeValue x,
                                       const ShapeInt &number, unsigned d,
                                       bool isCopied) {
  if (!number.isConstant()) {
    GLOWISH_ASSIGN_OR_RETURN(int64_t bound, op.getMaxExtent(0, d, number.high));
    NodeValue length = makeExtent(op, getValue(op, number), bound);
    GLOWISH_RETURN_IF_ERROR(op.takeError());
    return OpenDim{bound, op.getExtent(length, bound)};
  }
  int64_t extent = number.getConstant();
  if (extent == 0 && isCopied) {
    if (d >= x.getShape().size())
      return makeError("the shape copies dimension {0}, which {1} lacks", d,
                       x.getType().str());
    return getOpenDims(x.getType())[d];
  }
  if (extent < 0)
    return makeError("dimension {0} of the shape is {1}", d, extent);
  return OpenDim{extent};
}

/// Returns the dimension that is inferred from the number of elements: that of
/// -1, or the only one that is not constant.
static std::optional<unsigned> findUnknown(NodeValue x,
                                           llvm::ArrayRef<ShapeInt> ints) {
  std::optional<unsigned> computed;
  unsigned numComputed = 0;
  for (unsigned d = 0; d < ints.size(); ++d) {
    if (ints[d].isConstant() && ints[d].getConstant() == -1)
      return d;
    if (!ints[d].isConstant()) {
      computed = d;
      ++numComputed;
    }
  }
  if (numComputed != 1 || x.getType().hasExtents())
    return std::nullopt;
  return computed;
}

static llvm::Error importReshape(OpContext &op, NodeValue x) {
  int64_t allowZero = op.getInt("allowzero", 0);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ShapeInt> ints,
                           readShapeInts(op, "shape", 1));
  std::optional<unsigned> unknown = findUnknown(x, ints);
  std::vector<OpenDim> dims, others;
  for (unsigned d = 0; d < ints.size(); ++d) {
    if (unknown != d) {
      GLOWISH_ASSIGN_OR_RETURN(OpenDim dim,
                               readDim(op, x, ints[d], d, !allowZero));
      others.push_back(dim);
    }
  }
  GLOWISH_RETURN_IF_ERROR(countBounds(others).takeError());
  dims = others;
  if (unknown) {
    GLOWISH_ASSIGN_OR_RETURN(OpenDim rest, findRest(op, x, others));
    dims.insert(dims.begin() + *unknown, rest);
  }
  GLOWISH_RETURN_IF_ERROR(checkShape(x.getElemKind(), getBounds(dims)));
  return op.setOutput(0, reshapeOpen(op, x, dims));
}

static llvm::Error importFlatten(OpContext &op, NodeValue x) {
  int64_t axis = op.getInt("axis", 1), rank = x.getShape().size();
  if (axis < -rank || axis > rank)
    return makeError("attribute 'axis' is {0}; accepted: {1} to {2}", axis,
                     -rank, rank);
  if (axis < 0)
    axis += rank;
  GLOWISH_ASSIGN_OR_RETURN(OpenDim rows, joinDims(op, x, 0, axis));
  GLOWISH_ASSIGN_OR_RETURN(OpenDim columns, joinDims(op, x, axis, rank));
  return op.setOutput(0, reshapeOpen(op, x, {rows, columns}));
}

//===- Squeeze, Unsqueeze, Transpose --------------------------------------===//

/// Without axes all dimensions of extent 1 are removed.
static llvm::Error importSqueeze(OpContext &op, NodeValue x) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes,
                           op.getIntsOrInput("axes", 1, {}));
  int64_t rank = x.getShape().size();
  GLOWISH_ASSIGN_OR_RETURN(axes, normalizeAxes(axes, rank));
  if (axes.empty() && x.getType().hasExtents())
    return makeError(
        "a dimension is dynamic; accepted: static dimensions, or the "
        "axes to remove");
  for (int64_t axis : axes) {
    // The model guarantees that the actual extent is 1.
    if (x.getType().getExtent(unsigned(axis)))
      x = op.crop(x, unsigned(axis), 1, std::nullopt);
    if (!op.hasFailed() && x.getShape()[axis] != 1)
      return makeError("dimension {0} of {1} cannot be removed; accepted: "
                       "extent 1",
                       axis, x.getType().str());
  }
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d)
    if (axes.empty() ? x.getShape()[d] != 1 : !llvm::is_contained(axes, d))
      dims.push_back(d);
  return op.setOutput(0, op.rearrange(x, dims));
}

static llvm::Error importUnsqueeze(OpContext &op, NodeValue x) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes,
                           op.getRequiredInts("axes", 1));
  int64_t rank = x.getShape().size() + axes.size();
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> distinct,
                           normalizeAxes(axes, rank));
  if (distinct.size() != axes.size())
    return makeError("an axis comes twice");
  std::vector<int64_t> dims;
  for (int64_t d = 0, next = 0; d < rank; ++d)
    dims.push_back(llvm::is_contained(distinct, d) ? -1 : next++);
  return op.setOutput(0, op.rearrange(x, dims));
}

static llvm::Error importTranspose(OpContext &op, NodeValue x) {
  std::vector<int64_t> reversed = getAllDims(x.getShape().size());
  std::reverse(reversed.begin(), reversed.end());
  return op.setOutput(0, op.transpose(x, op.getInts("perm", reversed)));
}

static OnnxOperator reshapeOp("Reshape", 1, withExtents<importReshape>);
static OnnxOperator flattenOp("Flatten", 1, withExtents<importFlatten>);
static OnnxOperator squeezeOp("Squeeze", 1, withExtents<importSqueeze>);
static OnnxOperator unsqueezeOp("Unsqueeze", 1, withExtents<importUnsqueeze>);
static OnnxOperator transposeOp("Transpose", 1, withExtents<importTranspose>);
