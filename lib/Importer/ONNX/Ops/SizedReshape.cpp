//===- SizedReshape.cpp - Other shapes of run-time extents ----------------===//

#include "ONNX/Ops/SizedReshape.h"
#include "ONNX/ShapeInts.h"

using namespace glowish;

//===- Elements under other extents ---------------------------------------===//

namespace {
/// A dimension: its largest extent, and the actual one or null.
struct SizedDim {
  int64_t bound;
  NodeValue extent;
  bool operator==(const SizedDim &other) const = default;
};
} // namespace

/// Dimensions of extent 1 don't matter.
static std::vector<SizedDim> getDims(DimsRef shape, const Extents &extents) {
  std::vector<SizedDim> dims;
  for (unsigned d = 0; d < shape.size(); ++d) {
    NodeValue extent = d < extents.size() ? extents[d] : NodeValue();
    if (extent || shape[d] != 1)
      dims.push_back({shape[d], extent});
  }
  return dims;
}

/// Whether elements of both have the same place in memory: dimensions that are
/// the same, and then at most one that is sized, before all others. The first
/// dimension of all may have different bounds.
static bool haveSamePlaces(llvm::ArrayRef<SizedDim> xs,
                           llvm::ArrayRef<SizedDim> ys) {
  bool haveOuter = false;
  while (!xs.empty() && !ys.empty() && xs.front() == ys.front()) {
    haveOuter = true;
    xs = xs.drop_front();
    ys = ys.drop_front();
  }
  auto isConstant = [](const SizedDim &dim) { return !dim.extent; };
  if (llvm::all_of(xs, isConstant) && llvm::all_of(ys, isConstant))
    return true;
  auto count = [](llvm::ArrayRef<SizedDim> dims) {
    int64_t product = 1;
    for (const SizedDim &dim : dims)
      product *= dim.bound;
    return product;
  };
  if (haveOuter && count(xs) != count(ys))
    return false;
  return !xs.empty() && !ys.empty() &&
         llvm::all_of(xs.drop_front(), isConstant) &&
         llvm::all_of(ys.drop_front(), isConstant);
}

/// How far apart neighbours of each dimension are in row-major order of the
/// actual extents.
static std::vector<NodeValue> getStrides(Composer &c, const SizedValue &x) {
  std::vector<NodeValue> strides(x.getRank());
  for (unsigned d = 0; d < x.getRank(); ++d)
    strides[d] = countAlong(
        c, x, llvm::ArrayRef(getAllDims(x.getRank())).drop_front(d + 1));
  return strides;
}

/// Gathers the elements: counts them by the extents of \p to, and splits the
/// number by those of \p x.
static NodeValue gatherReshaped(Composer &c, const SizedValue &x,
                                const SizedValue &to) {
  NodeValue number = c.scalar(ElemKind::Int64, 0);
  std::vector<NodeValue> strides = getStrides(c, to);
  for (unsigned d = 0; d < to.getRank(); ++d)
    number = c.add(number, c.mul(numberAlong(c, to, d), strides[d]));
  if (c.hasFailed())
    return {};
  number = c.broadcast(number, to.getShape());
  NodeValue position = number;
  if (x.isSized()) {
    position = c.scalar(ElemKind::Int64, 0);
    Dims bounds = getDenseStrides(x.getShape());
    strides = getStrides(c, x);
    for (unsigned d = 0; d < x.getRank(); ++d) {
      NodeValue index = c.div(number, strides[d]);
      number = c.sub(number, c.mul(index, strides[d]));
      position = c.add(position, c.mul(index, double(bounds[d])));
    }
  }
  NodeValue flat = c.reshape(x.value, {x.value.getType().getNumElements()});
  return c.gather(flat, position, 0);
}

SizedValue glowish::reshapeSized(Composer &c, const SizedValue &x,
                                 DimsRef shape, Extents extents) {
  if (!x.value)
    return x;
  int64_t from = x.value.getType().getNumElements(), to = countElements(shape);
  if (haveSamePlaces(getDims(x.getShape(), x.extents),
                     getDims(shape, extents)) &&
      from >= to) {
    NodeValue value = x.value;
    if (from > to)
      value = c.slice(c.reshape(value, {from}), 0, 0, to);
    return {c.reshape(value, shape), extents};
  }
  if (from == 0 || to == 0)
    return {c.splat(x.value.getElemKind(), shape, 0), extents};
  // Only the shape and the extents of this value are used.
  SizedValue frame{c.splat(ElemKind::Bool, shape, 0), extents};
  return {gatherReshaped(c, x, frame), extents};
}

