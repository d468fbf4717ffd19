//===- DynamicReshape.cpp - Shapes of dynamic values ----------------------===//

#include "ONNX/Ops/DynamicReshape.h"
#include "ONNX/ShapeInts.h"
#include "glowish/Base/CheckedInt.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Reshaping ----------------------------------------------------------===//

namespace {
/// A dimension: its upper bound, and its actual extent or null if it is static.
struct DynamicDim {
  int64_t bound;
  NodeValue extent;
  bool operator==(const DynamicDim &other) const = default;
};
} // namespace

/// Returns the dimensions, without those of extent 1.
static std::vector<DynamicDim> getDims(DimsRef shape, const Extents &extents) {
  std::vector<DynamicDim> dims;
  for (unsigned d = 0; d < shape.size(); ++d) {
    NodeValue extent = d < extents.size() ? extents[d] : NodeValue();
    if (extent || shape[d] != 1)
      dims.push_back({shape[d], extent});
  }
  return dims;
}

/// Makes one dimension of neighbours that are static.
static std::vector<DynamicDim> joinStatic(llvm::ArrayRef<DynamicDim> dims) {
  std::vector<DynamicDim> joined;
  for (const DynamicDim &dim : dims)
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
static bool haveSameLayout(llvm::ArrayRef<DynamicDim> xs,
                           llvm::ArrayRef<DynamicDim> ys) {
  if (joinStatic(xs) == joinStatic(ys))
    return true;
  bool haveOuter = false;
  while (!xs.empty() && !ys.empty() && xs.front() == ys.front()) {
    haveOuter = true;
    xs = xs.drop_front();
    ys = ys.drop_front();
  }
  auto isConstant = [](const DynamicDim &dim) { return !dim.extent; };
  if (llvm::all_of(xs, isConstant) && llvm::all_of(ys, isConstant))
    return true;
  auto count = [](llvm::ArrayRef<DynamicDim> dims) {
    int64_t result = 1;
    for (const DynamicDim &dim : dims)
      result *= dim.bound;
    return result;
  };
  if (haveOuter && count(xs) != count(ys))
    return false;
  return !xs.empty() && !ys.empty() &&
         llvm::all_of(xs.drop_front(), isConstant) &&
         llvm::all_of(ys.drop_front(), isConstant);
}

/// Returns the row-major strides of the actual extents.
static std::vector<NodeValue> getStrides(OpContext &op, const DynamicValue &x) {
  std::vector<NodeValue> strides(x.getRank());
  for (unsigned d = 0; d < x.getRank(); ++d)
    strides[d] = countAlong(
        op, x, llvm::ArrayRef(getAllDims(x.getRank())).drop_front(d + 1));
  return strides;
}

/// Gathers the elements in row-major order of the actual extents: computes the
/// position of each element of \p to and splits it by the extents of \p x.
static NodeValue gatherReshaped(OpContext &op, const DynamicValue &x,
                                const DynamicValue &to) {
  NodeValue number = op.scalar(ElemKind::Int64, 0);
  std::vector<NodeValue> strides = getStrides(op, to);
  for (unsigned d = 0; d < to.getRank(); ++d)
    number = op.add(number, op.mul(numberAlong(op, to, d), strides[d]));
  if (op.hasFailed())
    return {};
  number = op.broadcast(number, to.getShape());
  NodeValue position = number;
  if (x.isDynamic()) {
    position = op.scalar(ElemKind::Int64, 0);
    Dims bounds = getDenseStrides(x.getShape());
    strides = getStrides(op, x);
    for (unsigned d = 0; d < x.getRank(); ++d) {
      NodeValue index = op.div(number, strides[d]);
      number = op.sub(number, op.mul(index, strides[d]));
      position = op.add(position, op.mul(index, double(bounds[d])));
    }
  }
  NodeValue flat = op.reshape(x.value, {x.value.getType().getNumElements()});
  return op.gather(flat, position, 0);
}

DynamicValue onnximport::reshapeDynamic(OpContext &op, const DynamicValue &x,
                                        DimsRef shape, const Extents &extents) {
  if (!x.value)
    return x;
  int64_t from = x.value.getType().getNumElements(), to = countElements(shape);
  if (haveSameLayout(getDims(x.getShape(), x.extents),
                     getDims(shape, extents)) &&
      from >= to) {
    NodeValue value = x.value;
    if (from > to)
      value = op.slice(op.reshape(value, {from}), 0, 0, to);
    return {op.reshape(value, shape), extents};
  }
  if (from == 0 || to == 0)
    return {op.splat(x.value.getElemKind(), shape, 0), extents};
  // Provides a shape and extents; the value is not used.
  DynamicValue frame{op.splat(ElemKind::Bool, shape, 0), extents};
  return {gatherReshaped(op, x, frame), extents};
}

std::pair<int64_t, NodeValue> onnximport::joinDims(OpContext &op,
                                                   const DynamicValue &x,
                                                   unsigned begin,
                                                   unsigned end) {
  int64_t bound = 1;
  bool isDynamic = false;
  std::vector<int64_t> dims;
  for (unsigned d = begin; d < end; ++d) {
    bound *= x.getShape()[d];
    isDynamic |= x.isDynamic(d);
    dims.push_back(d);
  }
  if (!isDynamic)
    return {bound, {}};
  return {bound, makeExtent(op, countAlong(op, x, dims), bound)};
}

llvm::Expected<DynamicValue> onnximport::flatten(OpContext &op,
                                                 const DynamicValue &x) {
  auto [bound, extent] = joinDims(op, x, 0, x.getRank());
  DynamicValue result = reshapeDynamic(op, x, {bound}, {extent});
  GLOWISH_ASSIGN_OR_RETURN(result.value, op.finish(result.value));
  return result;
}

//===- Reshape ------------------------------------------------------------===//

namespace {
/// The product of constant and dynamic extents.
struct ElementCount {
  int64_t known = 1;
  int64_t bound = 1;
  std::vector<NodeValue> factors;

  llvm::Error multiply(int64_t largest, NodeValue extent) {
    CheckedInt newBound = CheckedInt(bound) * largest;
    CheckedInt newKnown = CheckedInt(known) * (extent ? 1 : largest);
    if (!newBound.get() || !newKnown.get())
      return makeError("the shape has too many elements");
    bound = *newBound.get();
    known = *newKnown.get();
    if (extent)
      factors.push_back(extent);
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
static llvm::Expected<DynamicDim> divide(OpContext &op, ElementCount all,
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
    return DynamicDim{all.known / others.known, {}};
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
  return DynamicDim{all.bound, makeExtent(op, extent, all.bound)};
}

/// Returns dimension \p d given by \p number, which is not -1.
static llvm::Expected<DynamicDim> readDim(OpContext &op, const DynamicValue &x,
                                          const ShapeInt &number, unsigned d,
                                          bool isCopied) {
  if (!number.isConstant()) {
    GLOWISH_ASSIGN_OR_RETURN(int64_t bound, op.getMaxExtent(0, d, number.high));
    return DynamicDim{bound, makeExtent(op, getValue(op, number), bound)};
  }
  int64_t extent = number.getConstant();
  if (extent == 0 && isCopied) {
    if (d >= x.getRank())
      return makeError("the shape copies dimension {0}, which {1} lacks", d,
                       x.value.getType().str());
    return DynamicDim{x.getShape()[d], x.getExtent(d)};
  }
  if (extent < 0)
    return makeError("dimension {0} of the shape is {1}", d, extent);
  return DynamicDim{extent, {}};
}

/// Returns the dimension that is inferred from the number of elements: that of
/// -1, or the only one that is not constant.
static std::optional<unsigned> findUnknown(const DynamicValue &x,
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
  if (numComputed != 1 || x.isDynamic())
    return std::nullopt;
  return computed;
}

static llvm::Error importReshape(OpContext &op, DynamicValue x) {
  int64_t allowZero = op.getInt("allowzero", 0);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ShapeInt> ints,
                           readShapeInts(op, "shape", 1));
  std::optional<unsigned> unknown = findUnknown(x, ints);
  std::vector<DynamicDim> dims(ints.size());
  ElementCount all, others;
  for (unsigned d = 0; d < x.getRank(); ++d)
    GLOWISH_RETURN_IF_ERROR(all.multiply(x.getShape()[d], x.getExtent(d)));
  for (unsigned d = 0; d < dims.size(); ++d) {
    if (unknown == d)
      continue;
    GLOWISH_ASSIGN_OR_RETURN(dims[d], readDim(op, x, ints[d], d, !allowZero));
    GLOWISH_RETURN_IF_ERROR(others.multiply(dims[d].bound, dims[d].extent));
  }
  if (unknown) {
    GLOWISH_ASSIGN_OR_RETURN(dims[*unknown], divide(op, all, others));
  }
  Dims shape;
  Extents extents;
  for (const DynamicDim &dim : dims) {
    shape.push_back(dim.bound);
    extents.push_back(dim.extent);
  }
  bool isDynamic = x.isDynamic() || DynamicValue{{}, extents}.isDynamic();
  if (!isDynamic)
    return op.setOutput(0, op.reshape(x.value, shape));
  GLOWISH_RETURN_IF_ERROR(checkShape(x.value.getElemKind(), shape));
  return setDynamicOutput(op, 0, reshapeDynamic(op, x, shape, extents));
}

static llvm::Error importFlatten(OpContext &op, DynamicValue x) {
  int64_t axis = op.getInt("axis", 1);
  int64_t rank = x.getRank();
  if (axis < -rank || axis > rank)
    return makeError("attribute 'axis' is {0}; accepted: {1} to {2}", axis,
                     -rank, rank);
  if (axis < 0)
    axis += rank;
  auto [rows, rowExtent] = joinDims(op, x, 0, axis);
  auto [columns, columnExtent] = joinDims(op, x, axis, rank);
  return setDynamicOutput(
      op, 0, reshapeDynamic(op, x, {rows, columns}, {rowExtent, columnExtent}));
}

//===- Squeeze, Unsqueeze, Transpose --------------------------------------===//

/// Sets output 0 to \p x with dimensions of extent 1 inserted or removed:
/// dimension d is dimension \p dims[d] of \p x, or new if that is -1.
static llvm::Error setRearranged(OpContext &op, const DynamicValue &x,
                                 llvm::ArrayRef<int64_t> dims) {
  Dims shape;
  Extents extents;
  for (int64_t d : dims) {
    shape.push_back(d < 0 ? 1 : x.getShape()[d]);
    extents.push_back(d < 0 ? NodeValue() : x.getExtent(d));
  }
  return setDynamicOutput(op, 0, {op.reshape(x.value, shape), extents});
}

/// Without axes all dimensions of extent 1 are removed.
static llvm::Error importSqueeze(OpContext &op, DynamicValue x) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes,
                           op.getIntsOrInput("axes", 1, {}));
  int64_t rank = x.getRank();
  GLOWISH_ASSIGN_OR_RETURN(axes, normalizeAxes(axes, rank));
  if (axes.empty() && x.isDynamic())
    return makeError(
        "a dimension is dynamic; accepted: static dimensions, or the "
        "axes to remove");
  for (int64_t axis : axes) {
    // The model guarantees that the actual extent is 1.
    if (x.isDynamic(axis) && x.getShape()[axis] > 1)
      x.value = op.slice(x.value, axis, 0, 1);
    if (!op.hasFailed() && x.getShape()[axis] != 1)
      return makeError("dimension {0} of {1} cannot be removed; accepted: "
                       "extent 1",
                       axis, x.value.getType().str());
  }
  if (op.hasFailed())
    return op.setOutput(0, {});
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d)
    if (axes.empty() ? x.getShape()[d] != 1 : !llvm::is_contained(axes, d))
      dims.push_back(d);
  return setRearranged(op, x, dims);
}

