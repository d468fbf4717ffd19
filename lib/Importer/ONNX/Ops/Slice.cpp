//===- Slice.cpp - Slice --------------------------------------------------===//

#include "Common/OpenSlices.h"
#include "ONNX/Extents.h"
#include "ONNX/ShapeInts.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

//===- Slice --------------------------------------------------------------===//

namespace {
/// `size` elements first, first + step, ... of one dimension.
struct SlicedDim {
  int64_t first = 0, step = 1, size = 0;
};

/// The slice of one dimension. The step is neither 0 nor INT64_MIN.
struct SliceRange {
  ShapeInt start, end;
  int64_t step;

  bool isBackward() const { return step < 0; }
  int64_t getDistance() const { return isBackward() ? -step : step; }
};
} // namespace

/// Resolves start and end as ONNX does: negative ones count from the end, and
/// those out of range are clamped.
static SlicedDim sliceDim(int64_t extent, const SliceRange &range) {
  auto clamp = [&](int64_t index, int64_t least, int64_t most) {
    if (index < 0)
      index = std::max(index, -extent - 1) + extent;
    return std::clamp(index, least, most);
  };
  if (extent == 0)
    return {};
  bool isBackward = range.isBackward();
  int64_t start =
      clamp(range.start.getConstant(), 0, isBackward ? extent - 1 : extent);
  int64_t end = clamp(range.end.getConstant(), isBackward ? -1 : 0,
                      isBackward ? extent - 1 : extent);
  int64_t distance = isBackward ? start - end : end - start;
  if (distance <= 0)
    return {};
  return {start, range.step, (distance - 1) / range.getDistance() + 1};
}

/// Returns the difference of end and start if it is known, as in x[i : i + 2].
static std::optional<double> findDifference(const SliceRange &range) {
  if (range.start.isConstant() && range.end.isConstant() &&
      (range.start.low < 0) == (range.end.low < 0))
    return range.end.low - range.start.low;
  // Negative ones count from the end.
  if (range.start.extent && range.end.extent && range.start.low >= 0 &&
      range.end.low >= 0)
    if (auto difference = subtract(*range.end.extent, *range.start.extent))
      if (std::optional<int64_t> number = difference->getConstant())
        return double(*number);
  auto *add = range.end.source.getNodeAs<AddNode>();
  for (unsigned i = 0; add && i < 2; ++i) {
    auto *addend = add->getOperand(1 - i).getNodeAs<Constant>();
    if (addend && add->getOperand(i) == range.start.source &&
        range.start.source.getShape() == range.end.source.getShape() &&
        range.start.position == range.end.position &&
        addend->getTensor().getNumElements() == 1)
      return addend->getTensor().getAsDouble(0);
  }
  return std::nullopt;
}

/// Returns the maximum number of elements that \p range has of \p extent.
static int64_t getMaxSliced(int64_t extent, const SliceRange &range) {
  double most = double(extent);
  const ShapeInt &start = range.start, &end = range.end;
  if (std::optional<double> difference = findDifference(range)) {
    double distance = range.isBackward() ? -*difference : *difference;
    // Before the first element, a start is clamped to it, but an end of a
    // backward slice to the position before it.
    if (range.isBackward() && start.low < 0)
      distance = std::max(distance, 1.0);
    most = std::min(most, distance);
  }
  if (!range.isBackward()) {
    if (end.low >= 0)
      most = std::min(most, end.high);
    if (start.low >= 0)
      most = std::min(most, double(extent) - start.low);
    // The last elements.
    else if (start.high < 0)
      most = std::min(most, -start.low);
  } else if (start.low >= 0) {
    most = std::min(most, start.high + 1);
  }
  return int64_t(std::ceil(std::max(most, 0.0) / double(range.getDistance())));
}

/// Converts \p index to count from the start, and clamps it.
static NodeValue wrapBound(OpContext &op, const ShapeInt &index,
                           NodeValue extent, NodeValue least, NodeValue most) {
  NodeValue value = getValue(op, index);
  if (index.low < 0)
    value = op.select(op.less(value, 0), op.add(value, extent), value);
  return op.min(op.max(value, least), most);
}

/// Returns the slice of dimension \p d of \p x where all runs take an
/// expression of extents; null where they don't.
static NodeValue sliceByExtents(OpContext &op, NodeValue x, unsigned d,
                                const SliceRange &range) {
  const SymbolRanges &symbols = op.getFunction().getModule().getSymbols();
  Extent length = x.getType().getLength(d);
  auto find = [&](const ShapeInt &index) {
    return findPlace(symbols,
                     index.isConstant() ? Extent(index.getConstant())
                                        : index.extent,
                     length);
  };
  std::optional<Extent> start = find(range.start), end = find(range.end);
  if (!start || !end || !start->isConstant() || range.isBackward())
    return {};
  return takeOpen(op, x, {d, *start->getConstant(), *end, range.step});
}

