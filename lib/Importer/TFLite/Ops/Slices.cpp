//===- Slices.cpp - Slices and blocks of tensors --------------------------===//

#include "Common/OpenReshape.h"
#include "Common/OpenSlices.h"
#include "TFLite/TFLiteOp.h"
#include "glowish/Base/CheckedInt.h"

using namespace glowish;
using namespace glowish::tflite;

//===- Slices -------------------------------------------------------------===//

/// Returns elements \p start, \p start + \p step, ... before \p end of
/// dimension \p axis of \p x, where a run decides one of these or the extent.
/// Both are places in all runs.
static llvm::Expected<NodeValue> takeRange(TFLiteOp &op, NodeValue x,
                                           int64_t axis, const Extent &start,
                                           const Extent &end, int64_t step) {
  std::optional<int64_t> first = start.getConstant();
  if (first && step > 0)
    if (NodeValue part = takeOpen(op, x, {axis, *first, end, step}))
      return part;
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return makeError("the slice of dimension {0} of {1} is from {2} to {3} by "
                   "{4}; accepted: from a number on, to what is never before "
                   "it, by positive steps",
                   axis, x.getType().str(), start.describe(), end.describe(),
                   step);
}

/// Cuts the dimensions of input 0 of which a run decides the extent or the
/// place, and makes their entries of \p starts and \p sizes those of all.
static llvm::Expected<NodeValue> takeOpenParts(TFLiteOp &op,
                                               std::vector<Extent> &starts,
                                               std::vector<Extent> &sizes) {
  NodeValue x = op.input(0);
  for (unsigned d = 0; d < starts.size(); ++d) {
    Extent length = x.getType().getLength(d);
    if (length.isConstant() && starts[d].isConstant() && sizes[d].isConstant())
      continue;
    std::optional<Extent> end =
        sizes[d] == Extent(-1) ? length : add(starts[d], sizes[d]);
    if (!end || op.getSymbols().isAtMost(*end, length) != Certainty::Yes)
      return makeError("the slice of dimension {0} of {1} is {2} elements from "
                       "{3} on; accepted: elements that are always there",
                       d, x.getType().str(), sizes[d].describe(),
                       starts[d].describe());
    GLOWISH_ASSIGN_OR_RETURN(
        x, takeRange(op, x, int64_t(d), starts[d], *end, /*step=*/1));
    starts[d] = 0;
    sizes[d] = x.getShape()[d];
  }
  return x;
}

/// The numbers of \p extents, which are constants.
static std::vector<int64_t> getNumbers(llvm::ArrayRef<Extent> extents) {
  std::vector<int64_t> numbers;
  for (const Extent &extent : extents)
    numbers.push_back(*extent.getConstant());
  return numbers;
}

/// Begins and sizes are inputs 1 and 2; a size of -1 reaches to the end.
static llvm::Error importSlice(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Extent> begins, op.getExtents(1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Extent> counts, op.getExtents(2));
  size_t rank = op.getShape(0).size();
  if (begins.size() != rank || counts.size() != rank)
    return makeError("begins and sizes have {0} and {1} elements; accepted: "
                     "{2}",
                     begins.size(), counts.size(), rank);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, takeOpenParts(op, begins, counts));
  std::vector<int64_t> starts = getNumbers(begins), sizes = getNumbers(counts);
  DimsRef shape = x.getShape();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (starts[d] < 0 || starts[d] > shape[d])
      return makeError("a slice of {0} begins at {1}", shape[d], starts[d]);
    if (sizes[d] == -1)
      sizes[d] = shape[d] - starts[d];
  }
  return op.setOutput(
      0, op.make<SliceNode>(x, starts, sizes, Dims(shape.size(), 1)));
}

namespace {

/// A slice, and what becomes of its dimensions, one entry for each.
struct StridedSlice {
  Dims starts, sizes, steps;
  /// The extents after dimensions of extent 1 came and went.
  Dims shape;
};

/// Inputs 1, 2 and 3 of STRIDED_SLICE, and its masks, a bit for each entry.
struct SliceSpec {
  std::vector<Extent> begins, ends;
  /// The begins that are integers of runs, int64 scalars, of dimensions that
  /// are removed; null where `begins` has them.
  std::vector<NodeValue> indices;
  std::vector<int64_t> steps;
  int32_t beginMask, endMask, ellipsisMask, newAxisMask, shrinkMask;
  /// Whether ends are counted from the begins.
  bool hasOffsets;

