//===- Extent.h - Extents of dimensions -------------------------*- C++ -*-===//
//
// An extent that a run decides is an expression of symbols: sums, multiples
// of each other and quotients by positive constants, rounded down. It has one
// form: expressions that are equal by the rules of arithmetic are the same,
// whatever the order in which they were built. What else is equal for all
// values in the symbols' ranges is decided by SymbolRanges.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_BASE_EXTENT_H
#define GLOWISH_BASE_EXTENT_H

#include "glowish/Base/DimExpression.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace glowish {

/// An integer expression of symbols, in normal form: a constant and multiples
/// of products of atoms, which are symbols and quotients.
///
/// Functions return none where the result does not fit: a number of more than
/// 64 bits, more than maxTerms terms, a product of more than maxDegree atoms.
class Extent {
public:
  static constexpr size_t maxTerms = 16;
  static constexpr unsigned maxDegree = 4;

  /// Makes a constant.
  Extent(int64_t constant = 0)
      : constant(constant) {} // NOLINT: a number is one
  /// Returns the symbol \p name.
  static Extent symbol(llvm::StringRef name);
  /// Parses what str() prints, and other expressions of integers and names
  /// with +, -, *, // and parentheses: none where the text is none, a divisor
  /// no positive constant, or it doesn't fit. The extents that \p replace gives
  /// are in the place of symbols, also in divisors.
  static std::optional<Extent>
  parse(llvm::StringRef text,
        llvm::function_ref<std::optional<Extent>(llvm::StringRef)> replace =
            nullptr);

  bool isConstant() const { return terms.empty(); }
  /// Returns the constant; none if there are terms.
  std::optional<int64_t> getConstant() const {
    return isConstant() ? std::optional(constant) : std::nullopt;
  }
  /// Returns the symbol that it is; empty if it is something else.
  llvm::StringRef getSymbol() const;
  /// Returns the distinct symbols, in their order.
  std::vector<std::string> getSymbols() const;
  /// Returns whether no symbol occurs twice: the least and the largest value
  /// are those that bound() returns then.
  bool hasEachSymbolOnce() const;

  friend std::optional<Extent> add(const Extent &a, const Extent &b);
  friend std::optional<Extent> subtract(const Extent &a, const Extent &b);
  friend std::optional<Extent> multiply(const Extent &a, const Extent &b);
  /// Returns floor(\p a / \p divisor), for a positive \p divisor.
  friend std::optional<Extent> divideDown(const Extent &a, int64_t divisor);
  /// Returns ceil(\p a / \p divisor), for a positive \p divisor.
  friend std::optional<Extent> divideUp(const Extent &a, int64_t divisor);
  /// Returns \p q with \p q * \p b = \p a as polynomials; none where there is
  /// none.
  friend std::optional<Extent> divideExactly(const Extent &a, const Extent &b);

  /// Returns the value for those of the symbols; none where one is missing or a
  /// number doesn't fit.
  std::optional<int64_t>
  evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> getValue)
      const;
  /// Returns numbers between which all values for symbols in these ranges lie,
  /// perhaps not the closest; none where a range is missing or a number doesn't
  /// fit.
  std::optional<IntRange>
  bound(llvm::function_ref<std::optional<IntRange>(llvm::StringRef)> getRange)
      const;
  /// Returns the extent with those that \p replace gives in the place of
  /// symbols.
  std::optional<Extent> substitute(
      llvm::function_ref<std::optional<Extent>(llvm::StringRef)> replace) const;

  /// Returns the extent computed by \p ops on values of any type:
  /// getConstant(number), getSymbol(name), add(x, y), multiply(x, y) and
  /// divideDown(x, divisor).
  template <typename Ops>
  auto compute(Ops &ops) const -> decltype(ops.getConstant(0));

  /// Prints `2*batch + 1`, `(height + 1)//2`, `2*'batch-size'`.
  std::string str() const;
  /// Returns the same for people, where a single symbol has no quotes.
  std::string describe() const {
    return getSymbol().empty() ? str() : getSymbol().str();
  }

  /// Whether both have the same form. Different forms may have the same values.
  friend bool operator==(const Extent &a, const Extent &b) {
    return compare(a, b) == 0;
  }
  /// Orders extents for maps.
  friend bool operator<(const Extent &a, const Extent &b) {
    return compare(a, b) < 0;
  }

