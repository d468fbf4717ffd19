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
    return dim.length || dim.bound != 1;
  });
  return dims;
}

/// Makes one dimension of neighbours that are static.
static std::vector<OpenDim> joinStatic(llvm::ArrayRef<OpenDim> dims) {
  std::vector<OpenDim> joined;
  for (const OpenDim &dim : dims)
    if (!joined.empty() && !joined.back().length && !dim.length)
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
  auto isConstant = [](const OpenDim &dim) { return !dim.length; };
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

/// Returns the row-major strides of the lengths of \p dims.
static std::vector<NodeValue> getStrides(OpContext &op,
                                         llvm::ArrayRef<OpenDim> dims) {
  std::vector<NodeValue> strides(dims.size());
  NodeValue stride = op.scalar(ElemKind::Int64, 1);
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride = dims[d].length ? op.mul(stride, dims[d].length)
                            : op.mul(stride, double(dims[d].bound));
  }
  return strides;
}

/// Gathers the elements of \p x, of the dimensions \p from, in row-major order
/// of their lengths: computes the position of each element of the result, of
/// the dimensions \p to, and splits it by the lengths of \p from.
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
  if (llvm::any_of(from, [](auto &dim) { return bool(dim.length); })) {
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

Dims onnximport::getBounds(llvm::ArrayRef<OpenDim> dims) {
  Dims bounds;
  for (const OpenDim &dim : dims)
    bounds.push_back(dim.bound);
  return bounds;
}

std::vector<OpenDim> onnximport::getOpenDims(OpContext &op, NodeValue x) {
  std::vector<OpenDim> dims;
  for (auto [bound, length] : llvm::zip_equal(x.getShape(), op.getLengths(x)))
    dims.push_back({bound, length});
  return dims;
}

NodeValue onnximport::reshapeOpen(OpContext &op, NodeValue x,
                                  llvm::ArrayRef<OpenDim> to) {
  if (!x)
    return x;
  auto isOpen = [](const OpenDim &dim) { return bool(dim.length); };
  if (!x.getType().hasExtents() && llvm::none_of(to, isOpen))
    return op.reshape(x, getBounds(to));
  NodeValue value =
      reshapeBounds(op, op.dropExtents(x), getOpenDims(op, x), to);
  Extents lengths;
  for (const OpenDim &dim : to)
    lengths.push_back(dim.length);
  return op.declare(value, lengths);
}

OpenDim onnximport::joinDims(OpContext &op, NodeValue x, unsigned begin,
                             unsigned end) {
  std::vector<int64_t> dims = getDimsFrom(begin, end);
  int64_t bound = countElements(x.getShape().slice(begin, end - begin));
  bool isOpen = llvm::any_of(
      dims, [&](int64_t d) { return x.getType().getExtent(unsigned(d)); });
  if (!isOpen)
    return {bound, {}};
  return {bound, makeExtent(op, op.countAlong(x, dims), bound)};
}

NodeValue onnximport::flatten(OpContext &op, NodeValue x) {
  if (!x)
    return x;
  return reshapeOpen(op, x, joinDims(op, x, 0, x.getShape().size()));
}

//===- Reshape ------------------------------------------------------------===//

namespace {
/// The product of constant and dynamic extents.
struct ElementCount {
  int64_t known = 1;
  int64_t bound = 1;
  std::vector<NodeValue> factors;

  llvm::Error multiply(const OpenDim &dim) {
    CheckedInt newBound = CheckedInt(bound) * dim.bound;
    CheckedInt newKnown = CheckedInt(known) * (dim.length ? 1 : dim.bound);
    if (!newBound.get() || !newKnown.get())
      return makeError("the shape has too many elements");
    bound = *newBound.get();
    known = *newKnown.get();
    if (dim.length)
      factors.push_back(dim.length);
    return llvm::Error::success();
  }
  NodeValue get(OpContext &op) const {
    NodeValue count = op.scalar(ElemKind::Int64, double(known));
    for (NodeValue factor : factors)
      count = op.mul(count, factor);
    return count;
  }
};
} // namespace

/// Infers the remaining dimension: \p all divided by \p others.
static llvm::Expected<OpenDim> divide(OpContext &op, ElementCount all,
                                      ElementCount others) {
  for (size_t i = 0; i < others.factors.size();) {
    auto same = llvm::find(all.factors, others.factors[i]);
    if (same == all.factors.end()) {
      ++i;
      continue;
    }
    int64_t bound = std::max<int64_t>(op.findBound(*same).value_or(1), 1);
    all.bound /= bound;
    all.factors.erase(same);
    others.factors.erase(others.factors.begin() + i);
  }
  if (others.known == 0)
    return makeError("the shape divides by an extent of 0");
  if (all.factors.empty() && others.factors.empty()) {
    if (all.known % others.known)
      return makeError("{0} elements cannot be divided by {1}", all.known,
                       others.known);
    return OpenDim{all.known / others.known, {}};
  }
  if (all.known % others.known == 0) {
    all.known /= others.known;
    all.bound /= others.known;
    others.known = 1;
  } else {
    all.bound /= others.known;
  }
  // A single extent is returned as it is, to keep its identity.
  NodeValue extent =
      all.known == 1 && all.factors.size() == 1 ? all.factors[0] : all.get(op);
  if (others.known != 1 || !others.factors.empty())
    extent = op.div(extent, others.get(op));
  return OpenDim{all.bound, makeExtent(op, extent, all.bound)};
}

/// Returns dimension \p d given by \p number, which is not -1.
static llvm::Expected<OpenDim> readDim(OpContext &op, NodeValue x,
                                       const ShapeInt &number, unsigned d,
                                       bool isCopied) {
  if (!number.isConstant()) {
    GLOWISH_ASSIGN_OR_RETURN(int64_t bound, op.getMaxExtent(0, d, number.high));
    return OpenDim{bound, makeExtent(op, getValue(op, number), bound)};
  }
  int64_t extent = number.getConstant();
  if (extent == 0 && isCopied) {
    if (d >= x.getShape().size())
      return makeError("the shape copies dimension {0}, which {1} lacks", d,
                       x.getType().str());
    return getOpenDims(op, x)[d];
  }
  if (extent < 0)
    return makeError("dimension {0} of the shape is {1}", d, extent);
  return OpenDim{extent, {}};
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
  std::vector<OpenDim> dims(ints.size());
  ElementCount all, others;
  for (const OpenDim &dim : getOpenDims(op, x))
    GLOWISH_RETURN_IF_ERROR(all.multiply(dim));
  for (unsigned d = 0; d < dims.size(); ++d) {
    if (unknown == d)
      continue;
    GLOWISH_ASSIGN_OR_RETURN(dims[d], readDim(op, x, ints[d], d, !allowZero));
    GLOWISH_RETURN_IF_ERROR(others.multiply(dims[d]));
  }
  if (unknown) {
    GLOWISH_ASSIGN_OR_RETURN(dims[*unknown], divide(op, all, others));
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
  OpenDim dims[] = {joinDims(op, x, 0, axis), joinDims(op, x, axis, rank)};
  return op.setOutput(0, reshapeOpen(op, x, dims));
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