  bool has(int32_t mask, size_t entry) const { return mask >> entry & 1; }
  bool isNewAxis(size_t entry) const { return has(newAxisMask, entry); }
  bool isEllipsis(size_t entry) const { return has(ellipsisMask, entry); }
};

} // namespace

/// Adds dimension \p extent, cut as entry \p i of \p spec states.
static llvm::Error addEntry(StridedSlice &slice, const SliceSpec &spec,
                            size_t i, int64_t extent) {
  int64_t step = spec.steps[i], begin = *spec.begins[i].getConstant(),
          end = *spec.ends[i].getConstant();
  if (step == 0)
    return makeError("a stride is 0");
  bool shrinks = spec.has(spec.shrinkMask, i);
  begin += begin < 0 ? extent : 0;
  if (shrinks) {
    if (begin < 0 || begin >= extent)
      return makeError("index {0} of a dimension of {1}",
                       *spec.begins[i].getConstant(), extent);
    slice.starts.push_back(begin);
    slice.sizes.push_back(1);
    slice.steps.push_back(1);
    return llvm::Error::success();
  }
  // An end may be counted from the begin.
  if (spec.hasOffsets)
    // A sum that overflows has the sign of both, and is as far outside.
    end = (CheckedInt(end) + begin).get().value_or(end);
  else
    end += end < 0 ? extent : 0;
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  begin = std::clamp(begin, low, high);
  end = std::clamp(end, low, high);
  if (spec.has(spec.beginMask, i))
    begin = step > 0 ? 0 : extent - 1;
  if (spec.has(spec.endMask, i))
    end = step > 0 ? extent : -1;
  int64_t distance = step > 0 ? end - begin : begin - end;
  int64_t size = distance > 0 ? std::abs((distance - 1) / step) + 1 : 0;
  slice.starts.push_back(size > 0 ? begin : 0);
  slice.sizes.push_back(size);
  slice.steps.push_back(size > 1 ? step : 1);
  slice.shape.push_back(slice.sizes.back());
  return llvm::Error::success();
}

/// Takes what entry \p i of \p spec states of dimension \p axis of \p x, of
/// which a run decides the extent or the place, and makes the entry that of
/// all.
static llvm::Expected<NodeValue> takeOpenEntry(TFLiteOp &op, NodeValue x,
                                               SliceSpec &spec, size_t i,
                                               unsigned axis) {
  const SymbolRanges &symbols = op.getSymbols();
  Extent length = x.getType().getLength(axis);
  if (NodeValue index = spec.indices[i]) {
    NodeValue fromEnd = op.add(index, op.compute(length));
    index = op.select(op.less(index, 0), fromEnd, index);
    spec.ends[i] = 1;
    return op.gather(x, op.reshape(index, {1}), axis);
  }
  auto refuse = [&](const Extent &place) {
    return makeError("the slice of dimension {0} of {1} has the place {2}; "
                     "accepted: one that is always in the {3} elements, or "
                     "always behind them",
                     axis, x.getType().str(), place.describe(),
                     length.describe());
  };
  auto find = [&](int32_t mask, const Extent &place, const Extent &ifMasked) {
    return spec.has(mask, i) ? ifMasked : findPlace(symbols, place, length);
  };
  std::optional<Extent> begin =
      spec.has(spec.shrinkMask, i)
          ? findPlace(symbols, spec.begins[i], length)
          : find(spec.beginMask, spec.begins[i], Extent(0));
  if (!begin)
    return refuse(spec.begins[i]);
  spec.begins[i] = 0;
  if (spec.has(spec.shrinkMask, i)) {
    std::optional<Extent> next = add(*begin, 1);
    if (!next || symbols.isAtMost(*next, length) != Certainty::Yes)
      return refuse(*begin);
    spec.ends[i] = 1;
    return op.gather(x, op.reshape(op.compute(*begin), {1}), axis);
  }
  if (spec.hasOffsets && !spec.has(spec.endMask, i))
    return makeError("the slice of dimension {0} of {1} has a size (offset); "
                     "accepted: an end",
                     axis, x.getType().str());
  std::optional<Extent> end = find(spec.endMask, spec.ends[i], length);
  if (!end)
    return refuse(spec.ends[i]);
  GLOWISH_ASSIGN_OR_RETURN(x,
                           takeRange(op, x, axis, *begin, *end, spec.steps[i]));
  spec.ends[i] = x.getShape()[axis];
  spec.steps[i] = 1;
  return x;
}

