//===- AtenDetours.cpp - Operators that together leave a tensor as it is --===//
//
// ATen has operators that no operator of ONNX is written as. Two or three of
// them, one of which undoes what the others do, take a tensor to itself: it is
// still what the model of ONNX says.
//
//===----------------------------------------------------------------------===//

#include "AtenBuilder.h"

using namespace glowish;
using namespace glowish::fuzz;

namespace {

/// A tensor and one of its dimensions.
struct Detour {
  AtenBuilder &b;
  AtenArg x;
  AtenTensorType type;
  int64_t axis;

  const Extent &getLength() const { return type.dims[size_t(axis)]; }
  /// The type with another length.
  AtenTensorType with(const Extent &length) const {
    AtenTensorType other = type;
    other.dims[size_t(axis)] = length;
    return other;
  }
  std::optional<AtenArg> getSizes() const { return b.makeNumbers(type.dims); }
  std::optional<AtenArg> makePositions() const;
  std::optional<AtenArg> makeIndices() const;
  /// Zeros of the type.
  AtenArg makeZeros() const { return b.callUnary("zeros_like", x); }
};

using MaybeArg = std::optional<AtenArg>;

} // namespace

/// Returns 0, 1, ... along the dimension.
MaybeArg Detour::makePositions() const {
  MaybeArg length = b.makeNumber(getLength());
  if (!length)
    return std::nullopt;
  return b.call("arange", {*length}, {ElemKind::Int64, {getLength()}},
                {{"dtype", ElemKind::Int64}});
}

/// Returns the positions for each element of the tensor.
MaybeArg Detour::makeIndices() const {
  MaybeArg positions = makePositions(), sizes = getSizes();
  if (!positions || !sizes)
    return std::nullopt;
  AtenTensorType own(ElemKind::Int64,
                     std::vector<Extent>(type.dims.size(), Extent(1)));
  own.dims[size_t(axis)] = getLength();
  MaybeArg shape = b.makeNumbers(own.dims);
  AtenArg column = b.call("reshape", {*positions, *shape}, own);
  return b.call("expand", {column, *sizes}, {ElemKind::Int64, type.dims});
}

//===- Movement -----------------------------------------------------------===//

/// Joins the last \p count elements of a rolled dimension and those in front of
/// them: rolling back would undo faults, too.
static MaybeArg rollBack(AtenBuilder &b, const AtenArg &x, int64_t axis,
                         int64_t count) {
  AtenTensorType first = b.getType(x), second = first;
  SymbolRanges ranges(b.model.model.ranges);
  Extent &length = second.dims[size_t(axis)];
  auto range = ranges.getRange(length);
  auto rest = subtract(length, Extent(count));
  if (!range || range->low < count || !rest)
    return std::nullopt;
  AtenTensorType whole = second;
  length = *rest;
  first.dims[size_t(axis)] = Extent(count);
  AtenArg last =
      b.call("slice.Tensor", {x, axis, -count, INT64_MAX, int64_t(1)}, first);
  AtenArg front =
      b.call("slice.Tensor", {x, axis, int64_t(0), -count, int64_t(1)}, second);
  return b.call("cat", {AtenArg::List{last, front}, axis}, whole);
}

static MaybeArg roll(const Detour &d) {
  AtenArg moved = d.b.call(
      "roll", {d.x, llvm::ArrayRef<int64_t>({-2}), llvm::ArrayRef(d.axis)},
      d.type);
  return rollBack(d.b, moved, d.axis, 2);
}

/// All elements in a row.
static MaybeArg rollAll(const Detour &d) {
  auto count = multiplyAll(d.type.dims);
  MaybeArg number = count ? d.b.makeNumber(*count) : std::nullopt;
  MaybeArg sizes = d.getSizes();
  if (!number || !sizes)
    return std::nullopt;
  AtenArg moved = d.b.call(
      "roll", {d.x, llvm::ArrayRef<int64_t>({-3}), AtenArg::List()}, d.type);
  AtenArg flat = d.b.call("reshape", {moved, AtenArg::List{*number}},
                          {d.type.kind, {*count}});
  MaybeArg row = rollBack(d.b, flat, 0, 3);
  return row ? MaybeArg(d.b.call("reshape", {*row, *sizes}, d.type))
             : std::nullopt;
}

