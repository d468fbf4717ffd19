//===- Shape.cpp - Shapes and data movement -------------------------------===//

#include "Caffe2/Matrix.h"
#include "Common/OpenReshape.h"
#include "Common/OpenSlices.h"

using namespace glowish;
using namespace glowish::caffe2;

/// Sets output 0 to \p value, with the quantization parameters of input 0.
static llvm::Error setMoved(NetOp &op, NodeValue value) {
  return op.setOutput(0, value, op.getBlob(0).quant);
}

//===- Shapes -------------------------------------------------------------===//

/// The shape as int64, or the extents of the dimensions `axes`.
static llvm::Error importShape(NetOp &op) {
  unsigned rank = op.input(0).getType().getRank();
  std::vector<int64_t> axes = op.getInts("axes");
  for (int64_t &axis : axes) {
    GLOWISH_ASSIGN_OR_RETURN(axis, normalizeAxis(axis, rank));
  }
  if (axes.empty())
    axes = getAllDims(rank);
  return op.setOutput(0, listExtents(op, ElemKind::Int64, op.input(0), axes));
}

/// Returns an error if a new shape without -1 has another number of elements
/// than the input in some runs.
static llvm::Error checkCount(NetOp &op, llvm::ArrayRef<Extent> shape) {
  const SymbolRanges &symbols = op.getSymbols();
  std::optional<Extent> count = multiplyAll(op.input(0).getType().getLengths()),
                        known = multiplyAll(shape);
  if (!count || !known || (count->isConstant() && known->isConstant()) ||
      llvm::is_contained(shape, Extent(-1)) ||
      symbols.areEqual(*count, *known) != Certainty::No)
    return llvm::Error::success();
  return makeError("the new shape has {0} elements, and the input {1}, whose "
                   "extents a run decides; accepted: as many in each run, with "
                   "0 or -1 for such an extent",
                   known->str(), count->str());
}

/// Replaces each 0 of \p shape by the extent of the input in its place, unless
/// the input has no elements.
static llvm::Error copyExtents(NetOp &op, std::vector<Extent> &shape) {
  const Type &input = op.input(0).getType();
  const SymbolRanges &symbols = op.getSymbols();
  std::vector<Extent> from = input.getLengths();
  if (llvm::is_contained(from, Extent(0)))
    return llvm::Error::success();
  for (size_t d = 0; d < std::min(shape.size(), from.size()); ++d) {
    if (shape[d] != Extent(0))
      continue;
    shape[d] = from[d];
    for (size_t other = 0; other < from.size(); ++other)
      if (other != d && symbols.mayBe(from[other], 0) != Certainty::No)
        return makeError("extent {0} of the new shape is 0, and the input, "
                         "{1}, has no elements in some runs; accepted: an "
                         "input of which no other extent may be 0",
                         d, input.str());
  }
  return llvm::Error::success();
}

/// Output 1 is the old shape.
static llvm::Error importReshape(NetOp &op) {
  NodeValue x = op.input(0);
  std::vector<int64_t> stated = op.getInts("shape");
  std::vector<Extent> shape(stated.begin(), stated.end());
  if (op.hasInput(1)) {
    GLOWISH_ASSIGN_OR_RETURN(shape, op.getExtents(1));
  }
  GLOWISH_RETURN_IF_ERROR(copyExtents(op, shape));
  GLOWISH_RETURN_IF_ERROR(checkCount(op, shape));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue reshaped,
                           reshapeOpen(op, x, shape, EmptyRest::Zero));
  GLOWISH_RETURN_IF_ERROR(setMoved(op, reshaped));
  if (op.getNumOutputs() < 2)
    return llvm::Error::success();
  return op.setOutput(
      1, listExtents(op, ElemKind::Int64, x, getAllDims(x.getShape().size())));
}

static llvm::Error importFlatten(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Matrix matrix, readMatrix(op, 0, "axis"));
  return setMoved(op, matrix.value);
}

static llvm::Error importExpandDims(NetOp &op) {
  NodeValue x = op.input(0);
  std::vector<int64_t> dims = op.getInts("dims");
  GLOWISH_ASSIGN_OR_RETURN(
      dims, normalizeAxes(dims, x.getShape().size() + dims.size()));
  Dims shape(x.getShape());
  for (int64_t dim : dims)
    shape.insert(shape.begin() + std::min<int64_t>(dim, shape.size()), 1);
  return setMoved(op, op.reshape(x, shape));
}

static llvm::Error importSqueeze(NetOp &op) {
  NodeValue x = op.input(0);
  Dims shape(x.getShape());
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> dims,
                           normalizeAxes(op.getInts("dims"), shape.size()));
  for (int64_t dim : llvm::reverse(dims)) {
    if (shape[dim] != 1)
      return makeError("dimension {0} of {1} has extent {2}; accepted: 1", dim,
                       x.getType().str(), shape[dim]);
    shape.erase(shape.begin() + dim);
  }
  return setMoved(op, op.reshape(x, shape));
}

//===- Permutations -------------------------------------------------------===//