/// Takes what \p spec states of dimensions of input 0 of which a run decides
/// the extent or the place; the entries are numbers then.
static llvm::Expected<NodeValue> takeOpenEntries(TFLiteOp &op,
                                                 SliceSpec &spec) {
  NodeValue x = op.input(0);
  size_t entries = spec.begins.size(), named = 0, next = 0;
  for (size_t i = 0; i < entries; ++i)
    named += !spec.isNewAxis(i) && !spec.isEllipsis(i);
  size_t rank = x.getShape().size();
  // An error that placeSlice() tells.
  if (named > rank)
    return x;
  for (size_t i = 0; i < entries; ++i) {
    bool isOpen = !spec.begins[i].isConstant() || !spec.ends[i].isConstant() ||
                  spec.indices[i];
    if (spec.isEllipsis(i)) {
      next += rank - std::exchange(named, rank);
      continue;
    }
    if (spec.isNewAxis(i))
      continue;
    if (isOpen || x.getType().getExtent(unsigned(next)))
      GLOWISH_ASSIGN_OR_RETURN(x,
                               takeOpenEntry(op, x, spec, i, unsigned(next)));
    ++next;
  }
  return x;
}

/// Dimensions that no entry names, and those of an ellipsis, are whole.
static llvm::Expected<StridedSlice> placeSlice(const SliceSpec &spec,
                                               DimsRef shape) {
  StridedSlice slice;
  size_t next = 0, entries = spec.begins.size(), named = 0;
  for (size_t i = 0; i < entries; ++i)
    named += !spec.isNewAxis(i) && !spec.isEllipsis(i);
  if (named > shape.size())
    return makeError("{0} dimensions of {1} are sliced", named, shape.size());
  auto addWhole = [&](size_t count) {
    for (; count > 0; --count) {
      slice.starts.push_back(0);
      slice.sizes.push_back(shape[next]);
      slice.steps.push_back(1);
      slice.shape.push_back(shape[next++]);
    }
  };
  for (size_t i = 0; i < entries; ++i) {
    if (spec.isEllipsis(i)) {
      addWhole(shape.size() - named);
      named = shape.size();
    } else if (spec.isNewAxis(i)) {
      slice.shape.push_back(1);
    } else {
      GLOWISH_RETURN_IF_ERROR(addEntry(slice, spec, i, shape[next++]));
    }
  }
  addWhole(shape.size() - next);
  return slice;
}

/// Reads the begins and ends of \p spec. What runs state is accepted where it
/// decides no extent.
static llvm::Error readPlaces(TFLiteOp &op, SliceSpec &spec) {
  GLOWISH_ASSIGN_OR_RETURN(auto begins, op.findEachExtent(1));
  GLOWISH_ASSIGN_OR_RETURN(auto ends, op.findEachExtent(2));
  GLOWISH_ASSIGN_OR_RETURN(spec.steps, op.getConstantInts(3));
  if (ends.size() != begins.size() || spec.steps.size() != begins.size() ||
      begins.size() > 32)
    return makeError("begins, ends and strides have {0}, {1} and {2} elements",
                     begins.size(), ends.size(), spec.steps.size());
  for (size_t i = 0; i < begins.size(); ++i) {
    bool shrinks = spec.has(spec.shrinkMask, i);
    bool needsBegin = !shrinks && !spec.has(spec.beginMask, i),
         needsEnd = !shrinks && !spec.has(spec.endMask, i);
    bool isWhole = spec.isNewAxis(i) || spec.isEllipsis(i);
    if (!isWhole && ((needsBegin && !begins[i]) || (needsEnd && !ends[i])))
      return makeError("entry {0} is a slice whose places a run states; "
                       "accepted: numbers, and an index in the place of a "
                       "dimension (shrink_axis_mask)",
                       i);
    NodeValue index;
    if (!isWhole && shrinks && !begins[i])
      index = op.reshape(op.slice(op.input(1), 0, int64_t(i), 1), {});
    spec.indices.push_back(op.cast(index, ElemKind::Int64));
    spec.begins.push_back(begins[i].value_or(0));
    spec.ends.push_back(ends[i].value_or(0));
  }
  return llvm::Error::success();
}

