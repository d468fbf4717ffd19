//===- Extents.cpp - Arithmetic on extents that runs decide ---------------===//

#include "Aten/Extents.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using namespace glowish::aten;

/// Returns the result of the comparison \p name of \p x and \p y; none where it
/// depends on the run, or the operator compares nothing.
static std::optional<bool> compareExtents(llvm::StringRef name, const Extent &x,
                                          const Extent &y,
                                          const SymbolRanges &symbols) {
  // Whether a <= b holds always or never, and the same of equality.
  auto isAtMost = [&](const Extent &a, const Extent &b) -> std::optional<bool> {
    if (symbols.isAtMost(a, b) == Certainty::Yes)
      return true;
    std::optional<Extent> next = add(b, 1);
    if (next && symbols.isAtMost(*next, a) == Certainty::Yes)
      return false;
    return std::nullopt;
  };
  auto invert = [](std::optional<bool> flag) {
    return flag ? std::optional(!*flag) : flag;
  };
  auto isEqual = [&]() -> std::optional<bool> {
    if (symbols.areEqual(x, y) == Certainty::Yes)
      return true;
    std::optional<Extent> difference = subtract(x, y);
    if (difference && symbols.mayBe(*difference, 0) == Certainty::No)
      return false;
    return std::nullopt;
  };
  if (name == "le")
    return isAtMost(x, y);
  if (name == "ge")
    return isAtMost(y, x);
  if (name == "lt")
    return invert(isAtMost(y, x));
  if (name == "gt")
    return invert(isAtMost(x, y));
  if (name == "eq")
    return isEqual();
  return name == "ne" ? invert(isEqual()) : std::nullopt;
}

/// Returns the result of the operator \p name for \p x and \p y, which are the
/// same where it has one argument; none if that is no Extent.
static std::optional<Extent> computeExtents(llvm::StringRef name,
                                            const Extent &x, const Extent &y,
                                            const SymbolRanges &symbols) {
  if (name == "add")
    return add(x, y);
  if (name == "sub")
    return subtract(x, y);
  if (name == "mul")
    return multiply(x, y);
  if (name == "neg")
    return multiply(x, -1);
  if (name == "sym_int" || name == "floor" || name == "ceil" || name == "trunc")
    return x;
  if (name == "sym_max" || name == "sym_min" || name == "max" ||
      name == "min") {
    bool isMax = name.ends_with("max");
    if (symbols.isAtMost(x, y) == Certainty::Yes)
      return isMax ? y : x;
    if (symbols.isAtMost(y, x) == Certainty::Yes)
      return isMax ? x : y;
    return std::nullopt;
  }
  std::optional<int64_t> divisor = y.getConstant();
  bool isRest = name == "mod" || name == "remainder";
  if (!divisor || *divisor < 1 || (name != "floordiv" && !isRest))
    return std::nullopt;
  std::optional<Extent> whole = divideDown(x, *divisor);
  if (!isRest || !whole)
    return whole;
  whole = multiply(*whole, y);
  return whole ? subtract(x, *whole) : std::nullopt;
}

std::optional<AtenValue> aten::computeOfExtents(llvm::StringRef name,
                                                const Extent &x,
                                                const Extent &y,
                                                const SymbolRanges &symbols) {
  if (auto flag = compareExtents(name, x, y, symbols))
    return AtenValue(*flag);
  if (auto result = computeExtents(name, x, y, symbols))
    return AtenValue::ofExtent(*result);
  return std::nullopt;
}

llvm::Error aten::refuseExtents(llvm::StringRef x, llvm::StringRef y) {
  return makeError("its result for {0} and {1} is not known when the model is "
                   "compiled; accepted: sums, multiples, quotients by positive "
                   "numbers, and comparisons with one result",
                   x, y);
}
