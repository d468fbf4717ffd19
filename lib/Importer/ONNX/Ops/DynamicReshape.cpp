//===- DynamicReshape.cpp - Shapes of dynamic values ----------------------===//

#include "ONNX/Ops/DynamicReshape.h"
#include "ONNX/ShapeInts.h"
#include "glowish/Base/CheckedInt.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Reshaping ----------------------------------------------------------===//

/// Returns the dimensions, without those of extent 1.
static std::vector<OpenDim> getDims(llvm::ArrayRef<OpenDim> all) {
  std::vector<OpenDim> dims;
  llvm::copy_if(all, std::back_inserter(dims), [](const OpenDim &dim) {
    return dim.extent || dim.bound != 1;
  });
  return dims;
}

/// Makes one dimension of neighbours that are static.
static std::vector<OpenDim> joinStatic(llvm::ArrayRef<OpenDim> dims) {
  std::vector<OpenDim> joined;
  for (const OpenDim &dim : dims)
    if (!joined.empty() && !joined.back().extent && !dim.extent)
      joined.back().bound *= dim.bound;
    else
      joined.push_back(dim);
  return joined;
}

/// Whether a reshape from \p xs to \p ys keeps the memory layout. That is so if
/// the dynamic dimensions are the same, with as many elements in between; or if
/// after equal leading dimensions only the first of each is dynamic. Without
/// equal leading dimensions its bounds may differ.
static bool haveSameLayout(llvm::ArrayRef<OpenDim> xs,
                           llvm::ArrayRef<OpenDim> ys) {
  if (joinStatic(xs) == joinStatic(ys))
    return true;
  bool haveOuter = false;
  while (!xs.empty() && !ys.empty() && xs.front() == ys.front()) {
    haveOuter = true;
    xs = xs.drop_front();
    ys = ys.drop_front();
  }
  auto isConstant = [](const OpenDim &dim) { return !dim.extent; };
  if (llvm::all_of(xs, isConstant) && llvm::all_of(ys, isConstant))
    return true;
  auto count = [](llvm::ArrayRef<OpenDim> dims) {
    int64_t result = 1;
    for (const OpenDim &dim : dims)
      result *= dim.bound;
    return result;
  };
  if (haveOuter && count(xs) != count(ys))
    return false;
  return !xs.empty() && !ys.empty() &&
         llvm::all_of(xs.drop_front(), isConstant) &&
         llvm::all_of(ys.drop_front(), isConstant);
}

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

/// Returns the row-major strides of the extents of \p dims.
static std::vector<NodeValue> getStrides(OpContext &op,
                                         llvm::ArrayRef<OpenDim> dims) {
  std::vector<NodeValue> strides(dims.size());
  NodeValue stride = op.scalar(ElemKind::Int64, 1);
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride = dims[d].extent ? op.mul(stride, op.compute(*dims[d].extent))
                            : op.mul(stride, double(dims[d].bound));
  }
  return strides;
}

/// Gathers the elements of \p x, of the dimensions \p from, in row-major order
/// of their extents: computes the position of each element of the result, of
/// the dimensions \p to, and splits it by the extents of \p from.
static NodeValue gatherReshaped(OpContext &op, NodeValue x,
                                llvm::ArrayRef<OpenDim> from,
                                llvm::ArrayRef<OpenDim> to) {
  NodeValue number = op.scalar(ElemKind::Int64, 0);
  std::vector<NodeValue> strides = getStrides(op, to);
  for (auto [d, dim] : llvm::enumerate(to))
    number =
        op.add(number, op.mul(op.iota(ElemKind::Int64, to.size(), d, dim.bound),
                              strides[d]));
  if (op.hasFailed())
    return {};
  number = op.broadcast(number, getBounds(to));
  NodeValue position = number;
  if (llvm::any_of(from, [](auto &dim) { return dim.extent.has_value(); })) {
    position = op.scalar(ElemKind::Int64, 0);
    Dims bounds = getDenseStrides(x.getShape());
    strides = getStrides(op, from);
    for (unsigned d = 0; d < from.size(); ++d) {
      NodeValue index = op.div(number, strides[d]);
      number = op.sub(number, op.mul(index, strides[d]));
      position = op.add(position, op.mul(index, double(bounds[d])));
    }
  }
  NodeValue flat = op.reshape(x, {x.getType().getNumElements()});
  return op.gather(flat, position, 0);
}

/// Returns the bounds of \p x with those of the dimensions \p to.
static NodeValue reshapeBounds(OpContext &op, NodeValue x,
                               llvm::ArrayRef<OpenDim> from,
                               llvm::ArrayRef<OpenDim> to) {
  Dims shape = getBounds(to);
  int64_t own = x.getType().getNumElements(), count = countElements(shape);
  if (haveSameLayout(getDims(from), getDims(to)) && own >= count) {
    if (own > count)
      x = op.slice(op.reshape(x, {own}), 0, 0, count);
    return op.reshape(x, shape);
  }
  if (own == 0 || count == 0)
    return op.splat(x.getElemKind(), shape, 0);
  return gatherReshaped(op, x, from, to);
}

NodeValue onnximport::reshapeOpen(OpContext &op, NodeValue x,
                                  llvm::ArrayRef<OpenDim> to) {
  if (!x)
    return x;
  auto isOpen = [](const OpenDim &dim) { return dim.extent.has_value(); };
  if (!x.getType().hasExtents() && llvm::none_of(to, isOpen))
    return op.reshape(x, getBounds(to));
  ExtentList extents;
  for (const OpenDim &dim : to)
    extents.push_back(dim.extent);
  NodeValue value =
      reshapeBounds(op, op.dropExtents(x), getOpenDims(x.getType()), to);
  return value ? op.restate(value, value.getType().withExtents(extents))
               : value;
}

llvm::Expected<OpenDim> onnximport::joinDims(OpContext &op, NodeValue x,
                                             unsigned begin, unsigned end) {
  const Type &type = x.getType();
  OpenDim joined{1};
  Extent extent = 1;
  for (unsigned d = begin; d < end; ++d) {
    joined.bound *= type.getDim(d);
    std::optional<Extent> next = multiply(extent, type.getLength(d));
    if (!next)
      return makeError("the extent of dimensions {0} to {1} of {2} has too "
                       "many terms",
                       begin, end - 1, type.str());
    extent = *next;
  }
  if (!extent.isConstant())
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
  std::optional<Extent> rest = divideExactly(count, *known);
  if (!rest && !all.extent && known->isConstant())
    return makeError("{0} elements cannot be divided by {1}", all.bound,
                     *known->getConstant());
  if (!rest && known->isConstant())
    rest = divideDown(count, *known->getConstant());
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
  Dims shape;
  for (int64_t d = 0; d < rank; ++d)
    if (axes.empty() ? x.getShape()[d] != 1 : !llvm::is_contained(axes, d))
      shape.push_back(x.getShape()[d]);
  return op.setOutput(0, op.reshape(x, shape));
}

static llvm::Error importUnsqueeze(OpContext &op, NodeValue x) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes,
                           op.getRequiredInts("axes", 1));
  int64_t rank = x.getShape().size() + axes.size();
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> distinct,
                           normalizeAxes(axes, rank));
  if (distinct.size() != axes.size())
    return makeError("an axis comes twice");
  Dims shape;
  for (int64_t d = 0, next = 0; d < rank; ++d)
    shape.push_back(llvm::is_contained(distinct, d) ? 1 : x.getShape()[next++]);
  return op.setOutput(0, op.reshape(x, shape));
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