static llvm::Error importStridedSlice(TFLiteOp &op) {
  auto options = op.options<schema::StridedSliceOptions>();
  SliceSpec spec{.begins = {},
                 .ends = {},
                 .indices = {},
                 .steps = {},
                 .beginMask = options.get<"begin_mask">(),
                 .endMask = options.get<"end_mask">(),
                 .ellipsisMask = options.get<"ellipsis_mask">(),
                 .newAxisMask = options.get<"new_axis_mask">(),
                 .shrinkMask = options.get<"shrink_axis_mask">(),
                 .hasOffsets = options.get<"offset">()};
  GLOWISH_RETURN_IF_ERROR(readPlaces(op, spec));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, takeOpenEntries(op, spec));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(StridedSlice slice, placeSlice(spec, x.getShape()));
  NodeValue part =
      op.make<SliceNode>(x, slice.starts, slice.sizes, slice.steps);
  return op.setOutput(0, op.reshape(part, slice.shape));
}

//===- Blocks -------------------------------------------------------------===//

/// [N, H, W, C] with blocks of size x size pixels side by side in a channel, or
/// the other way round.
static llvm::Error importDepthToSpace(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  int64_t size = op.options<schema::DepthToSpaceOptions>().get<"block_size">();
  DimsRef shape = op.getShape(0);
  int64_t n = shape[0], h = shape[1], w = shape[2], c = shape[3];
  CheckedInt height = CheckedInt(h) * size, width = CheckedInt(w) * size;
  if (size < 1 || c % (size * size) != 0 || !height.get() || !width.get())
    return makeError("{0} channels become blocks of {1} x {1} pixels", c, size);
  int64_t depth = c / (size * size);
  NodeValue x = op.reshape(op.input(0), {n, h, w, size, size, depth});
  x = op.transpose(x, {0, 1, 3, 2, 4, 5});
  return op.setOutput(0,
                      op.reshape(x, {n, *height.get(), *width.get(), depth}));
}

static llvm::Error importSpaceToDepth(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  int64_t size = op.options<schema::SpaceToDepthOptions>().get<"block_size">();
  DimsRef shape = op.getShape(0);
  int64_t n = shape[0], h = shape[1], w = shape[2], c = shape[3];
  CheckedInt channels = CheckedInt(size) * size * c;
  if (size < 1 || h % size != 0 || w % size != 0 || !channels.get())
    return makeError("blocks of {0} x {0} pixels of an image of {1} x {2}",
                     size, h, w);
  NodeValue x = op.reshape(op.input(0), {n, h / size, size, w / size, size, c});
  x = op.transpose(x, {0, 1, 3, 2, 4, 5});
  return op.setOutput(0,
                      op.reshape(x, {n, h / size, w / size, *channels.get()}));
}

namespace {

/// Blocks of dimensions 1 ... count, inputs 1 and 2: their sizes, and the pads
/// or what is cropped, [count, 2].
struct Blocks {
  std::vector<int64_t> sizes, borders;
};

} // namespace

static llvm::Expected<Blocks> readBlocks(const TFLiteOp &op) {
  Blocks blocks;
  GLOWISH_ASSIGN_OR_RETURN(blocks.sizes, op.getConstantInts(1));
  GLOWISH_ASSIGN_OR_RETURN(blocks.borders, op.getConstantInts(2));
  if (blocks.borders.size() != 2 * blocks.sizes.size() ||
      blocks.sizes.size() >= op.getShape(0).size())
    return op.refuseInput(2, "two numbers for each block, of which there are "
                             "fewer than dimensions");
  // The product of four of them has 48 bits.
  constexpr int64_t maxSize = 4096;
  for (int64_t size : blocks.sizes)
    if (size < 1 || size > maxSize || blocks.sizes.size() > 4)
      return op.refuseInput(1, "up to four numbers from 1 to 4096");
  for (int64_t border : blocks.borders)
    if (border < 0)
      return op.refuseInput(2, "numbers from 0 on");
  return blocks;
}

