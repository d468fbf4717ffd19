//===- Shape.cpp - Views and copies of other shapes -----------------------===//

#include "Aten/AtenOp.h"
#include "Common/OpenReshape.h"
#include "glowish/Base/CheckedInt.h"

using namespace glowish;
using namespace glowish::aten;

//===- Reshaping ----------------------------------------------------------===//

/// Sets the result to the elements of \p x in row-major order, in dimensions of
/// \p size, one of which may be -1. That there are as many elements is checked
/// by each run, where it isn't known.
static llvm::Error setReshaped(AtenOp &op, NodeValue x,
                               llvm::ArrayRef<Extent> size) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue reshaped,
                           reshapeOpen(op, x, size, EmptyRest::Refused));
  return op.setResult(reshaped);
}

static llvm::Error importReshape(AtenOp &op) {
  return setReshaped(op, op.tensor("self"),
                     op.lengths(op.has("shape") ? "shape" : "size"));
}

static llvm::Error importReshapeAs(AtenOp &op) {
  return setReshaped(op, op.tensor("self"),
                     op.tensor("other").getType().getLengths());
}

/// A scalar becomes a list of one.
static llvm::Error importFlatten(AtenOp &op) {
  NodeValue x = op.tensor("self");
  int64_t rank = op.getRank("self");
  GLOWISH_ASSIGN_OR_RETURN(int64_t start, op.axis("start_dim", rank));
  GLOWISH_ASSIGN_OR_RETURN(int64_t end, op.axis("end_dim", rank));
  if (rank == 0)
    return op.setResult(op.reshape(x, {1}));
  if (start > end)
    return op.refuse("start_dim", "a dimension not behind 'end_dim'");
  std::vector<Extent> lengths = x.getType().getLengths();
  std::optional<Extent> joined =
      multiplyAll(llvm::ArrayRef(lengths).slice(start, end - start + 1));
  if (!joined)
    return op.refuse("self", "fewer extents that a run decides");
  lengths.erase(lengths.begin() + start, lengths.begin() + end);
  lengths[size_t(start)] = *joined;
  return setReshaped(op, x, lengths);
}

static llvm::Error importUnflatten(AtenOp &op) {
  NodeValue x = op.tensor("self");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("dim", op.getRank("self")));
  if (op.getRank("self") == 0)
    return op.refuse("self", "rank 1 and more");
  std::vector<Extent> lengths = x.getType().getLengths();
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Extent> inner,
                           completeShape(op.lengths("sizes"),
                                         lengths[size_t(axis)], op.getSymbols(),
                                         EmptyRest::Refused));
  lengths.erase(lengths.begin() + axis);
  lengths.insert(lengths.begin() + axis, inner.begin(), inner.end());
  return setReshaped(op, x, lengths);
}

static AtenOperators reshaping(
    {{importReshape,
      {"view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
       "reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
       "_unsafe_view(Tensor self, SymInt[] size) -> Tensor"}},
     {importReshapeAs,
      {"view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
       "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)"}},
     {importFlatten,
      {"flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> "
       "Tensor(a)"}},
     {importUnflatten,
      {"unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> "
       "Tensor(a)"}}});

//===- Dimensions of extent 1 ---------------------------------------------===//

/// Without dimensions, all of extent 1; others stay.
static llvm::Error importSqueeze(AtenOp &op) {
  NodeValue x = op.tensor("self");
  int64_t rank = op.getRank("self");
  std::vector<int64_t> axes;
  if (op.getSchema().arguments.size() == 1) {
    axes = getAllDims(rank);
  } else if (!op.integers("dim").empty()) {
    GLOWISH_ASSIGN_OR_RETURN(axes, op.axes("dim", rank));
  }
  Dims shape;
  for (int64_t d = 0; d < rank; ++d)
    if (x.getShape()[d] != 1 || !llvm::is_contained(axes, d))
      shape.push_back(x.getShape()[d]);
  return op.setResult(op.reshape(x, shape));
}

static llvm::Error importUnsqueeze(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.axis("dim", op.getRank("self") + 1));
  return op.setResult(op.unsqueeze(op.tensor("self"), axis));
}

static AtenOperators squeezing(
    {{importSqueeze,
      {"squeeze(Tensor(a) self) -> Tensor(a)",
       "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
       "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)"}},
     {importUnsqueeze, {"unsqueeze(Tensor(a) self, int dim) -> Tensor(a)"}}});

//===- Permutations -------------------------------------------------------===//