/// Without `axes` the dimensions are reversed.
static llvm::Error importTranspose(NetOp &op) {
  NodeValue x = op.input(0);
  std::vector<int64_t> axes = op.getInts("axes");
  if (!op.hasArg("axes")) {
    axes = getAllDims(x.getShape().size());
    std::reverse(axes.begin(), axes.end());
  }
  return setMoved(op, op.transpose(x, axes));
}

template <bool isToNHWC> static llvm::Error importOrder(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  NodeValue x = op.input(0);
  return setMoved(op, isToNHWC ? op.transpose(x, {0, 2, 3, 1})
                               : op.transpose(x, {0, 3, 1, 2}));
}

/// Transposes [group, channels / group].
static llvm::Error importChannelShuffle(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(bool isNHWC, op.isNHWC());
  NodeValue x = op.input(0);
  Dims shape(x.getShape());
  if (shape.size() < 2)
    return op.refuseInput(0, "rank 2 or more");
  int64_t axis = isNHWC ? int64_t(shape.size()) - 1 : 1;
  GLOWISH_RETURN_IF_ERROR(
      op.checkKnown(0, axis, "the channels are divided into groups"));
  int64_t group = op.getInt("group", 1);
  op.ignoreArgs({"kernel"});
  if (group < 1 || shape[axis] % group)
    return makeError("argument 'group' is {0}; accepted: a divisor of the {1} "
                     "channels",
                     group, shape[axis]);
  Dims split = shape;
  split[axis] = group;
  split.insert(split.begin() + axis + 1, shape[axis] / group);
  return setMoved(
      op, op.reshape(op.swapDims(op.reshape(x, split), axis, axis + 1), shape));
}

//===- Concatenation and slicing ------------------------------------------===//

/// Returns the channel dimension for the argument `order`, else the argument
/// `axis` with default \p defaultAxis, normalized for \p rank dimensions.
static llvm::Expected<int64_t> readPartsAxis(NetOp &op, int64_t defaultAxis,
                                             unsigned rank) {
  if (!op.hasArg("axis") && op.hasArg("order")) {
    GLOWISH_ASSIGN_OR_RETURN(bool isNHWC, op.isNHWC());
    return normalizeAxis(isNHWC ? int64_t(rank) - 1 : 1, rank);
  }
  op.ignoreArgs({"order"});
  return op.getAxis("axis", defaultAxis, rank);
}

/// Output 1 is the extents of the inputs. With add_axis they are stacked along
/// a new dimension.
static llvm::Error importConcat(NetOp &op) {
  bool isNewAxis = op.getInt("add_axis", 0) != 0;
  size_t rank = op.input(0).getShape().size() + isNewAxis;
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, readPartsAxis(op, 1, unsigned(rank)));
  std::vector<NodeValue> parts, extents;
  bool isAnyOpen = false;
  std::vector<int64_t> bounds;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    NodeValue part = op.input(i);
    if (part.getShape().size() + isNewAxis != rank)
      return op.refuseInput(i, "the rank of input 0");
    parts.push_back(isNewAxis ? op.unsqueeze(part, axis) : part);
    GLOWISH_RETURN_IF_ERROR(op.takeError());
    bounds.push_back(parts.back().getShape()[axis]);
    isAnyOpen |= parts.back().getType().getExtent(unsigned(axis)) != nullptr;
  }
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, op.concat(parts, axis)));
  op.nameAfterOutput(1);
  if (!isAnyOpen)
    return op.setOutput(
        1, op.ints(ElemKind::Int32, {int64_t(bounds.size())}, bounds));
  for (NodeValue part : parts)
    extents.push_back(listExtents(op, ElemKind::Int32, part, {axis}));
  return op.setOutput(1, op.concat(extents, 0));
}

/// Splits into equal parts, or into extents given by the argument `split` or
/// input 1.
static llvm::Error importSplit(NetOp &op) {
  NodeValue x = op.input(0);
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           readPartsAxis(op, 0, x.getShape().size()));
  if (op.getNumOutputs() > 1)
    GLOWISH_RETURN_IF_ERROR(
        op.checkKnown(0, axis, "the parts begin at known places"));
  std::vector<int64_t> extents = op.getInts("split");
  if (op.hasInput(1)) {
    GLOWISH_ASSIGN_OR_RETURN(extents, op.getConstantInts(1));
  }
  int64_t extent = x.getShape()[axis], count = op.getNumOutputs();
  if (extents.empty() && extent % count)
    return makeError("{0} elements along dimension {1} can't be split in {2} "
                     "equal parts",
                     extent, axis, count);
  if (extents.empty())
    extents.assign(count, extent / count);
  int64_t start = 0;
  for (auto [i, size] : llvm::enumerate(extents)) {
    if (size < 0 || size > extent - start)
      return makeError("part {0} of the split has {1} elements, of {2} that "
                       "are left",
                       i, size, extent - start);
    op.nameAfterOutput(unsigned(i));
    GLOWISH_RETURN_IF_ERROR(op.setOutput(
        unsigned(i), op.slice(x, axis, start, size), op.getBlob(0).quant));
    start += size;
  }
  if (start != extent || int64_t(extents.size()) != count)
    return makeError("the split into {0} parts has {1} elements; accepted: {2} "
                     "parts of together {3}",
                     extents.size(), start, count, extent);
  return llvm::Error::success();
}