static llvm::Error importUnsqueeze(OpContext &op, DynamicValue x) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes,
                           op.getRequiredInts("axes", 1));
  int64_t rank = x.getRank() + axes.size();
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> distinct,
                           normalizeAxes(axes, rank));
  if (distinct.size() != axes.size())
    return makeError("an axis comes twice");
  std::vector<int64_t> dims;
  int64_t next = 0;
  for (int64_t d = 0; d < rank; ++d)
    dims.push_back(llvm::is_contained(distinct, d) ? -1 : next++);
  return setRearranged(op, x, dims);
}

static llvm::Error importTranspose(OpContext &op, DynamicValue x) {
  std::vector<int64_t> reversed = getAllDims(x.getRank());
  std::reverse(reversed.begin(), reversed.end());
  std::vector<int64_t> permutation = op.getInts("perm", reversed);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value,
                           op.finish(op.transpose(x.value, permutation)));
  Extents extents;
  for (int64_t d : permutation)
    extents.push_back(x.getExtent(d));
  return setDynamicOutput(op, 0, {value, extents});
}

static OnnxOperator reshapeOp("Reshape", 1, importReshape);
static OnnxOperator flattenOp("Flatten", 1, importFlatten);
static OnnxOperator squeezeOp("Squeeze", 1, importSqueeze);
static OnnxOperator unsqueezeOp("Unsqueeze", 1, importUnsqueeze);
static OnnxOperator transposeOp("Transpose", 1, importTranspose);
