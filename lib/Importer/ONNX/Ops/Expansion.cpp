//===- Expansion.cpp - Shape, Expand, Tile, Range -------------------------===//

#include "Common/EqualExtents.h"
#include "Common/OpenReshape.h"
#include "Common/Positions.h"
#include "ONNX/Extents.h"
#include "ONNX/Ops/WholeNumbers.h"
#include "ONNX/ShapeInts.h"
#include "glowish/Importer/OperatorNotes.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

//===- Shape and Size -----------------------------------------------------===//

static llvm::Error importShape(OpContext &op, NodeValue x) {
  DimsRef shape = x.getShape();
  int64_t rank = shape.size();
  int64_t start = op.getInt("start", 0);
  int64_t end = op.getInt("end", rank);
  auto clamp = [&](int64_t index) {
    return std::clamp<int64_t>(index < 0 ? index + rank : index, 0, rank);
  };
  start = clamp(start);
  end = std::max(clamp(end), start);
  return op.setOutput(
      0,
      listExtents(op, ElemKind::Int64, x,
                  llvm::ArrayRef(getAllDims(rank)).slice(start, end - start)));
}

static llvm::Error importSize(OpContext &op, NodeValue x) {
  int64_t most = x.getType().getNumElements();
  if (!x.getType().hasExtents())
    return op.setOutput(0, op.createConstant(Tensor::fromValues<int64_t>(
                               Type(ElemKind::Int64, Dims()), {most})));
  NodeValue count = op.countAlong(x, getAllDims(x.getShape().size()));
  return op.setOutput(0, makeExtent(op, count, most));
}

//===- ConstantOfShape, Expand --------------------------------------------===//

/// Adds dimension \p d of output 0, whose extent is \p number.
static llvm::Error addDim(OpContext &op, const ShapeInt &number, unsigned d,
                          Dims &shape, Lengths &extents) {
  if (number.isConstant()) {
    shape.push_back(number.getConstant());
    extents.push_back({});
    return llvm::Error::success();
  }
  GLOWISH_ASSIGN_OR_RETURN(int64_t bound, op.getMaxExtent(0, d, number.high));
  shape.push_back(bound);
  extents.push_back(makeExtent(op, getValue(op, number), bound));
  return llvm::Error::success();
}

static llvm::Error importConstantOfShape(OpContext &op) {
  ElemKind kind = ElemKind::Float;
  double value = 0;
  // Of numbers that a double does not have.
  NodeValue element;
  if (op.hasAttr("value")) {
    GLOWISH_ASSIGN_OR_RETURN(auto tensor, op.getTensor("value"));
    if (tensor->getNumElements() != 1)
      return makeError("attribute 'value' has {0} elements; accepted: 1",
                       tensor->getNumElements());
    kind = tensor->getType().getKind();
    value = tensor->getAsDouble(0);
    if (isIntegerKind(kind) && std::abs(value) >= 9007199254740992.0)
      element = op.createConstant(tensor->clone());
  }
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ShapeInt> ints, readShapeInts(op, 0));
  Dims shape;
  Lengths extents;
  for (unsigned d = 0; d < ints.size(); ++d)
    GLOWISH_RETURN_IF_ERROR(addDim(op, ints[d], d, shape, extents));
  NodeValue result = element ? op.broadcast(op.reshape(element, {}), shape)
                             : op.splat(kind, shape, value);
  return op.setOutput(0, op.declare(result, extents));
}

/// Returns a value of the shape \p ints, of which nothing reads the elements,
/// for Expand of \p x. A number that is no extent is taken to be that of \p x,
/// unless that is always 1.
static llvm::Expected<NodeValue> makeStated(OpContext &op, NodeValue x,
                                            llvm::ArrayRef<ShapeInt> ints) {
  const Type &type = x.getType();
  unsigned skipped =
      std::max<size_t>(ints.size(), type.getRank()) - ints.size();
  Dims shape;
  Lengths lengths;
  for (auto [d, number] : llvm::enumerate(ints)) {
    int64_t own = int64_t(d + type.getRank()) - int64_t(ints.size());
    bool isSame = !number.isConstant() && !number.extent && own >= 0 &&
                  type.getLength(unsigned(own)) != Extent(1);
    GLOWISH_RETURN_IF_ERROR(addDim(op, isSame ? makeShapeInt(1) : number,
                                   skipped + d, shape, lengths));
  }
  return op.finish(op.declare(op.splat(type.getKind(), shape, 0), lengths));
}