static llvm::Error importPermute(AtenOp &op) {
  int64_t rank = op.getRank("self");
  std::vector<int64_t> order = op.integers("dims");
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> distinct,
                           normalizeAxes(order, unsigned(rank)));
  if (int64_t(order.size()) != rank || int64_t(distinct.size()) != rank)
    return op.refuse("dims", "each dimension once");
  for (int64_t &axis : order)
    axis = axis < 0 ? axis + rank : axis;
  return op.setResult(op.transpose(op.tensor("self"), order));
}

/// Swaps two dimensions, whose arguments have several names.
static llvm::Error importTranspose(AtenOp &op) {
  int64_t rank = op.getRank("self");
  const auto &arguments = op.getSchema().arguments;
  GLOWISH_ASSIGN_OR_RETURN(int64_t first, op.axis(arguments[1].name, rank));
  GLOWISH_ASSIGN_OR_RETURN(int64_t second, op.axis(arguments[2].name, rank));
  return op.setResult(op.swapDims(op.tensor("self"), first, second));
}

/// All dimensions in reverse order.
static llvm::Error importReversed(AtenOp &op) {
  std::vector<int64_t> order = getAllDims(op.getRank("self"));
  if (order.size() < 2)
    return op.setResult(op.tensor("self"));
  std::reverse(order.begin(), order.end());
  return op.setResult(op.transpose(op.tensor("self"), order));
}

static llvm::Error importMT(AtenOp &op) {
  NodeValue x = op.tensor("self");
  if (op.getRank("self") == 1)
    return op.refuse("self", "rank 2 and more, and scalars");
  return op.setResult(x.getShape().empty() ? x : op.transposeLast(x));
}

static llvm::Error importMoveDim(AtenOp &op) {
  int64_t rank = op.getRank("self");
  std::vector<int64_t> from = op.integers("source"),
                       to = op.integers("destination");
  std::vector<int64_t> order(size_t(rank), -1);
  if (from.size() != to.size())
    return op.refuse("destination", "as many dimensions as in 'source'");
  for (auto [source, target] : llvm::zip_equal(from, to)) {
    GLOWISH_ASSIGN_OR_RETURN(source, normalizeAxis(source, unsigned(rank)));
    GLOWISH_ASSIGN_OR_RETURN(target, normalizeAxis(target, unsigned(rank)));
    if (order[target] >= 0)
      return op.refuse("destination", "different dimensions");
    order[target] = source;
  }
  int64_t next = 0;
  for (int64_t &axis : order) {
    if (axis >= 0)
      continue;
    while (llvm::is_contained(from, next))
      ++next;
    axis = next++;
  }
  return op.setResult(op.transpose(op.tensor("self"), order));
}

static AtenOperators permutations(
    {{importPermute, {"permute(Tensor(a) self, int[] dims) -> Tensor(a)"}},
     {importTranspose,
      {"transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
       "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
       "swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"}},
     {importReversed,
      {"t(Tensor(a) self) -> Tensor(a)",
       "numpy_T(Tensor(a) self) -> Tensor(a)"}},
     {importMT, {"mT(Tensor(a) self) -> Tensor(a)"}},
     {importMoveDim,
      {"movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
       "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> "
       "Tensor(a)"}}});

//===- Repetition ---------------------------------------------------------===//

/// Returns \p x with dimensions of \p lengths, which argument \p name states:
/// those that are always 1 repeat their elements, and further ones come before.
static llvm::Expected<NodeValue> expand(AtenOp &op, NodeValue x,
                                        llvm::StringRef name,
                                        llvm::ArrayRef<Extent> lengths) {
  const Type own = x.getType();
  GLOWISH_ASSIGN_OR_RETURN(
      Type type, makeType(own.getKind(), lengths, op.getSymbols(), own));
  size_t added = lengths.size() - own.getRank();
  for (size_t d = added; d < lengths.size(); ++d) {
    auto from = unsigned(d - added);
    bool isOpen = own.getExtent(from) ||
                  (type.getExtent(unsigned(d)) && own.getDim(from) != 1);
    if (isOpen && op.getSymbols().areEqual(own.getLength(from), lengths[d]) !=
                      Certainty::Yes)
      return op.refuse(name, "the extent " + own.getLength(from).describe() +
                                 " in dimension " + std::to_string(d));
  }
  NodeValue wide = op.broadcast(x, type.getShape());
  return op.finish(op.declareExtents(wide, type));
}