namespace {
/// Places as the arguments of Slice have them.
struct Places {
  int64_t start, end;
};
} // namespace

/// Returns the elements of \p x at \p places of dimension \p dim, whose extent
/// a run decides.
static llvm::Expected<NodeValue> sliceOpen(NetOp &op, NodeValue x, unsigned dim,
                                           Places places) {
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  const SymbolRanges &symbols = op.getSymbols();
  Extent length = x.getType().getLength(dim);
  auto find = [&](int64_t at) {
    std::optional<Extent> place(at);
    if (at < 0)
      place = add(length, std::max(at, -maxTensorBytes) + 1);
    return place && (at >= 0 || !place->isConstant())
               ? findPlace(symbols, place, length)
               : std::nullopt;
  };
  std::optional<Extent> start = find(places.start), end = find(places.end);
  NodeValue part;
  if (start && end && start->isConstant())
    part = takeOpen(op, x, {int64_t(dim), *start->getConstant(), *end, 1});
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  if (part)
    return part;
  return makeError("it slices {0} to {1} of dimension {2}, {3}, whose extent a "
                   "run decides; accepted: a start that is counted from the "
                   "front, and an end that is not before it in any run",
                   places.start, places.end, dim, length.describe());
}

/// Elements from starts to ends (exclusive). Negative numbers count from the
/// end, where -1 is the position after the last element.
static llvm::Error importSlice(NetOp &op) {
  NodeValue x = op.input(0);
  DimsRef shape = x.getShape();
  std::vector<int64_t> starts = op.getInts("starts"), ends = op.getInts("ends");
  if (op.hasInput(2)) {
    GLOWISH_ASSIGN_OR_RETURN(starts, op.getConstantInts(1));
    GLOWISH_ASSIGN_OR_RETURN(ends, op.getConstantInts(2));
  }
  if (starts.size() != ends.size() || starts.size() > shape.size())
    return makeError(
        "it has {0} starts and {1} ends; accepted: the same number "
        "of both, at most {2}",
        starts.size(), ends.size(), shape.size());
  std::vector<int64_t> firsts(shape.size(), 0), sizes = shape.vec();
  for (size_t d = 0; d < starts.size(); ++d) {
    if (x.getType().getExtent(unsigned(d)))
      continue;
    auto clamp = [&](int64_t at) {
      if (at < 0)
        at = std::max<int64_t>(at, -shape[d] - 1) + shape[d] + 1;
      return std::min(at, shape[d]);
    };
    firsts[d] = clamp(starts[d]);
    sizes[d] = std::max<int64_t>(clamp(ends[d]) - firsts[d], 0);
  }
  std::vector<int64_t> steps(shape.size(), 1);
  NodeValue part = op.make<SliceNode>(x, firsts, sizes, steps);
  for (size_t d = 0; d < starts.size(); ++d)
    if (x.getType().getExtent(unsigned(d))) {
      GLOWISH_ASSIGN_OR_RETURN(
          part, sliceOpen(op, part, unsigned(d), {starts[d], ends[d]}));
    }
  return setMoved(op, part);
}

/// Repeats the input along one dimension; count and dimension may be inputs.
static llvm::Error importTile(NetOp &op) {
  NodeValue x = op.input(0);
  std::vector<int64_t> given = {op.getInt("tiles", 1), op.getInt("axis", 0)};
  for (unsigned i = 0; i < 2; ++i)
    if (op.hasInput(i + 1)) {
      GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> own,
                               op.getConstantInts(i + 1));
      if (own.size() != 1)
        return op.refuseInput(i + 1, "one integer");
      given[i] = own[0];
    }
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           normalizeAxis(given[1], x.getShape().size()));
  std::vector<int64_t> repeats(x.getShape().size(), 1);
  repeats[axis] = given[0];
  return setMoved(op, op.make<TileNode>(x, repeats));
}

//===- Registrations ------------------------------------------------------===//

static constexpr NetOpTraits moved{.isQuantized = true};
static constexpr NetOpTraits movedTwo{.inputs = {1, 2}, .isQuantized = true};

static const Caffe2Operators operators = {
    {"Shape", importShape, moved},
    {"Reshape", importReshape, movedTwo},
    {"Flatten", importFlatten, moved},
    {"ExpandDims", importExpandDims, moved},
    {"Squeeze", importSqueeze, moved},
    {"Transpose", importTranspose, moved},
    {"NCHW2NHWC", importOrder<true>, moved},
    {"NHWC2NCHW", importOrder<false>, moved},
    {"ChannelShuffle", importChannelShuffle, moved},
    {"Concat", importConcat, {.inputs = {1, manyInputs}}},
    {"Split", importSplit, movedTwo},
    {"Slice", importSlice, {.inputs = {1, 3}, .isQuantized = true}},
    {"Tile", importTile, {.inputs = {1, 3}, .isQuantized = true}}};