/// Returns the extents, of \p shape, of the sum of \p values, which are
/// aligned.
static ExtentList joinExtents(OpContext &op, llvm::ArrayRef<NodeValue> values,
                              DimsRef shape) {
  ExtentList joined(shape.size());
  for (NodeValue value : values) {
    const Type &type = value.getType();
    for (unsigned own = 0; own < type.getRank(); ++own) {
      const Extent *extent = type.getExtent(own);
      size_t d = shape.size() - type.getRank() + own;
      if (!extent)
        continue;
      if (type.getDim(own) != shape[d])
        requireSame(op, *extent, 1);
      else if (joined[d])
        requireSame(op, *joined[d], *extent);
      else
        joined[d] = *extent;
    }
  }
  return joined;
}

/// The result has the shape that x + y has, where y has the stated one.
static llvm::Error importExpand(OpContext &op, NodeValue x) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ShapeInt> ints, readShapeInts(op, 1));
  if (areConstant(ints) && !x.getType().hasExtents()) {
    Dims stated;
    for (const ShapeInt &number : ints)
      stated.push_back(number.getConstant());
    GLOWISH_ASSIGN_OR_RETURN(Dims shape,
                             broadcastShapes({x.getShape(), stated}));
    return op.setOutput(0, op.broadcast(x, shape));
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue stated, makeStated(op, x, ints));
  NodeValue values[] = {x, stated};
  GLOWISH_RETURN_IF_ERROR(alignBroadcast(op, values));
  auto [own, other] = values;
  GLOWISH_ASSIGN_OR_RETURN(Dims shape,
                           broadcastShapes({own.getShape(), other.getShape()}));
  NodeValue wide = op.broadcast(op.dropExtents(own), shape);
  ExtentList extents = joinExtents(op, values, shape);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return op.setOutput(0, op.restate(wide, wide.getType().withExtents(extents)));
}

//===- Tile ---------------------------------------------------------------===//

/// Repeats dimension \p d, gathering 0, 1, ..., n - 1, 0, 1, ...
static llvm::Error tileDim(OpContext &op, NodeValue &x, unsigned d,
                           const ShapeInt &repeats) {
  if (!x || (repeats.isConstant() && repeats.getConstant() == 1))
    return llvm::Error::success();
  int64_t own = x.getShape()[d];
  if (repeats.isConstant() && repeats.getConstant() < 0)
    return makeError("dimension {0} is repeated {1} times", d,
                     repeats.getConstant());
  double known = double(own) * std::max(repeats.high, 0.0);
  GLOWISH_ASSIGN_OR_RETURN(int64_t bound,
                           op.getMaxExtent(0, d, own ? known : 0));
  NodeValue length = op.getLength(x, d);
  NodeValue number = op.iota(ElemKind::Int64, 1, 0, bound);
  NodeValue rounds = op.mul(op.div(number, length), length);
  Lengths lengths = op.getLengths(x);
  lengths[d] = makeExtent(op, op.mul(length, getValue(op, repeats)), bound);
  x = op.dropExtents(x);
  x = own && bound ? op.gather(x, op.sub(number, rounds), d)
                   : op.slice(x, d, 0, 0);
  x = op.declare(x, lengths);
  return llvm::Error::success();
}

/// Tile-1 repeats along one axis.
static llvm::Expected<std::vector<ShapeInt>> readTiles(OpContext &op,
                                                       unsigned rank) {
  if (op.getOpset() >= 6)
    return readShapeInts(op, 1);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue count, op.getInput(1));
  std::vector<ShapeInt> repeats;
  if (isFloatKind(count.getElemKind())) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> counts,
                             readWholeNumbers(op, 1));
    for (int64_t number : counts)
      repeats.push_back(makeShapeInt(number));
  } else {
    GLOWISH_ASSIGN_OR_RETURN(repeats, readShapeInts(op, 1));
  }
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axis, readWholeNumbers(op, 2));
  std::vector<ShapeInt> all(rank, makeShapeInt(1));
  if (repeats.size() != 1 || axis.size() != 1 || axis[0] < 0 ||
      axis[0] >= int64_t(all.size()))
    return makeError("inputs 1 and 2 have {0} and {1} elements; accepted: "
                     "one count and one dimension",
                     repeats.size(), axis.size());
  all[axis[0]] = repeats[0];
  return all;
}