/// Rows from the last on, and these by their positions from the end.
static MaybeArg flip(const Detour &d) {
  MaybeArg positions = d.makePositions();
  if (!positions)
    return std::nullopt;
  AtenArg last = d.b.callUnary("rsub.Scalar", *positions, {int64_t(-1)});
  AtenArg::List indices(static_cast<size_t>(d.axis));
  indices.push_back(last);
  return d.b.call("index.Tensor", {d.b.flip(d.x, d.axis), indices}, d.type);
}

static MaybeArg move(const Detour &d) {
  AtenTensorType type = d.type;
  Extent length = d.getLength();
  type.dims.erase(type.dims.begin() + d.axis);
  type.dims.insert(type.dims.begin(), length);
  AtenArg moved = d.b.call("movedim.int", {d.x, d.axis, int64_t(0)}, type);
  return d.b.call("movedim.int", {moved, int64_t(0), d.axis}, d.type);
}

static MaybeArg flatten(const Detour &d) {
  auto count = multiplyAll(d.type.dims);
  MaybeArg number = count ? d.b.makeNumber(*count) : std::nullopt;
  MaybeArg sizes = d.getSizes();
  if (!number || !sizes)
    return std::nullopt;
  AtenArg flat = d.b.call("reshape", {d.x, AtenArg::List{*number}},
                          {d.type.kind, {*count}});
  return d.b.call("view", {flat, *sizes}, d.type);
}

/// Two parts, one after the other.
static MaybeArg cut(const Detour &d) {
  SymbolRanges ranges(d.b.model.model.ranges);
  auto range = ranges.getRange(d.getLength());
  auto rest = subtract(d.getLength(), Extent(1));
  if (!range || range->low < 1 || !rest)
    return std::nullopt;
  AtenArg first =
      d.b.call("slice.Tensor", {d.x, d.axis, AtenArg(), int64_t(1), int64_t(1)},
               d.with(Extent(1)));
  AtenArg second =
      d.b.call("slice.Tensor", {d.x, d.axis, int64_t(1), INT64_MAX, int64_t(1)},
               d.with(*rest));
  return d.b.call("cat", {AtenArg::List{first, second}, d.axis}, d.type);
}

/// What is added is cut off again.
static MaybeArg pad(const Detour &d) {
  auto padded = add(d.getLength(), Extent(3));
  auto end = add(d.getLength(), Extent(1));
  MaybeArg number = end ? d.b.makeNumber(*end) : std::nullopt;
  if (!number || !padded || d.type.kind == ElemKind::Bool)
    return std::nullopt;
  std::vector<int64_t> pads(2 * (d.type.dims.size() - size_t(d.axis)), 0);
  pads[pads.size() - 2] = 1;
  pads[pads.size() - 1] = 2;
  AtenArg whole =
      d.b.call("constant_pad_nd", {d.x, llvm::ArrayRef(pads), int64_t(3)},
               d.with(*padded));
  return d.b.call("slice.Tensor",
                  {whole, d.axis, int64_t(1), *number, int64_t(1)}, d.type);
}

static MaybeArg repeat(const Detour &d) {
  auto length = multiply(d.getLength(), Extent(2));
  MaybeArg number = d.b.makeNumber(d.getLength());
  if (!length || !number)
    return std::nullopt;
  std::vector<int64_t> repeats(d.type.dims.size(), 1);
  repeats[size_t(d.axis)] = 2;
  AtenArg whole =
      d.b.call("repeat", {d.x, llvm::ArrayRef(repeats)}, d.with(*length));
  return d.b.call("slice.Tensor",
                  {whole, d.axis, *number, INT64_MAX, int64_t(1)}, d.type);
}

/// Each element twice, of which every second is taken.
static MaybeArg interleave(const Detour &d) {
  auto length = multiply(d.getLength(), Extent(2));
  if (!length)
    return std::nullopt;
  AtenArg whole = d.b.call("repeat_interleave.self_int",
                           {d.x, int64_t(2), d.axis}, d.with(*length));
  return d.b.call("slice.Tensor",
                  {whole, d.axis, int64_t(1), INT64_MAX, int64_t(2)}, d.type);
}

static MaybeArg stack(const Detour &d) {
  AtenTensorType type = d.type;
  type.dims.insert(type.dims.begin() + d.axis, Extent(2));
  AtenArg both = d.b.call(
      "stack", {AtenArg::List{d.x, d.b.callUnary("clone", d.x)}, d.axis}, type);
  return d.b.call("select.int", {both, d.axis, int64_t(-1)}, d.type);
}

