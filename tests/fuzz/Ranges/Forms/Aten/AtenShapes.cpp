//===- AtenShapes.cpp - Operators that compute shapes as ATen's -----------===//

#include "AtenBuilder.h"

using namespace glowish;
using namespace glowish::fuzz;

/// The extents of the result as numbers.
static std::optional<AtenArg> makeSizes(AtenBuilder &b, const FormNode &node) {
  return b.makeNumbers(node.getOutputType().getLengths());
}

/// One dimension becomes two, or two become one, and others stay.
static bool divideDim(AtenBuilder &b, const FormNode &node, const AtenArg &x) {
  std::vector<Extent> own = node.getType(0).getLengths();
  std::vector<Extent> dims = node.getOutputType().getLengths();
  bool isDivided = dims.size() == own.size() + 1;
  if (!isDivided && own.size() != dims.size() + 1)
    return false;
  const std::vector<Extent> &few = isDivided ? own : dims,
                            &many = isDivided ? dims : own;
  size_t at = 0;
  while (at < few.size() && few[at] == many[at])
    ++at;
  if (at == few.size())
    return false;
  auto both = multiply(many[at], many[at + 1]);
  if (!both || *both != few[at] ||
      !std::equal(few.begin() + at + 1, few.end(), many.begin() + at + 2))
    return false;
  if (!isDivided) {
    b.finish(node, "flatten.using_ints", {x, int64_t(at), int64_t(at + 1)});
    return true;
  }
  auto sizes = b.makeNumbers(llvm::ArrayRef(many).slice(at, 2));
  if (!sizes || b.isScript())
    return false;
  b.finish(node, "unflatten.int", {x, int64_t(at), *sizes});
  return true;
}

static bool translateReshape(AtenBuilder &b, const FormNode &node) {
  std::vector<Extent> dims = node.getOutputType().getLengths();
  // A dimension that follows from the others, where these are never 0.
  SymbolRanges ranges(b.model.model.ranges);
  bool mayBeEmpty = llvm::any_of(dims, [&](const Extent &dim) {
    auto range = ranges.getRange(dim);
    return !range || range->low < 1;
  });
  if (!mayBeEmpty && !dims.empty() && b.chance(node, 40))
    dims[b.chance(node, 50, 1) ? 0 : dims.size() - 1] = Extent(-1);
  AtenArg x = b.getInput(node, 0);
  if (b.chance(node, 30, 4) && divideDim(b, node, x))
    return true;
  std::optional<AtenArg> sizes = b.makeNumbers(dims);
  if (!sizes)
    return false;
  if (b.chance(node, 50, 2)) {
    b.finish(node, "reshape", {x, *sizes});
    return true;
  }
  // A view of what is in order.
  AtenArg ordered =
      b.isScript() ? b.callUnary("contiguous", x) : b.callUnary("clone", x);
  b.finish(node,
           b.isScript() || b.chance(node, 50, 3) ? "view" : "_unsafe_view",
           {ordered, *sizes});
  return true;
}

static bool translateFlatten(AtenBuilder &b, const FormNode &node) {
  auto rank = int64_t(node.getRank(0));
  int64_t axis = node.getAxis("axis", 1, unsigned(rank));
  AtenArg x = b.getInput(node, 0);
  if (axis != 1 || rank < 2)
    return translateReshape(b, node);
  b.finish(node, "flatten.using_ints",
           {x, int64_t(1), b.chance(node, 50) ? rank - 1 : int64_t(-1)});
  return true;
}

static bool translateUnsqueeze(AtenBuilder &b, const FormNode &node) {
  auto axes = node.findInts(1);
  if (!axes || axes->empty())
    return false;
  auto rank = int64_t(node.getOutputType().getRank());
  for (int64_t &axis : *axes)
    axis += axis < 0 ? rank : 0;
  llvm::sort(*axes);
  AtenArg x = b.getInput(node, 0);
  for (int64_t axis : llvm::ArrayRef(*axes).drop_back())
    x = b.unsqueeze(x, axis);
  b.finish(node, "unsqueeze", {x, axes->back()});
  return true;
}

static bool translateSqueeze(AtenBuilder &b, const FormNode &node) {
  std::vector<int64_t> axes;
  const Type &type = node.getType(0);
  auto rank = int64_t(type.getRank());
  if (node.hasInput(1)) {
    auto stated = node.findInts(1);
    if (!stated)
      return false;
    for (int64_t axis : *stated)
      axes.push_back(axis + (axis < 0 ? rank : 0));
  } else {
    for (int64_t d = 0; d < rank; ++d)
      if (type.getLength(unsigned(d)) == Extent(1))
        axes.push_back(d);
  }
  if (axes.empty())
    return false;
  llvm::sort(axes);
  AtenArg x = b.getInput(node, 0);
  if (!b.isScript() && b.chance(node, 50)) {
    b.finish(node, "squeeze.dims", {x, llvm::ArrayRef(axes)});
    return true;
  }
  while (axes.size() > 1) {
    AtenTensorType own = b.getType(x);
    own.dims.erase(own.dims.begin() + axes.back());
    x = b.call("squeeze.dim", {x, axes.back()}, own);
    axes.pop_back();
  }
  if (b.chance(node, 50, 1))
    b.finish(node, "select.int", {x, axes[0], int64_t(0)});
  else
    b.finish(node, "squeeze.dim", {x, axes[0]});
  return true;
}