/// Slices dimension \p d of \p x by \p range, which is not constant.
static llvm::Error sliceDynamic(OpContext &op, NodeValue &x, unsigned d,
                                const SliceRange &range) {
  if (!x)
    return llvm::Error::success();
  if (NodeValue part = sliceByExtents(op, x, d, range)) {
    x = part;
    return llvm::Error::success();
  }
  int64_t extent = x.getShape()[d];
  int64_t bound = getMaxSliced(extent, range);
  NodeValue length = op.getLength(x, d), zero = op.scalar(ElemKind::Int64, 0);
  bool isBackward = range.isBackward();
  NodeValue last = isBackward ? op.sub(length, 1) : length;
  NodeValue start = wrapBound(op, range.start, length, zero, last);
  NodeValue end = wrapBound(op, range.end, length,
                            isBackward ? op.sub(zero, 1) : zero, last);
  NodeValue distance = isBackward ? op.sub(start, end) : op.sub(end, start);
  NodeValue size =
      op.div(op.add(op.max(distance, zero), double(range.getDistance() - 1)),
             double(range.getDistance()));
  Lengths lengths = op.getLengths(x);
  x = op.dropExtents(x);
  if (bound == 0 ||
      (range.step == 1 && range.start.isConstant() && range.start.low >= 0)) {
    int64_t first = bound ? range.start.getConstant() : 0;
    x = op.slice(x, d, first, bound);
  } else {
    NodeValue index = op.add(
        op.mul(op.iota(ElemKind::Int64, 1, 0, bound), double(range.step)),
        start);
    index = op.clip(index, 0, double(extent - 1));
    x = op.gather(x, index, d);
  }
  lengths[d] = makeExtent(op, size, bound);
  x = op.declare(x, lengths);
  return llvm::Error::success();
}

/// Reads the range of each axis; empty for axes that are not sliced.
static llvm::Expected<std::vector<std::optional<SliceRange>>>
readRanges(OpContext &op, unsigned rank) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ShapeInt> starts,
                           readShapeInts(op, "starts", 1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ShapeInt> ends,
                           readShapeInts(op, "ends", 2));
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<int64_t> axes,
      op.getIntsOrInput("axes", 3, getAllDims(starts.size())));
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<int64_t> steps,
      op.getIntsOrInput("steps", 4, std::vector<int64_t>(starts.size(), 1)));
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return makeError("{0} starts, {1} ends, {2} axes, {3} steps; accepted: as "
                     "many of each",
                     starts.size(), ends.size(), axes.size(), steps.size());
  std::vector<std::optional<SliceRange>> ranges(rank);
  for (unsigned i = 0; i < axes.size(); ++i) {
    llvm::Expected<int64_t> axis = normalizeAxis(axes[i], rank);
    if (!axis)
      return addContext(axis.takeError(), "an axis is ");
    if (ranges[*axis])
      return makeError("axis {0} comes twice", *axis);
    if (steps[i] == 0 || steps[i] == INT64_MIN)
      return makeError("a step is {0}; accepted: any but 0", steps[i]);
    ranges[*axis] = SliceRange{starts[i], ends[i], steps[i]};
  }
  return ranges;
}

static llvm::Error importSlice(OpContext &op, NodeValue x) {
  unsigned rank = x.getShape().size();
  GLOWISH_ASSIGN_OR_RETURN(auto ranges, readRanges(op, rank));
  std::vector<int64_t> first(rank, 0), stride(rank, 1), sizes(x.getShape());
  std::vector<unsigned> sized;
  for (unsigned d = 0; d < rank; ++d) {
    if (!ranges[d])
      continue;
    if (x.getType().getExtent(d) || !ranges[d]->start.isConstant() ||
        !ranges[d]->end.isConstant()) {
      sized.push_back(d);
      continue;
    }
    SlicedDim dim = sliceDim(sizes[d], *ranges[d]);
    first[d] = dim.first;
    stride[d] = dim.step;
    sizes[d] = dim.size;
  }
  bool isWhole = DimsRef(sizes) == x.getShape() &&
                 llvm::all_of(stride, [](int64_t step) { return step == 1; });
  if (sized.empty() || !isWhole)
    x = op.make<SliceNode>(x, first, sizes, stride);
  for (unsigned d : sized)
    GLOWISH_RETURN_IF_ERROR(sliceDynamic(op, x, d, *ranges[d]));
  return op.setOutput(0, x);
}

static OnnxOperator sliceOp("Slice", 1, withExtents<importSlice>);
// An experimental operator before Slice-10, which it became.
static OnnxOperator dynamicSliceOp("DynamicSlice", 1, withExtents<importSlice>);