static MaybeArg expand(const Detour &d) {
  AtenArg one = d.b.unsqueeze(d.x, d.axis);
  AtenTensorType type = d.b.getType(one);
  std::vector<int64_t> sizes(type.dims.size(), -1);
  sizes[size_t(d.axis)] = 3;
  type.dims[size_t(d.axis)] = Extent(3);
  AtenArg whole = d.b.call("expand", {one, llvm::ArrayRef(sizes)}, type);
  return d.b.call("select.int", {whole, d.axis, int64_t(1)}, d.type);
}

static MaybeArg unfold(const Detour &d) {
  AtenTensorType type = d.type;
  type.dims.push_back(Extent(1));
  AtenArg windows =
      d.b.call("unfold", {d.x, d.axis, int64_t(1), int64_t(1)}, type);
  return d.b.call("squeeze.dim", {windows, int64_t(-1)}, d.type);
}

/// All parts of a dimension whose length is known, one by one.
static MaybeArg unbind(const Detour &d) {
  auto length = d.getLength().getConstant();
  if (!length || *length < 1 || *length > 6)
    return std::nullopt;
  AtenTensorType type = d.type;
  type.dims.erase(type.dims.begin() + d.axis);
  AtenArg::List parts =
      d.b.callAll("unbind.int", {d.x, d.axis}, AtenResult::ListOfTensors,
                  std::vector<AtenTensorType>(size_t(*length), type));
  return d.b.call("stack", {AtenArg(parts), d.axis}, d.type);
}

//===- Indices ------------------------------------------------------------===//

static MaybeArg selectRows(const Detour &d) {
  MaybeArg positions = d.makePositions();
  if (!positions)
    return std::nullopt;
  return d.b.call("index_select", {d.x, d.axis, *positions}, d.type);
}

static MaybeArg indexRows(const Detour &d) {
  MaybeArg positions = d.makePositions();
  if (!positions)
    return std::nullopt;
  AtenArg::List indices(static_cast<size_t>(d.axis));
  indices.push_back(*positions);
  return d.b.call("index.Tensor", {d.x, indices}, d.type);
}

static MaybeArg gather(const Detour &d) {
  MaybeArg indices = d.makeIndices();
  if (!indices)
    return std::nullopt;
  return d.b.call("gather", {d.x, d.axis, *indices}, d.type);
}

static MaybeArg takeAlong(const Detour &d) {
  MaybeArg indices = d.makeIndices();
  if (!indices)
    return std::nullopt;
  return d.b.call("take_along_dim", {d.x, *indices, d.axis}, d.type);
}

static MaybeArg scatter(const Detour &d) {
  MaybeArg indices = d.makeIndices();
  if (!indices)
    return std::nullopt;
  return d.b.call("scatter.src", {d.makeZeros(), d.axis, *indices, d.x},
                  d.type);
}

static MaybeArg putRows(const Detour &d) {
  MaybeArg positions = d.makePositions();
  if (!positions || d.axis != 0)
    return std::nullopt;
  return d.b.call("index_put", {d.makeZeros(), AtenArg::List{*positions}, d.x},
                  d.type);
}

static MaybeArg copyRows(const Detour &d) {
  MaybeArg positions = d.makePositions();
  if (!positions)
    return std::nullopt;
  return d.b.call("index_copy", {d.makeZeros(), d.axis, *positions, d.x},
                  d.type);
}

/// Sorted, and each element back where it was.
static MaybeArg sort(const Detour &d) {
  if (d.type.kind == ElemKind::Bool)
    return std::nullopt;
  AtenArg::List sorted =
      d.b.callAll("sort", {d.x, d.axis, true}, AtenResult::Tuple,
                  {d.type, {ElemKind::Int64, d.type.dims}});
  return d.b.call("scatter.src", {d.makeZeros(), d.axis, sorted[1], sorted[0]},
                  d.type);
}

//===- Masks --------------------------------------------------------------===//

/// Compares the last dimension's positions with its length.
static MaybeArg compare(const Detour &d, llvm::StringRef op) {
  Detour last = d;
  last.axis = d.type.getRank() - 1;
  MaybeArg positions = last.makePositions(),
           length = d.b.makeNumber(last.getLength());
  if (!positions || !length)
    return std::nullopt;
  return d.b.call(op, {*positions, *length},
                  {ElemKind::Bool, {last.getLength()}});
}