std::pair<int64_t, NodeValue> glowish::joinDims(OpContext &op, Composer &c,
                                                const SizedValue &x,
                                                unsigned begin, unsigned end) {
  int64_t bound = 1;
  bool isSized = false;
  std::vector<int64_t> dims;
  for (unsigned d = begin; d < end; ++d) {
    bound *= x.getShape()[d];
    isSized |= x.isSized(d);
    dims.push_back(d);
  }
  if (!isSized)
    return {bound, {}};
  return {bound, makeExtent(op, c, countAlong(c, x, dims), bound)};
}

llvm::Expected<SizedValue> glowish::flatten(OpContext &op, Composer &c,
                                            const SizedValue &x) {
  auto [bound, extent] = joinDims(op, c, x, 0, x.getRank());
  SizedValue result = reshapeSized(c, x, {bound}, {extent});
  GLOWISH_TRY(result.value, c.finish(result.value));
  return result;
}

//===- Reshape ------------------------------------------------------------===//

namespace {
/// A product of constant and of actual extents.
struct Product {
  int64_t known = 1;
  int64_t bound = 1;
  std::vector<NodeValue> factors;

  llvm::Error multiply(int64_t largest, NodeValue extent) {
    if (__builtin_mul_overflow(bound, largest, &bound))
      return makeError("the shape has too many elements");
    if (extent)
      factors.push_back(extent);
    else
      known *= largest;
    return llvm::Error::success();
  }
  NodeValue get(Composer &c) const {
    NodeValue product = c.scalar(ElemKind::Int64, double(known));
    for (NodeValue factor : factors)
      product = c.mul(product, factor);
    return product;
  }
};
} // namespace

/// The dimension that is left: \p all divided by \p others.
static llvm::Expected<SizedDim> divide(OpContext &op, Composer &c, Product all,
                                       Product others) {
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
    return SizedDim{all.known / others.known, {}};
  }
  if (all.known % others.known == 0) {
    all.known /= others.known;
    all.bound /= others.known;
    others.known = 1;
  } else {
    all.bound /= others.known;
  }
  // An extent that occurs alone is the same as before.
  NodeValue extent =
      all.known == 1 && all.factors.size() == 1 ? all.factors[0] : all.get(c);
  if (others.known != 1 || !others.factors.empty())
    extent = c.div(extent, others.get(c));
  return SizedDim{all.bound, makeExtent(op, c, extent, all.bound)};
}

/// What \p number, which is not -1, states for dimension \p d.
static llvm::Expected<SizedDim> readDim(OpContext &op, Composer &c,
                                        const SizedValue &x,
                                        const ShapeInt &number, unsigned d,
                                        bool isCopied) {
  if (!number.isConstant()) {
    GLOWISH_TRY(int64_t bound, op.getMaxExtent(0, d, number.high));
    return SizedDim{bound, makeExtent(op, c, getValue(c, number), bound)};
  }
  int64_t extent = number.getConstant();
  if (extent == 0 && isCopied) {
    if (d >= x.getRank())
      return makeError("the shape copies dimension {0}, which {1} lacks", d,
                       x.value.getType().str());
    return SizedDim{x.getShape()[d], x.getExtent(d)};
  }
  if (extent < 0)
    return makeError("dimension {0} of the shape is {1}", d, extent);
  return SizedDim{extent, {}};
}

/// Which of \p ints the number of elements decides: the one that is -1, or the
/// only one that is not known.
static std::optional<unsigned> findUnknown(const SizedValue &x,
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
  if (numComputed != 1 || x.isSized())
    return std::nullopt;
  return computed;
}

static llvm::Error importReshape(OpContext &op) {
  GLOWISH_TRY(SizedValue x, getSizedInput(op, 0));
  GLOWISH_TRY(int64_t allowZero, op.getInt("allowzero", 0));
  Composer c(op);
  GLOWISH_TRY(std::vector<ShapeInt> ints, readShapeInts(op, c, "shape", 1));
  std::optional<unsigned> unknown = findUnknown(x, ints);
  std::vector<SizedDim> dims(ints.size());
  Product all, others;
  for (unsigned d = 0; d < x.getRank(); ++d)
    GLOWISH_CHECK(all.multiply(x.getShape()[d], x.getExtent(d)));
  for (unsigned d = 0; d < dims.size(); ++d) {
    if (unknown == d)
      continue;
    GLOWISH_TRY(dims[d], readDim(op, c, x, ints[d], d, !allowZero));
    GLOWISH_CHECK(others.multiply(dims[d].bound, dims[d].extent));
  }
  if (unknown) {
    GLOWISH_TRY(dims[*unknown], divide(op, c, all, others));
  }
  Dims shape;
  Extents extents;
  for (const SizedDim &dim : dims) {
    shape.push_back(dim.bound);
    extents.push_back(dim.extent);
  }
  bool isSized = x.isSized() || SizedValue{{}, extents}.isSized();
  if (!isSized)
    return op.setOutput(0, op.reshape(x.value, shape));
  GLOWISH_CHECK(checkShape(x.value.getElemKind(), shape));
  return setSizedOutput(op, c, 0, reshapeSized(c, x, shape, extents));
}