/// Repeats dimensions of extent 1 to those of `size`, where -1 keeps the
/// extent; further ones come before.
static llvm::Error importExpand(AtenOp &op) {
  const Type &own = op.tensor("self").getType();
  std::vector<Extent> size = op.lengths("size");
  if (size.size() < own.getRank())
    return op.refuse("size", "at least as many extents as 'self' has");
  size_t added = size.size() - own.getRank();
  for (size_t d = added; d < size.size(); ++d)
    if (size[d] == Extent(-1))
      size[d] = own.getLength(unsigned(d - added));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue wide,
                           expand(op, op.tensor("self"), "size", size));
  return op.setResult(wide);
}

static llvm::Error importExpandAs(AtenOp &op) {
  const Type &other = op.tensor("other").getType();
  if (other.getRank() < op.getRank("self"))
    return op.refuse("other", "at least as many dimensions as 'self' has");
  GLOWISH_ASSIGN_OR_RETURN(NodeValue wide, expand(op, op.tensor("self"),
                                                  "other", other.getLengths()));
  return op.setResult(wide);
}

static llvm::Error importRepeat(AtenOp &op) {
  NodeValue x = op.tensor("self");
  llvm::StringRef name = op.has("dims") ? "dims" : "repeats";
  std::vector<int64_t> repeats = op.integers(name);
  size_t rank = std::max(repeats.size(), x.getShape().size());
  // tile() repeats leading dimensions that it does not name once.
  if (name == "repeats" && repeats.size() < rank)
    return op.refuse(name, "at least as many numbers as dimensions");
  repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  Dims shape(x.getShape());
  shape.insert(shape.begin(), rank - shape.size(), 1);
  for (int64_t count : repeats)
    if (count < 0)
      return op.refuse(name, "numbers of at least 0");
  x = op.reshape(x, shape);
  std::vector<Extent> counts = op.lengths(name);
  counts.insert(counts.begin(), rank - counts.size(), 1);
  auto isOne = [](const Extent &count) { return count == Extent(1); };
  if (!x || llvm::all_of(counts, isOne))
    return op.setResult(x);
  const Type own = x.getType();
  x = op.make<TileNode>(x, repeats);
  if (!x)
    return op.setResult(x);
  ExtentList extents(x.getType().getExtents());
  extents.resize(rank);
  for (unsigned d = 0; d < rank; ++d) {
    if (counts[d].isConstant())
      continue;
    if (own.getExtent(d))
      return op.refuse(name, "a known number for a dimension whose extent a "
                             "run decides");
    extents[d] = multiply(counts[d], own.getDim(d));
  }
  return op.setResult(op.declareExtents(x, x.getType().withExtents(extents)));
}

/// Each element so many times.
static llvm::Error importRepeatInterleave(AtenOp &op) {
  NodeValue x = op.tensor("self");
  if (op.isNone("dim"))
    x = op.reshape(x, {x.getType().getNumElements()});
  int64_t axis = 0;
  if (!op.isNone("dim")) {
    GLOWISH_ASSIGN_OR_RETURN(axis, op.axis("dim", op.getRank("self")));
  }
  int64_t count = op.integer("repeats");
  if (count < 0 || !x || x.getShape().empty())
    return op.refuse("repeats", "a number of at least 0, and rank 1 and more");
  Dims shape(x.getShape()), wide = shape;
  wide.insert(wide.begin() + axis + 1, count);
  CheckedInt extent = CheckedInt(shape[axis]) * count;
  if (!extent.get())
    return op.refuse("repeats", "a smaller number");
  shape[axis] = *extent.get();
  return op.setResult(
      op.reshape(op.broadcast(op.unsqueeze(x, axis + 1), wide), shape));
}

/// The index of each element so many times, which must be known.
static llvm::Error importRepeatedIndices(AtenOp &op) {
  auto *constant = op.tensor("repeats").getNodeAs<Constant>();
  if (!constant || op.getRank("repeats") != 1)
    return op.refuse("repeats", "a list that is known when the model is "
                                "compiled");
  std::vector<int64_t> indices;
  const Tensor &repeats = constant->getTensor();
  for (int64_t i = 0; i < repeats.getNumElements(); ++i) {
    int64_t count = repeats.getAsInt(i);
    if (count < 0 || count > int64_t(1) << 24 ||
        indices.size() > size_t(1) << 24)
      return op.refuse("repeats", "numbers from 0 to 2^24");
    indices.insert(indices.end(), size_t(count), i);
  }
  return op.setResult(op.ints(constant->getType().getKind(),
                              {int64_t(indices.size())}, indices));
}

