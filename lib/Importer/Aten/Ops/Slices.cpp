//===- Slices.cpp - Parts of tensors, and their replacement ---------------===//

#include "Aten/AtenOp.h"
#include "Common/OpenSlices.h"
#include <limits>

using namespace glowish;
using namespace glowish::aten;

namespace {

/// Elements start, start + step, ... along a dimension.
struct Range {
  int64_t axis, start, count, step;
};

} // namespace

/// Returns the dimension `dim` of `self`, which must have dimensions.
static llvm::Expected<int64_t> readAxis(AtenOp &op) {
  if (op.getShape("self").empty())
    return op.refuse("self", "rank 1 and more");
  return op.axis("dim", op.getRank("self"));
}

/// Returns an error where \p argument counts from the end of dimension \p axis
/// of `self`, and a run decides which element that is: the shape has the bound.
static llvm::Error checkPlace(AtenOp &op, llvm::StringRef argument,
                              int64_t axis) {
  const Type &type = op.tensor("self").getType();
  if (!type.getExtent(unsigned(axis)) || op.isNone(argument))
    return llvm::Error::success();
  int64_t place = op.integer(argument);
  // Places before the first element are that element.
  if (place >= 0 || place <= -type.getDim(unsigned(axis)))
    return llvm::Error::success();
  return op.refuse(argument, "a number which isn't counted from an end that a "
                             "run decides");
}

static NodeValue take(AtenOp &op, NodeValue x, const Range &range) {
  if (!x)
    return x;
  std::vector<int64_t> starts(x.getShape().size(), 0);
  std::vector<int64_t> steps(x.getShape().size(), 1);
  std::vector<int64_t> sizes(x.getShape());
  if (range.start == 0 && range.step == 1 && range.count == sizes[range.axis])
    return x;
  starts[range.axis] = range.start;
  steps[range.axis] = range.step;
  sizes[range.axis] = range.count;
  return op.make<SliceNode>(x, starts, sizes, steps);
}

/// dim, start, end and step, as Python's slices: negative bounds count from the
/// end, and bounds beyond it are there.
static llvm::Expected<Range> readRange(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, readAxis(op));
  int64_t extent = op.getShape("self")[axis], step = op.integer("step");
  if (step < 1)
    return op.refuse("step", "1 and more");
  for (llvm::StringRef argument : {"start", "end"})
    GLOWISH_RETURN_IF_ERROR(checkPlace(op, argument, axis));
  auto bound = [&](llvm::StringRef argument, int64_t ifNone) {
    int64_t value = op.isNone(argument) ? ifNone : op.integer(argument);
    value = value < 0 ? std::max(value, -extent) + extent : value;
    return std::min(value, extent);
  };
  int64_t start = bound("start", 0), end = bound("end", extent);
  int64_t count = end > start ? (end - start - 1) / step + 1 : 0;
  return Range{axis, count ? start : 0, count, count ? step : 1};
}

/// Returns where a slice of a dimension of the extent \p length begins or ends
/// which \p argument states: from 0 to \p length.
static llvm::Expected<Extent> readEdge(AtenOp &op, llvm::StringRef argument,
                                       const Extent &length,
                                       const Extent &ifNone) {
  if (op.isNone(argument))
    return ifNone;
  std::optional<Extent> edge =
      findPlace(op.getSymbols(), op.extent(argument), length);
  if (edge)
    return *edge;
  return op.refuse(argument, "a place that is always in the " +
                                 length.describe() +
                                 " elements, or always behind them");
}

/// A slice along a dimension, where a run decides its extent, or an edge.
static llvm::Error importOpenSlice(AtenOp &op, int64_t axis) {
  NodeValue x = op.tensor("self");
  Extent length = x.getType().getLength(unsigned(axis));
  int64_t step = op.integer("step");
  GLOWISH_ASSIGN_OR_RETURN(Extent start, readEdge(op, "start", length, 0));
  GLOWISH_ASSIGN_OR_RETURN(Extent end, readEdge(op, "end", length, length));
  std::optional<int64_t> first = start.getConstant();
  if (!first)
    return op.refuse("start", "a number, which isn't counted from an end that "
                              "a run decides");
  if (step < 1)
    return op.refuse("step", "1 and more");
  NodeValue part = takeOpen(op, x, {axis, *first, end, step});
  if (!part && !op.hasFailed())
    return op.refuse("start", "a place that is never behind the end");
  return op.setResult(part);
}