static llvm::Error importFlatten(OpContext &op) {
  GLOWISH_TRY(SizedValue x, getSizedInput(op, 0));
  GLOWISH_TRY(int64_t axis, op.getInt("axis", 1));
  int64_t rank = x.getRank();
  if (axis < -rank || axis > rank)
    return makeError("attribute 'axis' is {0}; accepted: {1} to {2}", axis,
                     -rank, rank);
  if (axis < 0)
    axis += rank;
  Composer c(op);
  auto [rows, rowExtent] = joinDims(op, c, x, 0, axis);
  auto [columns, columnExtent] = joinDims(op, c, x, axis, rank);
  return setSizedOutput(
      op, c, 0, reshapeSized(c, x, {rows, columns}, {rowExtent, columnExtent}));
}

//===- Squeeze, Unsqueeze, Transpose --------------------------------------===//

/// \p x with dimensions of extent 1 added or left out: dimension d of the
/// result is dimension \p dims[d], or new where that is -1.
static llvm::Error setRearranged(OpContext &op, Composer &c,
                                 const SizedValue &x,
                                 llvm::ArrayRef<int64_t> dims) {
  Dims shape;
  Extents extents;
  for (int64_t d : dims) {
    shape.push_back(d < 0 ? 1 : x.getShape()[d]);
    extents.push_back(d < 0 ? NodeValue() : x.getExtent(d));
  }
  return setSizedOutput(op, c, 0, {c.reshape(x.value, shape), extents});
}

/// Squeeze without axes removes all dimensions of extent 1.
static llvm::Error importSqueeze(OpContext &op) {
  GLOWISH_TRY(SizedValue x, getSizedInput(op, 0));
  GLOWISH_TRY(std::vector<int64_t> axes, op.getIntsOrInput("axes", 1, {}));
  int64_t rank = x.getRank();
  GLOWISH_TRY(axes, normalizeAxes(axes, rank));
  Composer c(op);
  if (axes.empty() && x.isSized())
    return makeError("extents are known only when the model runs; accepted: "
                     "such with axes");
  for (int64_t axis : axes) {
    // The model says that it is 1.
    if (x.isSized(axis) && x.getShape()[axis] > 1)
      x.value = c.slice(x.value, axis, 0, 1);
    if (!c.hasFailed() && x.getShape()[axis] != 1)
      return makeError("dimension {0} of {1} cannot be removed; accepted: "
                       "extent 1",
                       axis, x.value.getType().str());
  }
  if (c.hasFailed())
    return c.setOutput(0, {});
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d)
    if (axes.empty() ? x.getShape()[d] != 1 : !llvm::is_contained(axes, d))
      dims.push_back(d);
  return setRearranged(op, c, x, dims);
}

static llvm::Error importUnsqueeze(OpContext &op) {
  GLOWISH_TRY(SizedValue x, getSizedInput(op, 0));
  GLOWISH_TRY(std::vector<int64_t> axes, op.getRequiredInts("axes", 1));
  int64_t rank = x.getRank() + axes.size();
  GLOWISH_TRY(std::vector<int64_t> distinct, normalizeAxes(axes, rank));
  if (distinct.size() != axes.size())
    return makeError("an axis comes twice");
  std::vector<int64_t> dims;
  int64_t next = 0;
  for (int64_t d = 0; d < rank; ++d)
    dims.push_back(llvm::is_contained(distinct, d) ? -1 : next++);
  Composer c(op);
  return setRearranged(op, c, x, dims);
}

static llvm::Error importTranspose(OpContext &op) {
  GLOWISH_TRY(SizedValue x, getSizedInput(op, 0));
  std::vector<int64_t> reversed = getAllDims(x.getRank());
  std::reverse(reversed.begin(), reversed.end());
  GLOWISH_TRY(std::vector<int64_t> permutation, op.getInts("perm", reversed));
  GLOWISH_TRY(NodeValue value, op.transpose(x.value, permutation));
  Extents extents;
  for (int64_t d : permutation)
    extents.push_back(x.getExtent(d));
  Composer c(op);
  return setSizedOutput(op, c, 0, {value, extents});
}

static OnnxOperator reshapeOp("Reshape", 1, importReshape);
static OnnxOperator flattenOp("Flatten", 1, importFlatten);
static OnnxOperator squeezeOp("Squeeze", 1, importSqueeze);
static OnnxOperator unsqueezeOp("Unsqueeze", 1, importUnsqueeze);
static OnnxOperator transposeOp("Transpose", 1, importTranspose);