static llvm::Error importTile(OpContext &op, NodeValue x) {
  unsigned rank = x.getShape().size();
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ShapeInt> repeats, readTiles(op, rank));
  if (repeats.size() != rank)
    return makeError("{0} repeats; accepted for {1}: {2}", repeats.size(),
                     x.getType().str(), rank);
  std::vector<int64_t> counts;
  bool isTile = areConstant(repeats);
  for (unsigned d = 0; isTile && d < rank; ++d) {
    counts.push_back(repeats[d].getConstant());
    isTile = counts[d] == 1 || !x.getType().getExtent(d);
  }
  if (isTile)
    return op.setOutput(0, op.create<TileNode>(x, counts));
  for (unsigned d = 0; d < rank; ++d)
    GLOWISH_RETURN_IF_ERROR(tileDim(op, x, d, repeats[d]));
  return op.setOutput(0, x);
}

//===- Range --------------------------------------------------------------===//

/// Computes the elements of Range: exactly for integers, as start + i * delta
/// for floats.
static void fillRange(Tensor &tensor, const Tensor &start,
                      const Tensor &delta) {
  int64_t count = tensor.getNumElements();
  if (isIntegerKind(tensor.getType().getKind()))
    dispatchElemKind(tensor.getType().getKind(), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T>)
        for (int64_t i = 0; i < count; ++i)
          tensor.data<T>()[i] = T(uint64_t(start.getAsInt(0)) +
                                  uint64_t(i) * uint64_t(delta.getAsInt(0)));
    });
  else
    for (int64_t i = 0; i < count; ++i)
      tensor.setFromDouble(i, start.getAsDouble(0) +
                                  double(i) * delta.getAsDouble(0));
}

static llvm::Error importConstantRange(OpContext &op, const Tensor &start,
                                       const Tensor &limit,
                                       const Tensor &delta) {
  double count = isIntegerKind(start.getType().getKind())
                     ? countIntegers(start.getAsInt(0), limit.getAsInt(0),
                                     delta.getAsInt(0))
                     : std::ceil((limit.getAsDouble(0) - start.getAsDouble(0)) /
                                 delta.getAsDouble(0));
  // The negation refuses a NaN.
  if (!(count <= double(1 << 28)))
    return makeError("the range has {0} elements; accepted: at most 2^28",
                     count);
  Type type(start.getType().getKind(), {count > 0 ? int64_t(count) : 0});
  GLOWISH_RETURN_IF_ERROR(op.checkBudget(type.getSizeInBytes()));
  Tensor tensor(type);
  fillRange(tensor, start, delta);
  return op.setOutput(0, op.createConstant(std::move(tensor)));
}

/// Returns the number of elements from \p start, by \p delta, before \p limit.
static NodeValue countSteps(OpContext &op, NodeValue start, NodeValue limit,
                            NodeValue delta) {
  NodeValue distance = op.sub(limit, start), steps = op.div(distance, delta);
  if (op.hasFailed())
    return {};
  if (start.getElemKind() == ElemKind::Double)
    return op.cast(op.unary<CeilNode>(steps), ElemKind::Int64);
  NodeValue isWhole = op.equal(op.mul(steps, delta), distance);
  NodeValue rounded = op.select(isWhole, steps, op.add(steps, 1));
  NodeValue sameSign = op.equal(op.less(distance, 0), op.less(delta, 0));
  return op.select(sameSign, rounded, op.number(rounded, 0));
}