static llvm::Error importSlice(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, readAxis(op));
  if (op.tensor("self").getType().getExtent(unsigned(axis)) ||
      op.getBound("start") || op.getBound("end"))
    return importOpenSlice(op, axis);
  GLOWISH_ASSIGN_OR_RETURN(Range range, readRange(op));
  return op.setResult(take(op, op.tensor("self"), range));
}

static llvm::Error importSelect(AtenOp &op) {
  NodeValue x = op.tensor("self");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, readAxis(op));
  int64_t extent = x.getShape()[axis], index = op.integer("index");
  const Extent *length = x.getType().getExtent(unsigned(axis));
  if (op.getBound("index") || (length && index < 0)) {
    std::optional<Extent> place = op.extent("index");
    if (length && index < 0)
      place = add(*place, *length);
    if (!place || op.getSymbols().isAtMost(0, *place) != Certainty::Yes)
      return op.refuse("index", "one that is always there");
    return op.setResult(op.gather(x, op.compute(*place), axis));
  }
  if (index < -extent || index >= extent)
    return op.refuse("index",
                     llvm::formatv("{0} ... {1}", -extent, extent - 1).str());
  index = index < 0 ? index + extent : index;
  Dims shape(x.getShape());
  shape.erase(shape.begin() + axis);
  return op.setResult(op.reshape(op.slice(x, axis, index, 1), shape));
}

static llvm::Error importNarrow(AtenOp &op) {
  NodeValue x = op.tensor("self");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, readAxis(op));
  int64_t extent = x.getShape()[axis], start = op.integer("start"),
          length = op.integer("length");
  GLOWISH_RETURN_IF_ERROR(checkPlace(op, "start", axis));
  start = start < 0 ? start + extent : start;
  if (start < 0 || length < 0 || start > extent || length > extent - start)
    return op.refuse("length", "a part of the dimension");
  return op.setResult(op.slice(x, axis, start, length));
}

static AtenOperators slices(
    {{importSlice,
      {"slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, "
       "SymInt? end=None, int step=1) -> Tensor(a)"}},
     {importSelect,
      {"select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)"}},
     {importNarrow,
      {"narrow(Tensor(a) self, int dim, int start, int length) -> "
       "Tensor(a)"}}});

//===- Several parts ------------------------------------------------------===//

/// The most parts of a tensor, each of which is nodes of its own.
static constexpr int64_t maxParts = 1 << 16;

/// Parts of the given extents, one after the other.
static llvm::Error setParts(AtenOp &op, int64_t axis,
                            llvm::ArrayRef<int64_t> extents) {
  NodeValue x = op.tensor("self");
  std::vector<NodeValue> parts;
  int64_t start = 0;
  for (int64_t extent : extents) {
    if (extent < 0 || extent > x.getShape()[axis] - start)
      return makeError("parts of {0} rows; accepted: parts of {1} in all",
                       extent, x.getShape()[axis]);
    parts.push_back(op.slice(x, axis, start, extent));
    start += extent;
  }
  return op.setResult(parts);
}

/// Extents of \p size each, and what is left.
static std::vector<int64_t> splitEvenly(int64_t extent, int64_t size) {
  std::vector<int64_t> extents;
  for (int64_t start = 0; start < extent; start += size)
    extents.push_back(std::min(size, extent - start));
  if (extents.empty())
    extents.push_back(0);
  return extents;
}

static llvm::Error importSplit(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, readAxis(op));
  int64_t size = op.integer("split_size"), extent = op.getShape("self")[axis];
  if (extent > 0 && (size < 1 || (extent - 1) / size >= maxParts))
    return op.refuse(
        "split_size",
        llvm::formatv("1 and more, for at most {0} parts", maxParts).str());
  return setParts(op, axis, splitEvenly(extent, std::max<int64_t>(size, 1)));
}

static llvm::Error importSplitSizes(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, readAxis(op));
  llvm::StringRef name = op.getSchema().arguments[1].name;
  return setParts(op, axis, op.integers(name));
}

static llvm::Error importChunk(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, readAxis(op));
  int64_t chunks = op.integer("chunks"), extent = op.getShape("self")[axis];
  if (chunks < 1 || chunks > maxParts)
    return op.refuse("chunks", llvm::formatv("1 to {0}", maxParts).str());
  // Nothing is as many parts as are asked for.
  if (extent == 0)
    return setParts(op, axis, std::vector<int64_t>(size_t(chunks), 0));
  int64_t size = (extent - 1) / chunks + 1;
  return setParts(op, axis, splitEvenly(extent, size));
}