static MaybeArg chooseAll(const Detour &d) {
  MaybeArg mask = compare(d, "lt.Scalar");
  if (!mask)
    return std::nullopt;
  return d.b.call("where.self", {*mask, d.x, d.makeZeros()}, d.type);
}

static MaybeArg fillNone(const Detour &d) {
  MaybeArg mask = compare(d, "ge.Scalar");
  if (!mask || d.type.kind == ElemKind::Bool)
    return std::nullopt;
  return d.b.call("masked_fill.Scalar", {d.x, *mask, int64_t(1)}, d.type);
}

static MaybeArg addTriangles(const Detour &d) {
  if (d.type.getRank() < 2 || isFloatKind(d.type.kind) ||
      d.type.kind == ElemKind::Bool)
    return std::nullopt;
  return d.b.callBinary("add.Tensor", d.b.callUnary("tril", d.x, {int64_t(-1)}),
                        d.b.callUnary("triu", d.x, {int64_t(0)}));
}

//===- Images and copies --------------------------------------------------===//

/// A window of one pixel.
static MaybeArg pool(const Detour &d) {
  if (d.type.getRank() != 4 || d.type.kind != ElemKind::Float)
    return std::nullopt;
  AtenArg ones = llvm::ArrayRef<int64_t>({1, 1});
  return d.b.call(d.axis % 2 ? "max_pool2d" : "avg_pool2d", {d.x, ones},
                  d.type);
}

/// To the same size.
static MaybeArg resize(const Detour &d) {
  if (d.type.getRank() != 4 || d.type.kind != ElemKind::Float)
    return std::nullopt;
  auto height = d.type.dims[2].getConstant(),
       width = d.type.dims[3].getConstant();
  if (!height || !width || *height < 1 || *width < 1)
    return std::nullopt;
  return d.b.call(
      "upsample_nearest2d",
      {d.x, llvm::ArrayRef<int64_t>({*height, *width}), AtenArg(), AtenArg()},
      d.type);
}

static MaybeArg convert(const Detour &d) {
  if (d.type.kind != ElemKind::Float && d.type.kind != ElemKind::Int32)
    return std::nullopt;
  return d.b.cast(d.b.cast(d.x, ElemKind::Double), d.type.kind);
}

/// Copies all of it, or element by element of a known length, in place.
static MaybeArg copy(const Detour &d) {
  if (!d.b.isScript())
    return d.b.call("copy", {d.makeZeros(), d.x}, d.type);
  AtenArg zeros = d.makeZeros();
  auto length = d.getLength().getConstant();
  if (!length || *length > 5) {
    d.b.write("copy_", {zeros, d.x});
    return zeros;
  }
  AtenTensorType type = d.type;
  type.dims.erase(type.dims.begin() + d.axis);
  for (int64_t i = 0; i < *length; ++i) {
    AtenArg from = d.b.call("select.int", {d.x, d.axis, i}, type);
    d.b.write("copy_",
              {d.b.call("select.int", {zeros, d.axis, i}, type), from});
  }
  return zeros;
}

/// Replaces a part by itself.
static MaybeArg replacePart(const Detour &d) {
  auto length = d.getLength().getConstant();
  if (!length || *length < 2 || d.b.isScript())
    return std::nullopt;
  AtenArg part =
      d.b.call("slice.Tensor", {d.x, d.axis, int64_t(1), *length, int64_t(1)},
               d.with(Extent(*length - 1)));
  return d.b.call("slice_scatter",
                  {d.x, part, d.axis, int64_t(1), *length, int64_t(1)}, d.type);
}

static constexpr MaybeArg (*detours[])(const Detour &) = {
    roll,    rollAll,    flip,   move,       flatten,    cut,
    pad,     repeat,     stack,  interleave, expand,     unfold,
    unbind,  selectRows, gather, indexRows,  scatter,    takeAlong,
    putRows, copyRows,   sort,   chooseAll,  fillNone,   addTriangles,
    pool,    resize,     copy,   convert,    replacePart};

AtenArg AtenBuilder::takeDetour(const AtenArg &x, uint64_t choice) {
  AtenTensorType type = getType(x);
  if (type.dims.empty())
    return x;
  int64_t axis = int64_t(choice / std::size(detours)) % type.getRank();
  MaybeArg result =
      detours[choice % std::size(detours)]({*this, x, type, axis});
  return result.value_or(x);
}