/// Returns the maximum number of elements; infinite if it is not bounded.
static double getMaxSteps(const ShapeInt &start, const ShapeInt &limit,
                          const ShapeInt &delta) {
  if (delta.low > 0)
    return std::ceil((limit.high - start.low) / delta.low);
  if (delta.high < 0)
    return std::ceil((start.high - limit.low) / -delta.high);
  return HUGE_VAL;
}

/// Returns \p number as a scalar of \p kind.
static Tensor makeScalar(ElemKind kind, const ShapeInt &number) {
  Tensor scalar(Type(kind, Dims()));
  scalar.setFromDouble(0, number.low);
  return scalar;
}

/// A Range of computed operands, evaluated in int64 or double.
static llvm::Error importComputedRange(OpContext &op) {
  ShapeInt ints[3];
  NodeValue numbers[3];
  ElemKind kind = op.peekInput(0).getElemKind();
  ElemKind innerKind = isFloatKind(kind) ? ElemKind::Double : ElemKind::Int64;
  for (unsigned i = 0; i < 3; ++i) {
    GLOWISH_ASSIGN_OR_RETURN(ints[i], readShapeInt(op, i));
    numbers[i] = op.cast(op.reshape(op.peekInput(i), {}), innerKind);
  }
  // Extents that no run decides, for example.
  if (isIntegerKind(kind) && areConstant(ints))
    return importConstantRange(op, makeScalar(kind, ints[0]),
                               makeScalar(kind, ints[1]),
                               makeScalar(kind, ints[2]));
  GLOWISH_ASSIGN_OR_RETURN(
      int64_t bound,
      op.getMaxExtent(0, 0, getMaxSteps(ints[0], ints[1], ints[2])));
  NodeValue steps = countSteps(op, numbers[0], numbers[1], numbers[2]);
  NodeValue extent = makeExtent(op, steps, bound);
  NodeValue value =
      op.add(op.mul(op.iota(innerKind, 1, 0, bound), numbers[2]), numbers[0]);
  return op.setOutput(0, op.declare(op.cast(value, kind), {extent}));
}

/// Checks the kind that halves are computed in, from opset 27: all is computed
/// in double.
static llvm::Error checkRangeStashType(OpContext &op, ElemKind kind) {
  int64_t type = op.getInt("stash_type", 1);
  bool isHalf = kind == ElemKind::Float16 || kind == ElemKind::BFloat16;
  if (isHalf && type != onnx::TensorProto::FLOAT &&
      type != onnx::TensorProto::DOUBLE)
    return makeError("attribute 'stash_type' is {0}; accepted: 1 (float), "
                     "11 (double)",
                     type);
  return llvm::Error::success();
}

static llvm::Error importRange(OpContext &op) {
  const Tensor *constants[3] = {};
  Type types[3];
  bool fits = true, isConstant = true;
  for (unsigned i = 0; i < 3; ++i) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(i));
    types[i] = value.getType();
    fits &= types[i].getNumElements() == 1 &&
            types[i].getKind() == types[0].getKind() &&
            types[i].getKind() != ElemKind::Bool;
    if (auto *constant = value.getNodeAs<Constant>())
      constants[i] = &constant->getTensor();
    isConstant &= constants[i] != nullptr;
  }
  if (!fits)
    return makeError("inputs are {0}, {1}, {2}; accepted: three numbers of "
                     "one kind",
                     types[0].str(), types[1].str(), types[2].str());
  GLOWISH_RETURN_IF_ERROR(checkRangeStashType(op, types[0].getKind()));
  if (!isConstant)
    return importComputedRange(op);
  return importConstantRange(op, *constants[0], *constants[1], *constants[2]);
}

static OnnxOperator shapeOp("Shape", 1, withExtents<importShape>);
static OnnxOperator sizeOp("Size", 1, withExtents<importSize>);
static OnnxOperator constantOfShapeOp("ConstantOfShape", 9,
                                      withExtents<importConstantOfShape>);
static OnnxOperator expandOp("Expand", 8, withExtents<importExpand>);
static OnnxOperator tileOp("Tile", 1, withExtents<importTile>);
static OnnxOperator rangeOp("Range", 11, withExtents<importRange>);
static OnnxOperatorNotes rangeNotes("Range",
                                    {.limit = "at most 2^28 elements"});