/// Without the dimension.
static llvm::Error importUnbind(AtenOp &op) {
  NodeValue x = op.tensor("self");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, readAxis(op));
  Dims shape(x.getShape());
  if (shape[axis] > maxParts)
    return op.refuse("self",
                     llvm::formatv("at most {0} parts", maxParts).str());
  shape.erase(shape.begin() + axis);
  std::vector<NodeValue> parts;
  for (int64_t i = 0; i < x.getShape()[axis]; ++i)
    parts.push_back(op.reshape(op.slice(x, axis, i, 1), shape));
  return op.setResult(parts);
}

static AtenOperators parts(
    {{importSplit,
      {"split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]",
       "unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> "
       "Tensor[]"}},
     {importSplitSizes,
      {"split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> "
       "Tensor(a)[]",
       "split.sizes(Tensor(a) self, int[] split_size, int dim=0) -> "
       "Tensor(a)[]",
       "unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> "
       "Tensor[]"}},
     {importChunk,
      {"chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]",
       "unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]"}},
     {importUnbind, {"unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]"}}});

//===- Replaced parts -----------------------------------------------------===//

/// `self` with `src` in place of the elements of \p range, which are next to
/// each other or not.
static llvm::Error setReplaced(AtenOp &op, const Range &range, NodeValue src) {
  NodeValue x = op.tensor("self");
  Dims part(x.getShape());
  part[range.axis] = range.count;
  src = op.broadcast(op.cast(src, x.getElemKind()), part);
  int64_t extent = x.getShape()[range.axis];
  if (range.count == 0)
    return op.setResult(x);
  if (range.step != 1) {
    GLOWISH_RETURN_IF_ERROR(op.checkBudget(extent * int64_t(sizeof(int64_t))));
    // Rows of src, and of self where there is none.
    std::vector<int64_t> rows(size_t(extent), 0);
    std::vector<bool> isReplaced(size_t(extent), false);
    for (int64_t i = 0; i < range.count; ++i) {
      rows[range.start + i * range.step] = i;
      isReplaced[range.start + i * range.step] = true;
    }
    Dims column(x.getShape().size() - range.axis, 1);
    column[0] = extent;
    NodeValue mask = op.table(ElemKind::Bool, column, [&](DimsRef index) {
      return double(isReplaced[index[0]]);
    });
    return op.setResult(
        op.select(mask, op.gather(src, op.int64s(rows), range.axis), x));
  }
  int64_t end = range.start + range.count;
  std::vector<NodeValue> parts;
  if (range.start > 0)
    parts.push_back(op.slice(x, range.axis, 0, range.start));
  parts.push_back(src);
  if (end < extent)
    parts.push_back(op.slice(x, range.axis, end, extent - end));
  return op.setResult(op.concat(parts, range.axis));
}

static llvm::Error importSliceScatter(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Range range, readRange(op));
  return setReplaced(op, range, op.tensor("src"));
}

static llvm::Error importSelectScatter(AtenOp &op) {
  DimsRef shape = op.getShape("self");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, readAxis(op));
  int64_t index = op.integer("index");
  GLOWISH_RETURN_IF_ERROR(checkPlace(op, "index", axis));
  index = index < 0 ? index + shape[axis] : index;
  if (index < 0 || index >= shape[axis])
    return op.refuse("index", "an index of the dimension");
  return setReplaced(op, {axis, index, 1, 1},
                     op.unsqueeze(op.tensor("src"), axis));
}

static AtenOperators
    replacements({{importSliceScatter,
                   {"slice_scatter(Tensor self, Tensor src, int dim=0, int? "
                    "start=None, int? end=None, int step=1) -> Tensor"}},
                  {importSelectScatter,
                   {"select_scatter(Tensor self, Tensor src, int dim, int "
                    "index) -> Tensor"}}});

//===- Order --------------------------------------------------------------===//

static llvm::Error importFlip(AtenOp &op) {
  std::vector<int64_t> dims = op.integers("dims");
  GLOWISH_ASSIGN_OR_RETURN(dims,
                           normalizeAxes(dims, unsigned(op.getRank("self"))));
  return op.setResult(op.reverse(op.tensor("self"), dims));
}

