//===- Extent.cpp - Extents of dimensions ---------------------------------===//

#include "glowish/Base/Extent.h"
#include "glowish/Base/CheckedInt.h"
#include "glowish/Base/DimExpression.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>

using namespace glowish;

static constexpr unsigned maxDepth = 8;

/// Returns the only string with the characters of \p name.
static const std::string *intern(llvm::StringRef name) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> names;
  std::lock_guard<std::mutex> lock(mutex);
  auto found = names.find(std::string_view(name));
  if (found == names.end())
    found = names.insert(name.str()).first;
  return &*found;
}

Extent Extent::symbol(llvm::StringRef name) {
  Extent extent;
  extent.terms.push_back({1, {{intern(name), nullptr}}});
  return extent;
}

//===- Order --------------------------------------------------------------===//

template <typename T> static int compareNumbers(T a, T b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

int Extent::compare(const Atom &a, const Atom &b) {
  if (a.symbol == b.symbol && a.quotient == b.quotient)
    return 0;
  if (a.symbol && b.symbol)
    return a.symbol->compare(*b.symbol);
  if (a.symbol || b.symbol)
    return a.symbol ? -1 : 1;
  if (int order = compareNumbers(a.quotient->divisor, b.quotient->divisor))
    return order;
  return compare(a.quotient->numerator, b.quotient->numerator);
}

/// Products of more atoms come first; of those with as many, the order is that
/// of the atoms. This is an order that multiplication keeps, which
/// divideExactly() needs.
int Extent::compare(const std::vector<Atom> &a, const std::vector<Atom> &b) {
  if (int order = compareNumbers(b.size(), a.size()))
    return order;
  for (auto [x, y] : llvm::zip_equal(a, b))
    if (int order = compare(x, y))
      return order;
  return 0;
}

int Extent::compare(const Extent &a, const Extent &b) {
  if (int order = compareNumbers(a.terms.size(), b.terms.size()))
    return order;
  for (auto [x, y] : llvm::zip_equal(a.terms, b.terms)) {
    if (int order = compare(x.atoms, y.atoms))
      return order;
    if (int order = compareNumbers(x.factor, y.factor))
      return order;
  }
  return compareNumbers(a.constant, b.constant);
}

//===- Arithmetic ---------------------------------------------------------===//

/// Adds \p factor times the product of \p atoms; false if it doesn't fit.
bool Extent::addTerm(int64_t factor, const std::vector<Atom> &atoms) {
  if (factor == 0)
    return true;
  if (atoms.empty()) {
    std::optional<int64_t> sum = (CheckedInt(constant) + factor).get();
    constant = sum.value_or(0);
    return sum.has_value();
  }
  auto at = llvm::lower_bound(
      terms, atoms, [](const Term &term, const std::vector<Atom> &own) {
        return compare(term.atoms, own) < 0;
      });
  if (at == terms.end() || compare(at->atoms, atoms) != 0) {
    if (terms.size() == maxTerms || atoms.size() > maxDegree)
      return false;
    terms.insert(at, {factor, atoms});
    return true;
  }
  std::optional<int64_t> sum = (CheckedInt(at->factor) + factor).get();
  if (!sum)
    return false;
  at->factor = *sum;
  if (*sum == 0)
    terms.erase(at);
  return true;
}

std::optional<Extent> glowish::add(const Extent &a, const Extent &b) {
  Extent sum = a;
  if (!sum.addTerm(b.constant, {}))
    return std::nullopt;
  for (const Extent::Term &term : b.terms)
    if (!sum.addTerm(term.factor, term.atoms))
      return std::nullopt;
  return sum;
}

std::optional<Extent> glowish::subtract(const Extent &a, const Extent &b) {
  std::optional<Extent> negative = multiply(b, -1);
  return negative ? add(a, *negative) : std::nullopt;
}

std::optional<Extent> glowish::multiply(const Extent &a, const Extent &b) {
  Extent result;
  auto addMonomial = [&](int64_t x, const std::vector<Extent::Atom> &xAtoms,
                         int64_t y, const std::vector<Extent::Atom> &yAtoms) {
    std::optional<int64_t> factor = (CheckedInt(x) * y).get();
    std::vector<Extent::Atom> atoms;
    std::merge(xAtoms.begin(), xAtoms.end(), yAtoms.begin(), yAtoms.end(),
               std::back_inserter(atoms),
               [](const Extent::Atom &p, const Extent::Atom &q) {
                 return Extent::compare(p, q) < 0;
               });
    return factor && result.addTerm(*factor, atoms);
  };
  bool fits = addMonomial(a.constant, {}, b.constant, {});
  for (const Extent::Term &x : a.terms) {
    fits = fits && addMonomial(x.factor, x.atoms, b.constant, {});
    for (const Extent::Term &y : b.terms)
      fits = fits && addMonomial(x.factor, x.atoms, y.factor, y.atoms);
  }
  for (const Extent::Term &y : b.terms)
    fits = fits && addMonomial(a.constant, {}, y.factor, y.atoms);
  return fits ? std::optional(result) : std::nullopt;
}

std::optional<Extent> glowish::multiplyAll(llvm::ArrayRef<Extent> factors) {
  std::optional<Extent> result = Extent(1);
  for (const Extent &factor : factors)
    result = result ? multiply(*result, factor) : result;
  return result;
}

/// Each step holds for all integers: multiples of the divisor are taken out,
/// a factor that numerator and divisor have in common is cancelled, and a
/// quotient of a quotient becomes one.
std::optional<Extent> glowish::divideDown(const Extent &a, int64_t divisor) {
  assert(divisor > 0 && "quotients are by positive numbers");
  Extent whole, rest;
  int64_t common = divisor;
  auto split = [&](int64_t factor, const std::vector<Extent::Atom> &atoms) {
    int64_t quotient = llvm::divideFloorSigned(factor, divisor);
    int64_t left = factor - quotient * divisor;
    if (!atoms.empty())
      common = std::gcd(common, left);
    return whole.addTerm(quotient, atoms) && rest.addTerm(left, atoms);
  };
  if (!split(a.constant, {}))
    return std::nullopt;
  for (const Extent::Term &term : a.terms)
    if (!split(term.factor, term.atoms))
      return std::nullopt;
  if (rest.isConstant())
    return whole;
  for (Extent::Term &term : rest.terms)
    term.factor /= common;
  rest.constant /= common;
  divisor /= common;
  const Extent::Term &first = rest.terms.front();
  unsigned depth = 0;
  for (const Extent::Term &term : rest.terms)
    for (const Extent::Atom &atom : term.atoms)
      if (atom.quotient)
        depth = std::max(depth, atom.quotient->depth);
  if (rest.terms.size() == 1 && first.factor == 1 && first.atoms.size() == 1 &&
      first.atoms.front().quotient) {
    const Extent::Quotient &inner = *first.atoms.front().quotient;
    std::optional<Extent> numerator = multiply(rest.constant, inner.divisor);
    if (numerator)
      numerator = add(inner.numerator, *numerator);
    auto monomial = (CheckedInt(inner.divisor) * divisor).get();
    std::optional<Extent> quotient;
    if (numerator && monomial)
      quotient = divideDown(*numerator, *monomial);
    return quotient ? add(whole, *quotient) : std::nullopt;
  }
  if (depth == maxDepth)
    return std::nullopt;
  Extent::Atom atom = {nullptr,
                       std::make_shared<const Extent::Quotient>(
                           Extent::Quotient{rest, divisor, depth + 1})};
  return whole.addTerm(1, {atom}) ? std::optional(whole) : std::nullopt;
}

std::optional<Extent> glowish::divideUp(const Extent &a, int64_t divisor) {
  std::optional<Extent> numerator = add(a, divisor - 1);
  return numerator ? divideDown(*numerator, divisor) : std::nullopt;
}

std::optional<Extent> glowish::divideExactly(const Extent &a, const Extent &b) {
  using Monomial = std::pair<int64_t, std::vector<Extent::Atom>>;
  auto getFirst = [](const Extent &extent) -> Monomial {
    if (extent.isConstant())
      return {extent.constant, {}};
    return {extent.terms.front().factor, extent.terms.front().atoms};
  };
  auto [divisor, divisorAtoms] = getFirst(b);
  Extent quotient, rest = a;
  if (divisor == 0)
    return std::nullopt;
  // Each step removes the first term of what is left.
  while (!(rest == Extent())) {
    auto [factor, atoms] = getFirst(rest);
    std::vector<Extent::Atom> left;
    std::set_difference(atoms.begin(), atoms.end(), divisorAtoms.begin(),
                        divisorAtoms.end(), std::back_inserter(left),
                        [](const Extent::Atom &x, const Extent::Atom &y) {
                          return Extent::compare(x, y) < 0;
                        });
    bool overflows = divisor == -1 && factor == INT64_MIN;
    if (left.size() + divisorAtoms.size() != atoms.size() || overflows ||
        factor % divisor != 0)
      return std::nullopt;
    Extent term;
    if (!term.addTerm(factor / divisor, left))
      return std::nullopt;
    std::optional<Extent> monomial = multiply(term, b);
    std::optional<Extent> difference;
    if (monomial)
      difference = subtract(rest, *monomial);
    if (!difference || !quotient.addTerm(factor / divisor, left))
      return std::nullopt;
    rest = std::move(*difference);
  }
  return quotient;
}

//===- Values -------------------------------------------------------------===//

std::optional<int64_t> Extent::evaluate(
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> getValue)
    const {
  CheckedInt sum = constant;
  for (const Term &term : terms) {
    CheckedInt monomial = term.factor;
    for (const Atom &atom : term.atoms) {
      std::optional<int64_t> value;
      if (atom.symbol)
        value = getValue(*atom.symbol);
      else if ((value = atom.quotient->numerator.evaluate(getValue)))
        value = llvm::divideFloorSigned(*value, atom.quotient->divisor);
      monomial = monomial * CheckedInt(value);
    }
    sum = sum + monomial;
  }
  return sum.get();
}

/// Returns the products of all pairs of numbers in two ranges.
static std::optional<IntRange> multiplyRanges(IntRange a, IntRange b) {
  std::optional<IntRange> range;
  for (int64_t x : {a.low, a.high})
    for (int64_t y : {b.low, b.high}) {
      std::optional<int64_t> monomial = (CheckedInt(x) * y).get();
      if (!monomial)
        return std::nullopt;
      if (!range)
        range = {*monomial, *monomial};
      range->low = std::min(range->low, *monomial);
      range->high = std::max(range->high, *monomial);
    }
  return range;
}

std::optional<IntRange> Extent::bound(
    llvm::function_ref<std::optional<IntRange>(llvm::StringRef)> getRange)
    const {
  IntRange sum = {constant, constant};
  for (const Term &term : terms) {
    std::optional<IntRange> monomial = IntRange{term.factor, term.factor};
    for (const Atom &atom : term.atoms) {
      std::optional<IntRange> range;
      if (atom.symbol) {
        range = getRange(*atom.symbol);
      } else if ((range = atom.quotient->numerator.bound(getRange))) {
        range->low =
            llvm::divideFloorSigned(range->low, atom.quotient->divisor);
        range->high =
            llvm::divideFloorSigned(range->high, atom.quotient->divisor);
      }
      if (monomial && range)
        monomial = multiplyRanges(*monomial, *range);
      else
        monomial = std::nullopt;
    }
    if (!monomial)
      return std::nullopt;
    auto low = (CheckedInt(sum.low) + monomial->low).get();
    auto high = (CheckedInt(sum.high) + monomial->high).get();
    if (!low || !high)
      return std::nullopt;
    sum = {*low, *high};
  }
  return sum;
}

std::optional<Extent> Extent::substitute(
    llvm::function_ref<std::optional<Extent>(llvm::StringRef)> replace) const {
  std::optional<Extent> sum = Extent(constant);
  for (const Term &term : terms) {
    std::optional<Extent> monomial = Extent(term.factor);
    for (const Atom &atom : term.atoms) {
      std::optional<Extent> value;
      if (atom.symbol) {
        value = replace(*atom.symbol);
        if (!value)
          value = symbol(*atom.symbol);
      } else if ((value = atom.quotient->numerator.substitute(replace))) {
        value = divideDown(*value, atom.quotient->divisor);
      }
      monomial = monomial && value ? multiply(*monomial, *value) : std::nullopt;
    }
    sum = sum && monomial ? add(*sum, *monomial) : std::nullopt;
  }
  return sum;
}

void Extent::countSymbols(std::map<std::string, unsigned> &counts) const {
  for (const Term &term : terms)
    for (const Atom &atom : term.atoms) {
      if (atom.symbol)
        ++counts[*atom.symbol];
      else
        atom.quotient->numerator.countSymbols(counts);
    }
}

llvm::StringRef Extent::getSymbol() const {
  bool isAtom = constant == 0 && terms.size() == 1 &&
                terms.front().factor == 1 && terms.front().atoms.size() == 1;
  const std::string *symbol =
      isAtom ? terms.front().atoms.front().symbol : nullptr;
  return symbol ? llvm::StringRef(*symbol) : llvm::StringRef();
}

std::vector<std::string> Extent::getSymbols() const {
  std::map<std::string, unsigned> counts;
  countSymbols(counts);
  std::vector<std::string> symbols;
  for (const auto &[symbol, count] : counts)
    symbols.push_back(symbol);
  return symbols;
}

bool Extent::hasEachSymbolOnce() const {
  std::map<std::string, unsigned> counts;
  countSymbols(counts);
  return llvm::all_of(counts,
                      [](const auto &entry) { return entry.second == 1; });
}

//===- Text ---------------------------------------------------------------===//

/// Returns \p name as an expression has it.
static std::string quoteName(llvm::StringRef name) {
  bool isIdentifier = !name.empty() && !llvm::isDigit(name.front()) &&
                      llvm::all_of(name, [](char c) {
                        return llvm::isAlnum(c) || c == '_' || c == '.';
                      });
  return isIdentifier ? name.str() : ("'" + name + "'").str();
}

std::string Extent::str() const {
  std::string text;
  auto append = [&](int64_t factor, const std::string &monomial) {
    bool isNegative = factor < 0;
    // The magnitude of INT64_MIN has no int64_t.
    uint64_t magnitude = isNegative ? 0 - uint64_t(factor) : uint64_t(factor);
    text += text.empty() ? (isNegative ? "-" : "") : isNegative ? " - " : " + ";
    if (monomial.empty() || magnitude != 1)
      text += std::to_string(magnitude) + (monomial.empty() ? "" : "*");
    text += monomial;
  };
  for (const Term &term : terms) {
    std::string monomial;
    for (const Atom &atom : term.atoms) {
      std::string own;
      if (atom.symbol) {
        own = quoteName(*atom.symbol);
      } else {
        const Extent &numerator = atom.quotient->numerator;
        bool isSymbol = numerator.constant == 0 &&
                        numerator.terms.size() == 1 &&
                        numerator.terms[0].factor == 1 &&
                        numerator.terms[0].atoms.size() == 1;
        own = numerator.str();
        own = (isSymbol ? own : "(" + own + ")") + "//" +
              std::to_string(atom.quotient->divisor);
        bool isAlone =
            term.atoms.size() == 1 &&
            (term.factor == 1 || (term.factor == -1 && !text.empty()));
        if (!isAlone)
          own = "(" + own + ")";
      }
      monomial += (monomial.empty() ? "" : "*") + own;
    }
    append(term.factor, monomial);
  }
  if (constant != 0 || text.empty())
    append(constant, "");
  return text;
}

std::optional<Extent> Extent::parse(
    llvm::StringRef text,
    llvm::function_ref<std::optional<Extent>(llvm::StringRef)> replace) {
  std::optional<DimExpression> expression = DimExpression::parse(text);
  if (!expression)
    return std::nullopt;
  using Op = DimExpression::Op;
  llvm::SmallVector<std::optional<Extent>, 8> stack;
  auto pop = [&] { return stack.pop_back_val(); };
  for (const DimExpression::Step &step : expression->getSteps()) {
    if (step.op == Op::Number) {
      stack.push_back(step.number ? std::optional<Extent>(*step.number)
                                  : std::nullopt);
      continue;
    }
    if (step.op == Op::Symbol) {
      stack.push_back(replace ? replace(step.symbol) : std::nullopt);
      if (!stack.back())
        stack.back() = symbol(step.symbol);
      continue;
    }
    std::optional<Extent> b = pop(),
                          a = step.op == Op::Negate ? Extent() : pop();
    if (!a || !b)
      return std::nullopt;
    std::optional<int64_t> divisor = b->getConstant();
    switch (step.op) {
    case Op::Add:
      stack.push_back(add(*a, *b));
      break;
    case Op::Subtract:
    case Op::Negate:
      stack.push_back(subtract(*a, *b));
      break;
    case Op::Multiply:
      stack.push_back(multiply(*a, *b));
      break;
    default:
      if (!divisor || *divisor < 1)
        return std::nullopt;
      stack.push_back(divideDown(*a, *divisor));
    }
  }
  return pop();
}

//===- Ranges -------------------------------------------------------------===//

void SymbolRanges::set(llvm::StringRef symbol, IntRange range) {
  ranges.insert_or_assign(symbol.str(), range);
}

std::optional<IntRange> SymbolRanges::find(llvm::StringRef symbol) const {
  auto found = ranges.find(std::string_view(symbol));
  return found == ranges.end() ? std::nullopt : std::optional(found->second);
}

std::optional<IntRange> SymbolRanges::getRange(const Extent &extent) const {
  return extent.bound([&](llvm::StringRef symbol) { return find(symbol); });
}

/// Answers whether \p holds is true of all values of \p extent.
Certainty
SymbolRanges::holdsForAll(const Extent &extent,
                          llvm::function_ref<bool(int64_t)> holds) const {
  std::vector<std::string> symbols = extent.getSymbols();
  std::vector<IntRange> bounds;
  uint64_t combinations = 1;
  for (const std::string &symbol : symbols) {
    std::optional<IntRange> range = find(symbol);
    if (!range || range->low > range->high)
      return Certainty::Unknown;
    uint64_t count = uint64_t(range->high) - uint64_t(range->low) + 1;
    if (count == 0 || count > maxCombinations / combinations)
      return Certainty::Unknown;
    combinations *= count;
    bounds.push_back(*range);
  }
  std::vector<int64_t> values;
  for (const IntRange &range : bounds)
    values.push_back(range.low);
  auto getValue = [&](llvm::StringRef symbol) -> std::optional<int64_t> {
    return values[size_t(llvm::find(symbols, symbol) - symbols.begin())];
  };
  for (;;) {
    std::optional<int64_t> value = extent.evaluate(getValue);
    if (!value)
      return Certainty::Unknown;
    if (!holds(*value))
      return Certainty::No;
    size_t i = 0;
    for (; i < values.size() && values[i] == bounds[i].high; ++i)
      values[i] = bounds[i].low;
    if (i == values.size())
      return Certainty::Yes;
    ++values[i];
  }
}

Certainty SymbolRanges::areEqual(const Extent &a, const Extent &b) const {
  if (a == b)
    return Certainty::Yes;
  std::optional<Extent> difference = subtract(a, b);
  if (!difference)
    return Certainty::Unknown;
  if (std::optional<IntRange> range = getRange(*difference)) {
    if (range->low == 0 && range->high == 0)
      return Certainty::Yes;
    if (range->low > 0 || range->high < 0 || difference->hasEachSymbolOnce())
      return Certainty::No;
  }
  return holdsForAll(*difference, [](int64_t value) { return value == 0; });
}

Certainty SymbolRanges::isAtMost(const Extent &a, const Extent &b) const {
  std::optional<Extent> difference = subtract(b, a);
  if (!difference)
    return Certainty::Unknown;
  if (std::optional<IntRange> range = getRange(*difference)) {
    if (range->low >= 0)
      return Certainty::Yes;
    if (range->high < 0 || difference->hasEachSymbolOnce())
      return Certainty::No;
  }
  return holdsForAll(*difference, [](int64_t value) { return value >= 0; });
}

Certainty SymbolRanges::mayBe(const Extent &extent, int64_t value) const {
  std::optional<IntRange> range = getRange(extent);
  if (range && (range->low > value || range->high < value))
    return Certainty::No;
  switch (holdsForAll(extent, [&](int64_t own) { return own != value; })) {
  case Certainty::Yes:
    return Certainty::No;
  case Certainty::No:
    return Certainty::Yes;
  default:
    return Certainty::Unknown;
  }
}