static llvm::Error importBroadcastTensors(AtenOp &op) {
  std::vector<NodeValue> values = op.tensors("tensors");
  std::vector<Extent> lengths;
  for (NodeValue value : values) {
    std::vector<Extent> own = value.getType().getLengths();
    if (own.size() > lengths.size())
      lengths.insert(lengths.begin(), own.size() - lengths.size(), 1);
    for (size_t d = 0; d < own.size(); ++d) {
      Extent &length = lengths[lengths.size() - own.size() + d];
      length = length == Extent(1) ? own[d] : length;
    }
  }
  for (NodeValue &value : values)
    GLOWISH_ASSIGN_OR_RETURN(value, expand(op, value, "tensors", lengths));
  return op.setResult(values);
}

static AtenOperators expansion(
    {{importExpand,
      {"expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> "
       "Tensor(a)",
       "broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)"}},
     {importExpandAs, {"expand_as(Tensor(a) self, Tensor other) -> Tensor(a)"}},
     {importRepeatInterleave,
      {"repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, "
       "int? output_size=None) -> Tensor"}},
     {importRepeatedIndices,
      {"repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> "
       "Tensor"}}});
static AtenOperators
    repetition({{importRepeat,
                 {"repeat(Tensor self, SymInt[] repeats) -> Tensor",
                  "tile(Tensor self, SymInt[] dims) -> Tensor"}}},
               AtenOrder::RowMajor);
static AtenOperators
    broadcasting({{importBroadcastTensors,
                   {"broadcast_tensors(Tensor[] tensors) -> Tensor[]"}}},
                 AtenOrder::Unknown);

//===- Images -------------------------------------------------------------===//

/// Channels become pixels: [..., C * r * r, H, W] to [..., C, H * r, W * r].
static llvm::Error importPixelShuffle(AtenOp &op) {
  NodeValue x = op.tensor("self");
  int64_t r = op.integer("upscale_factor"), rank = op.getRank("self");
  if (rank < 3 || r < 1 || r > INT32_MAX || x.getShape()[rank - 3] % (r * r))
    return op.refuse("self", "[..., C * r * r, H, W]");
  DimsRef old = x.getShape();
  Dims outer(old.drop_back(3));
  int64_t n = countElements(outer), c = old[rank - 3] / (r * r),
          h = old[rank - 2], w = old[rank - 1];
  CheckedInt height = CheckedInt(h) * r, width = CheckedInt(w) * r;
  if (!height.get() || !width.get())
    return op.refuse("upscale_factor", "a smaller number");
  Dims shape = outer;
  shape.append({c, *height.get(), *width.get()});
  x = op.transpose(op.reshape(x, {n, c, r, r, h, w}), {0, 1, 4, 2, 5, 3});
  return op.setResult(op.reshape(x, shape));
}

static llvm::Error importPixelUnshuffle(AtenOp &op) {
  NodeValue x = op.tensor("self");
  int64_t r = op.integer("downscale_factor"), rank = op.getRank("self");
  if (rank < 3 || r < 1 || x.getShape()[rank - 2] % r ||
      x.getShape()[rank - 1] % r)
    return op.refuse("self", "[..., C, H * r, W * r]");
  DimsRef old = x.getShape();
  Dims outer(old.drop_back(3));
  int64_t n = countElements(outer), c = old[rank - 3], h = old[rank - 2] / r,
          w = old[rank - 1] / r;
  CheckedInt channels = CheckedInt(c) * r * r;
  if (!channels.get())
    return op.refuse("downscale_factor", "a smaller number");
  Dims shape = outer;
  shape.append({*channels.get(), h, w});
  x = op.transpose(op.reshape(x, {n, c, h, r, w, r}), {0, 1, 3, 5, 2, 4});
  return op.setResult(op.reshape(x, shape));
}

static llvm::Error importChannelShuffle(AtenOp &op) {
  NodeValue x = op.tensor("self");
  int64_t groups = op.integer("groups");
  DimsRef old = x.getShape();
  if (old.size() < 3 || groups < 1 || old[1] % groups)
    return op.refuse("groups", "a divisor of the channels, dimension 1");
  Dims shape(old);
  int64_t rest = countElements(old.drop_front(2));
  x = op.transpose(op.reshape(x, {old[0], groups, old[1] / groups, rest}),
                   {0, 2, 1, 3});
  return op.setResult(op.reshape(x, shape));
}

static AtenOperators pixelShuffles(
    {{importPixelShuffle,
      {"pixel_shuffle(Tensor self, int upscale_factor) -> Tensor"}},
     {importPixelUnshuffle,
      {"pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor"}}});
static AtenOperators
    channelShuffle({{importChannelShuffle,
                     {"channel_shuffle(Tensor self, int groups) -> Tensor"}}},
                   AtenOrder::Unknown);