/// Without dimensions, of all elements in a row.
static llvm::Error importRoll(AtenOp &op) {
  NodeValue x = op.tensor("self");
  Dims shape(x.getShape());
  std::vector<int64_t> shifts = op.integers("shifts"),
                       dims = op.integers("dims");
  if (x.getType().getNumElements() == 0)
    return op.setResult(x);
  if (dims.empty()) {
    x = op.reshape(x, {x.getType().getNumElements()});
    dims = {0};
  }
  if (shifts.size() != dims.size())
    return op.refuse("shifts", "one number for each dimension");
  for (auto [shift, dim] : llvm::zip_equal(shifts, dims)) {
    if (!x)
      break;
    GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                             normalizeAxis(dim, unsigned(x.getShape().size())));
    int64_t extent = x.getShape()[axis];
    // Elements that come first are moved to the end, wherever that is.
    if (x.getType().getExtent(unsigned(axis)) &&
        (shift > 0 || shift <= -extent))
      return op.refuse("shifts", "shifts towards the front, by less than the "
                                 "largest extent, where a run decides it");
    int64_t moved = ((shift % extent) + extent) % extent;
    if (moved)
      x = op.concat({op.slice(x, axis, extent - moved, moved),
                     op.slice(x, axis, 0, extent - moved)},
                    axis);
  }
  return op.setResult(op.reshape(x, shape));
}

static AtenOperators
    order({{importFlip, {"flip(Tensor self, int[] dims) -> Tensor"}},
           {importRoll,
            {"roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor"}}});

//===- Joining ------------------------------------------------------------===//

/// Concatenates tensors of one kind. Empty lists of older programs don't count.
static llvm::Error setJoined(AtenOp &op, std::vector<NodeValue> parts,
                             int64_t axis) {
  if (llvm::any_of(parts, [](NodeValue part) {
        return part && part.getShape() != DimsRef({0});
      }))
    llvm::erase_if(parts, [](NodeValue part) {
      return part && part.getShape() == DimsRef({0});
    });
  ElemKind kind = op.promote({"tensors"});
  for (NodeValue &part : parts)
    part = op.cast(part, kind);
  GLOWISH_ASSIGN_OR_RETURN(
      axis, normalizeAxis(axis, unsigned(parts[0].getShape().size())));
  return op.setResult(op.concat(parts, axis));
}

/// An error if the list is empty.
static llvm::Expected<std::vector<NodeValue>> readList(AtenOp &op) {
  std::vector<NodeValue> values = op.tensors("tensors");
  if (values.empty())
    return op.refuse("tensors", "at least one");
  return values;
}

static llvm::Error importCat(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> parts, readList(op));
  return setJoined(op, std::move(parts), op.integer("dim"));
}

static llvm::Error importStack(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> parts, readList(op));
  GLOWISH_ASSIGN_OR_RETURN(
      int64_t axis, op.axis("dim", int64_t(parts[0].getShape().size()) + 1));
  for (NodeValue &part : parts)
    part = op.unsqueeze(part, axis);
  return setJoined(op, std::move(parts), axis);
}

/// Joins rows of at least \p Rank dimensions. hstack() joins lists along their
/// only dimension, others along the second one; vstack() along the first one.
template <size_t Rank, bool IsHorizontal>
static llvm::Error importRows(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> parts, readList(op));
  for (NodeValue &part : parts) {
    Dims shape(part.getShape());
    while (shape.size() < Rank)
      shape.insert(shape.begin(), 1);
    part = op.reshape(part, shape);
  }
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  int64_t axis = IsHorizontal && parts[0].getShape().size() > 1 ? 1 : 0;
  return setJoined(op, std::move(parts), axis);
}

static AtenOperators
    joined({{importCat,
             {"cat(Tensor[] tensors, int dim=0) -> Tensor",
              "concat(Tensor[] tensors, int dim=0) -> Tensor",
              "concatenate(Tensor[] tensors, int dim=0) -> Tensor"}},
            {importStack, {"stack(Tensor[] tensors, int dim=0) -> Tensor"}}},
           AtenOrder::Images);
static AtenOperators joinedWithRank({{importRows<1, /*IsHorizontal=*/true>,
                                      {"hstack(Tensor[] tensors) -> Tensor"}},
                                     {importRows<2, /*IsHorizontal=*/false>,
                                      {"vstack(Tensor[] tensors) -> Tensor"}}});