private:
  struct Quotient;
  /// A symbol, which is never freed, or a quotient.
  struct Atom {
    const std::string *symbol = nullptr;
    std::shared_ptr<const Quotient> quotient;
  };
  struct Term {
    int64_t factor;
    /// Sorted; one that is there twice is squared.
    std::vector<Atom> atoms;
  };

  static int compare(const Atom &a, const Atom &b);
  static int compare(const std::vector<Atom> &a, const std::vector<Atom> &b);
  static int compare(const Extent &a, const Extent &b);
  bool addTerm(int64_t factor, const std::vector<Atom> &atoms);
  void countSymbols(std::map<std::string, unsigned> &counts) const;

  int64_t constant;
  /// Sorted, the products of most atoms first; no factor is 0.
  std::vector<Term> terms;
};

/// Returns the product of \p factors; none if it doesn't fit.
std::optional<Extent> multiplyAll(llvm::ArrayRef<Extent> factors);

/// Whether something holds for all values, for none or is not known.
enum class Certainty : uint8_t { Yes, No, Unknown };

/// The ranges of symbols, and what follows from them for extents.
class SymbolRanges {
public:
  SymbolRanges() = default;
  explicit SymbolRanges(const std::map<std::string, IntRange> &ranges)
      : ranges(ranges.begin(), ranges.end()) {}

  /// Questions are decided by trying values of up to so many combinations.
  static constexpr uint64_t maxCombinations = uint64_t(1) << 20;

  void set(llvm::StringRef symbol, IntRange range);
  std::optional<IntRange> find(llvm::StringRef symbol) const;
  bool empty() const { return ranges.empty(); }

  /// Returns numbers between which all values of \p extent lie.
  std::optional<IntRange> getRange(const Extent &extent) const;
  /// Answers whether both are the same for all values of the symbols; No means
  /// that there are values for which they are not.
  Certainty areEqual(const Extent &a, const Extent &b) const;
  /// Answers whether \p a is at most \p b for all values of the symbols.
  Certainty isAtMost(const Extent &a, const Extent &b) const;
  /// Answers whether \p extent is \p value for some values of the symbols.
  Certainty mayBe(const Extent &extent, int64_t value) const;

private:
  Certainty holdsForAll(const Extent &extent,
                        llvm::function_ref<bool(int64_t)> holds) const;

  std::map<std::string, IntRange, std::less<>> ranges;
};

/// Two extents that are taken to be equal, because an operator wants it, though
/// they are not for all values of their symbols.
struct ExtentRequirement {
  Extent a, b;
  bool operator==(const ExtentRequirement &) const = default;
};

/// floor(numerator / divisor): the divisor is at least 2, the factors and the
/// constant of the numerator are from 0 to the divisor - 1.
struct Extent::Quotient {
  Extent numerator;
  int64_t divisor;
  /// How many quotients there are in one another.
  unsigned depth;
};

template <typename Ops>
auto Extent::compute(Ops &ops) const -> decltype(ops.getConstant(0)) {
  // Neither 0 is added nor is multiplied by 1.
  using Value = decltype(ops.getConstant(0));
  std::optional<Value> sum;
  if (constant != 0 || terms.empty())
    sum = ops.getConstant(constant);
  for (const Term &term : terms) {
    std::optional<Value> all;
    if (term.factor != 1)
      all = ops.getConstant(term.factor);
    for (const Atom &atom : term.atoms) {
      Value value = atom.symbol
                        ? ops.getSymbol(*atom.symbol)
                        : ops.divideDown(atom.quotient->numerator.compute(ops),
                                         atom.quotient->divisor);
      all = all ? ops.multiply(*all, value) : value;
    }
    sum = sum ? ops.add(*sum, *all) : *all;
  }
  return *sum;
}

} // namespace glowish

#endif // GLOWISH_BASE_EXTENT_H
