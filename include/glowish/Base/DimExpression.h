//===- DimExpression.h - Symbolic dimensions --------------------*- C++ -*-===//

#ifndef GLOWISH_BASE_DIMEXPRESSION_H
#define GLOWISH_BASE_DIMEXPRESSION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace glowish {

/// A dimension as exporters write it: a symbol, or an expression of symbols
/// ("2*batch", "(height + 1)//2") with integers, + - * // and parentheses; //
/// rounds down. A symbol whose name is no identifier stands between ' and '.
class DimExpression {
public:
  enum class Op : uint8_t {
    Number,
    Symbol,
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate
  };
  /// Numbers and symbols put a value on a stack; the others replace the one or
  /// two values on top by their result.
  struct Step {
    Op op;
    /// Op::Number; nothing if it does not fit 64 bits.
    std::optional<int64_t> number = {};
    /// Op::Symbol.
    std::string symbol = {};
  };

  /// Returns nothing if \p text is no expression.
  static std::optional<DimExpression> parse(llvm::StringRef text);

  llvm::ArrayRef<Step> getSteps() const { return steps; }
  /// The distinct symbols, in order.
  std::vector<std::string> getSymbols() const;

private:
  std::vector<Step> steps;
};

/// All integers from `low` to `high`.
struct IntRange {
  int64_t low, high;
  bool operator==(const IntRange &) const = default;
};

/// Evaluates the dimension \p text. Returns nothing if a symbol is not in
/// \p symbols or the text is no expression. A division by 0, a negative result
/// or an overflow is an error. A symbol may have the whole text as its name.
llvm::Expected<std::optional<int64_t>>
evaluateDim(llvm::StringRef text,
            const std::map<std::string, int64_t> &symbols);

/// The same of symbols of which bounds are known; the result contains all
/// values that \p text may have. It is an error if they may be negative, or if
/// a division may have a negative operand or the divisor 0.
llvm::Expected<std::optional<IntRange>>
boundDim(llvm::StringRef text, const std::map<std::string, IntRange> &symbols);

/// Returns the distinct names in the expression \p text, in order, or \p text
/// if it is no expression.
std::vector<std::string> getDimSymbols(llvm::StringRef text);

} // namespace glowish

#endif // GLOWISH_BASE_DIMEXPRESSION_H