static bool translateExpand(AtenBuilder &b, const FormNode &node) {
  std::vector<Extent> dims = node.getOutputType().getLengths();
  std::vector<Extent> own = node.getType(0).getLengths();
  // What stays is -1, at times.
  size_t added = dims.size() - own.size();
  for (size_t d = added; d < dims.size(); ++d)
    if (dims[d] == own[d - added] && b.chance(node, 50, unsigned(d)))
      dims[d] = Extent(-1);
  std::optional<AtenArg> sizes = b.makeNumbers(dims);
  if (!sizes)
    return false;
  // Like another tensor that has these extents.
  for (const auto &[name, type] : b.program.types)
    if (type.dims == node.getOutputType().getLengths() &&
        b.chance(node, 40, 9)) {
      b.finish(node, "expand_as", {b.getInput(node, 0), AtenTensor{name}});
      return true;
    }
  b.finish(node, "expand", {b.getInput(node, 0), *sizes});
  return true;
}

static bool translateTile(AtenBuilder &b, const FormNode &node) {
  auto repeats = b.findInts(node.getInput(1));
  std::optional<AtenArg> numbers =
      repeats ? b.makeNumbers(*repeats) : std::nullopt;
  if (!numbers)
    return false;
  b.finish(node, b.chance(node, 30) ? "tile" : "repeat",
           {b.getInput(node, 0), *numbers});
  return true;
}

static bool translateRange(AtenBuilder &b, const FormNode &node) {
  ElemKind kind = node.getOutputType().getKind();
  if (kind != ElemKind::Int64)
    return false;
  AtenArg::List bounds;
  bool isPlain = false, isByOne = false;
  for (unsigned i = 0; i < 3; ++i) {
    auto known = b.findInts(node.getInput(i));
    std::optional<AtenArg> number =
        known ? b.makeNumber(known->front()) : std::nullopt;
    if (!number)
      return false;
    if (i == 0)
      isPlain = known->front() == Extent(0);
    if (i == 2)
      isByOne = known->front() == Extent(1);
    bounds.push_back(*number);
  }
  AtenNamed named = {{"dtype", kind}};
  if (isPlain && isByOne && b.chance(node, 60))
    b.finish(node, "arange", {bounds[1]}, named);
  else if (isByOne && b.chance(node, 50, 1))
    b.finish(node, "arange.start", {bounds[0], bounds[1]}, named);
  else
    b.finish(node, "arange.start_step", bounds, named);
  return true;
}

static bool translateFill(AtenBuilder &b, const FormNode &node) {
  if (node.hasAttr("value"))
    return false;
  std::optional<AtenArg> sizes = makeSizes(b, node);
  if (!sizes)
    return false;
  ElemKind kind = node.getOutputType().getKind();
  AtenNamed named = {{"dtype", kind}};
  // Like a tensor that has these extents.
  for (const auto &[name, type] : b.program.types)
    if (type.dims == node.getOutputType().getLengths() &&
        b.chance(node, 50, 9)) {
      AtenTensor other{name};
      if (b.chance(node, 50, 8))
        b.finish(node, "zeros_like", {other}, named);
      else
        b.finish(node, "new_zeros", {other, *sizes}, named);
      return true;
    }
  if (b.chance(node, 50))
    b.finish(node, "zeros", {*sizes}, named);
  else
    b.finish(node, "full", {*sizes, 0.0}, named);
  return true;
}

static bool translateShape(AtenBuilder &b, const FormNode &node) {
  auto elements = b.findInts(node.getOutput());
  if (!elements)
    return false;
  AtenArg::List parts;
  for (const Extent &element : *elements) {
    std::optional<AtenArg> part = b.makeTensor({element}, /*isScalar=*/true);
    if (!part)
      return false;
    parts.push_back(*part);
  }
  if (node.getOutputType().getRank() == 0)
    b.finish(node, "clone", {parts[0]});
  else if (!parts.empty())
    b.finish(node, "stack", {AtenArg(parts)});
  else
    b.finish(node, "zeros", {AtenArg(llvm::ArrayRef<int64_t>({0}))},
             {{"dtype", ElemKind::Int64}});
  return true;
}

static bool translateEye(AtenBuilder &b, const FormNode &node) {
  int64_t diagonal = node.getInt("k", 0);
  if (node.hasAttr("dtype"))
    return false;
  std::optional<AtenArg> sizes = makeSizes(b, node);
  if (!sizes)
    return false;
  AtenTensorType type(node.getOutputType());
  AtenArg ones = b.call("ones", {*sizes}, type,
                        {{"dtype", node.getOutputType().getKind()}});
  b.finish(node, "tril", {b.callUnary("triu", ones, {diagonal}), diagonal});
  return true;
}

llvm::ArrayRef<AtenTranslation> fuzz::getAtenShapes() {
  static const AtenTranslation translations[] = {
      {"Reshape", translateReshape},     {"Flatten", translateFlatten},
      {"Unsqueeze", translateUnsqueeze}, {"Squeeze", translateSqueeze},
      {"Expand", translateExpand},       {"Tile", translateTile},
      {"Range", translateRange},         {"ConstantOfShape", translateFill},
      {"Shape", translateShape},         {"Size", translateShape},
      {"EyeLike", translateEye}};
  return translations;
}
