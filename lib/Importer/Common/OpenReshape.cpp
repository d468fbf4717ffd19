//===- OpenReshape.cpp - Shapes of extents that runs decide ---------------===//

#include "Common/OpenReshape.h"
#include "glowish/Base/CheckedInt.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

//===- The extent -1 ------------------------------------------------------===//

std::optional<Extent> glowish::divideElements(const Extent &count,
                                              const Extent &known) {
  std::optional<int64_t> divisor = known.getConstant();
  if (divisor == 0)
    return std::nullopt;
  std::optional<Extent> rest = divideExactly(count, known);
  if (!rest && divisor && *divisor > 0)
    rest = divideDown(count, *divisor);
  return rest;
}

static bool mayBeZero(const Extent &extent, const SymbolRanges &symbols) {
  return symbols.mayBe(extent, 0) != Certainty::No;
}

/// Returns EmptyRest::Ratio. It is the same in runs with elements, and known,
/// where the extents that may be 0 are the same ones in \p from and \p others.
static std::optional<Extent> divideNonzero(std::vector<Extent> from,
                                           std::vector<Extent> others,
                                           const SymbolRanges &symbols) {
  size_t count = from.size();
  llvm::erase(from, Extent(0));
  bool isEmpty = from.size() != count;
  count = others.size();
  llvm::erase(others, Extent(0));
  if (isEmpty != (others.size() != count))
    return std::nullopt;
  for (auto each = others.begin(); each != others.end();) {
    auto same = llvm::find(from, *each);
    if (!mayBeZero(*each, symbols)) {
      ++each;
    } else if (same != from.end()) {
      from.erase(same);
      each = others.erase(each);
    } else {
      return std::nullopt;
    }
  }
  if (llvm::any_of(from, [&](auto &each) { return mayBeZero(each, symbols); }))
    return std::nullopt;
  std::optional<Extent> rest = multiplyAll(from), known = multiplyAll(others);
  return rest && known ? divideElements(*rest, *known) : std::nullopt;
}

/// Returns the extent that completes \p others, which have \p known elements,
/// to the \p count elements of dimensions \p from; none if it isn't known.
static std::optional<Extent>
findRest(llvm::ArrayRef<Extent> from, const Extent &count,
         llvm::ArrayRef<Extent> others, const Extent &known,
         const SymbolRanges &symbols, EmptyRest rule) {
  // PyTorch refuses runs without elements, so that any extent is right there.
  if (rule == EmptyRest::Refused || !mayBeZero(known, symbols))
    return divideElements(count, known);
  if (rule == EmptyRest::Ratio)
    return divideNonzero(from.vec(), others.vec(), symbols);
  return count == Extent(0) ? std::optional(count) : std::nullopt;
}

static bool isNeverNegative(const Extent &extent, const SymbolRanges &symbols) {
  std::optional<IntRange> range = symbols.getRange(extent);
  return range &&
         (range->low >= 0 || symbols.isAtMost(0, extent) == Certainty::Yes);
}

llvm::Expected<std::vector<Extent>>
glowish::completeShape(llvm::ArrayRef<Extent> dims, llvm::ArrayRef<Extent> from,
                       const SymbolRanges &symbols, EmptyRest rule) {
  auto refuse = [&](const llvm::Twine &accepted) {
    std::vector<std::string> texts;
    for (const Extent &dim : dims)
      texts.push_back(dim.describe());
    return makeError("the new shape is [{0}]; accepted: {1}",
                     llvm::join(texts, ", "), accepted.str());
  };
  std::vector<Extent> shape = dims.vec(), others = shape;
  auto rest = llvm::find(shape, Extent(-1));
  if (rest != shape.end())
    others.erase(others.begin() + (rest - shape.begin()));
  for (const Extent &dim : others)
    if (!isNeverNegative(dim, symbols))
      return refuse("extents of 0 and more, and one -1");
  std::optional<Extent> count = multiplyAll(from), known = multiplyAll(others);
  if (!count || !known)
    return refuse("fewer elements, or extents that a run decides");
  if (rest != shape.end()) {
    std::optional<Extent> found =
        findRest(from, *count, others, *known, symbols, rule);
    if (!found && mayBeZero(*known, symbols) && mayBeZero(*count, symbols))
      return refuse("beside -1 no extent that is 0, or may be 0 in a run");
    if (!found)
      return refuse("beside -1 extents that divide the number of elements, " +
                    llvm::Twine(count->describe()));
    *rest = *found;
    known = multiplyAll(shape);
  }
  if (known && known->isConstant() && count->isConstant() && *known != *count)
    return refuse("a shape of " + llvm::Twine(count->str()) + " elements");
  return shape;
}

//===- Types and values ---------------------------------------------------===//

llvm::Expected<Type> glowish::makeType(ElemKind kind,
                                       llvm::ArrayRef<Extent> extents,
                                       const SymbolRanges &symbols,
                                       const Type &like) {
  Dims bounds;
  ExtentList open;
  for (const Extent &extent : extents) {
    std::optional<IntRange> range = symbols.getRange(extent);
    if (!isNeverNegative(extent, symbols))
      return makeError("an extent would be {0}; accepted: one that is 0 or "
                       "more in each run",
                       extent.describe());
    bounds.push_back(range->high);
    open.push_back(extent.isConstant() ? std::nullopt : std::optional(extent));
    for (unsigned d = 0; d < like.getRank(); ++d)
      if (open.back() && like.getLength(d) == extent)
        bounds.back() = like.getDim(d);
  }
  GLOWISH_RETURN_IF_ERROR(checkShape(kind, bounds));
  return Type(kind, bounds).withExtents(open);
}

llvm::Expected<NodeValue> glowish::reshapeOpen(NodeBuilder &b, NodeValue x,
                                               llvm::ArrayRef<Extent> dims,
                                               EmptyRest rule) {
  if (!x)
    return x;
  const Type own = x.getType();
  const SymbolRanges &symbols = b.getFunction().getModule().getSymbols();
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<Extent> shape,
      completeShape(dims, own.getLengths(), symbols, rule));
  GLOWISH_ASSIGN_OR_RETURN(Type type,
                           makeType(own.getKind(), shape, symbols, own));
  // A bound that all elements fill keeps each of them in its place.
  size_t rest = llvm::find(dims, Extent(-1)) - dims.begin();
  if (rest == dims.size() || !type.hasExtents())
    return b.repack(x, type);
  Dims bounds(type.getShape());
  CheckedInt others = 1, most = own.getNumElements();
  for (auto [d, bound] : llvm::enumerate(bounds))
    others *= d == rest ? 1 : bound;
  if ((most % others).get() == 0)
    bounds[rest] = std::max(bounds[rest], *(most / others).get());
  return b.repack(x, type.withShape(bounds).withExtents(type.getExtents()));
}

NodeValue glowish::listExtents(NodeBuilder &b, ElemKind kind, NodeValue x,
                               llvm::ArrayRef<int64_t> dims) {
  if (!x)
    return x;
  if (llvm::none_of(dims, [&](int64_t dim) {
        return x.getType().getExtent(unsigned(dim));
      }))
    return b.table(kind, {int64_t(dims.size())}, [&](DimsRef index) {
      return double(x.getShape()[dims[index[0]]]);
    });
  std::vector<NodeValue> lengths;
  for (int64_t dim : dims)
    lengths.push_back(b.reshape(b.getLength(x, unsigned(dim)), {1}));
  return b.cast(b.concat(lengths, 0), kind);
}