/// The pixels at the same place of their blocks become a sample.
static llvm::Error importSpaceToBatch(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Blocks blocks, readBlocks(op));
  size_t rank = op.getShape(0).size(), count = blocks.sizes.size();
  std::vector<int64_t> pads(2 * rank);
  for (size_t d = 0; d < count; ++d) {
    pads[d + 1] = blocks.borders[2 * d];
    pads[d + 1 + rank] = blocks.borders[2 * d + 1];
  }
  double zero = op.isQuantized(0) ? double(op.getZeroPoint(0)) : 0;
  NodeValue x = op.pad(op.input(0), pads, zero);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  Dims padded(x.getShape()), split = {padded[0]};
  CheckedInt samples = padded[0];
  std::optional<Extent> images = x.getType().getLength(0);
  std::vector<int64_t> order, rest = {0};
  for (size_t d = 0; d < count; ++d) {
    int64_t size = blocks.sizes[d];
    if (padded[d + 1] % size != 0)
      return makeError("blocks of {0} of a dimension of {1}", size,
                       padded[d + 1]);
    split.append({padded[d + 1] / size, size});
    order.push_back(int64_t(2 * d + 2));
    rest.push_back(int64_t(2 * d + 1));
    samples *= size;
    images = images ? multiply(*images, size) : images;
  }
  if (!samples.get() || !images)
    return makeError("blocks of {0} of {1} make too many samples",
                     formatShape(blocks.sizes), formatShape(padded));
  llvm::append_range(order, rest);
  for (size_t d = count + 1; d < rank; ++d) {
    split.push_back(padded[d]);
    order.push_back(int64_t(d + count));
  }
  x = op.transpose(op.reshape(x, split), order);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  std::vector<Extent> result = {*images};
  for (size_t d = count + 1; d < split.size(); ++d)
    result.push_back(x.getType().getLength(unsigned(d)));
  GLOWISH_ASSIGN_OR_RETURN(x, reshapeOpen(op, x, result, EmptyRest::Ratio));
  return op.setOutput(0, x);
}

static llvm::Error importBatchToSpace(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Blocks blocks, readBlocks(op));
  DimsRef shape = op.getShape(0);
  size_t rank = shape.size(), count = blocks.sizes.size();
  int64_t blockSize = 1;
  for (int64_t size : blocks.sizes)
    blockSize *= size;
  if (shape[0] % blockSize != 0)
    return makeError("{0} samples become blocks of {1}", shape[0], blockSize);
  const Type &type = op.input(0).getType();
  std::optional<Extent> images = divideDown(type.getLength(0), blockSize);
  if (!images)
    return makeError("{0} samples become blocks of {1}",
                     type.getLength(0).describe(), blockSize);
  std::vector<Extent> split(blocks.sizes.begin(), blocks.sizes.end());
  Dims result = {shape[0] / blockSize};
  split.push_back(*images);
  std::vector<int64_t> order = {int64_t(count)};
  for (size_t d = 0; d < count; ++d) {
    if (blocks.borders[2 * d + 1] > 0)
      GLOWISH_RETURN_IF_ERROR(op.checkKnown(0, int64_t(d + 1)));
    split.push_back(type.getLength(unsigned(d + 1)));
    order.push_back(int64_t(count + 1 + d));
    order.push_back(int64_t(d));
    result.push_back(shape[d + 1] * blocks.sizes[d]);
  }
  for (size_t d = count + 1; d < rank; ++d) {
    split.push_back(type.getLength(unsigned(d)));
    order.push_back(int64_t(count + d));
    result.push_back(shape[d]);
  }
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue x, reshapeOpen(op, op.input(0), split, EmptyRest::Ratio));
  x = op.reshape(op.transpose(x, order), result);
  for (size_t d = 0; d < count; ++d) {
    int64_t before = blocks.borders[2 * d], after = blocks.borders[2 * d + 1];
    CheckedInt kept = CheckedInt(result[d + 1]) - before - after;
    if (!kept.isBetween(0, result[d + 1]))
      return op.refuseInput(2, "no more than the pixels there are to crop");
    x = op.slice(x, int64_t(d + 1), before, *kept.get());
  }
  return op.setOutput(0, x);
}

static constexpr llvm::StringLiteral constants = "all but input 0 constants";
static constexpr TFLiteOpTraits three{.inputs = 3, .limit = constants};

static const TFLiteOperators operators = {
    {"SLICE", importSlice, three},
    {"STRIDED_SLICE",
     importStridedSlice,
     {.inputs = 4,
      .limit = "places constants, but indices of dimensions that are removed"}},
    {"DEPTH_TO_SPACE", importDepthToSpace},
    {"SPACE_TO_DEPTH", importSpaceToDepth},
    {"SPACE_TO_BATCH_ND", importSpaceToBatch, three},
    {"BATCH_TO_SPACE_ND", importBatchToSpace, three}};
