//===- SymbolicDim.cpp - Symbolic dimensions ------------------------------===//

#include "ONNX/SymbolicDim.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

namespace {

/// Parses an expression, evaluates it as far as its symbols have values, and
/// collects their names.
class DimParser {
public:
  DimParser(llvm::StringRef text, const std::map<std::string, int64_t> &symbols)
      : rest(text), symbols(symbols) {}

  /// Parses the text and returns whether all of it is an expression.
  bool parse() {
    value = parseSum();
    rest = rest.ltrim();
    return isExpression && rest.empty();
  }

  /// The value, valid if `fault` is empty and `isComplete`.
  int64_t value = 0;
  std::vector<std::string> names;
  bool isComplete = true;
  llvm::StringRef fault;

private:
  int64_t parseSum();
  int64_t parseTerm();
  int64_t parseFactor();
  int64_t parseNumber();
  int64_t parseName();
  bool consume(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  int64_t divide(int64_t left, int64_t right);
  /// Returns \p result, and records a fault if the operation has overflown.
  int64_t check(bool hasOverflown, int64_t result) {
    if (hasOverflown)
      fault = "does not fit 64 bits";
    return result;
  }

  /// Limits the recursion for malicious input.
  static constexpr unsigned maxDepth = 32;
  llvm::StringRef rest;
  const std::map<std::string, int64_t> &symbols;
  unsigned depth = 0;
  bool isExpression = true;
};

} // namespace

int64_t DimParser::parseSum() {
  int64_t sum = parseTerm();
  while (isExpression) {
    bool isPlus = consume("+");
    if (!isPlus && !consume("-"))
      break;
    int64_t term = parseTerm(), result = 0;
    bool hasOverflown = isPlus ? llvm::AddOverflow(sum, term, result)
                               : llvm::SubOverflow(sum, term, result);
    sum = check(hasOverflown, result);
  }
  return sum;
}

int64_t DimParser::parseTerm() {
  int64_t term = parseFactor();
  while (isExpression) {
    if (consume("//")) {
      term = divide(term, parseFactor());
    } else if (consume("*")) {
      int64_t factor = parseFactor(), result = 0;
      bool hasOverflown = llvm::MulOverflow(term, factor, result);
      term = check(hasOverflown, result);
    } else {
      break;
    }
  }
  return term;
}

int64_t DimParser::divide(int64_t left, int64_t right) {
  if (right == 0) {
    // A symbol without a value is not 0.
    if (isComplete)
      fault = "divides by 0";
    return 0;
  }
  if (right == -1)
    return check(left == INT64_MIN, left == INT64_MIN ? 0 : -left);
  bool rounds = left % right != 0 && (left < 0) != (right < 0);
  return left / right - rounds;
}

int64_t DimParser::parseFactor() {
  rest = rest.ltrim();
  if (++depth > maxDepth || rest.empty()) {
    isExpression = false;
    return 0;
  }
  int64_t result = 0;
  if (consume("(")) {
    result = parseSum();
    isExpression &= consume(")");
  } else if (consume("-")) {
    int64_t factor = parseFactor();
    bool hasOverflown = llvm::SubOverflow(int64_t(0), factor, result);
    result = check(hasOverflown, result);
  } else if (llvm::isDigit(rest[0])) {
    result = parseNumber();
  } else {
    result = parseName();
  }
  --depth;
  return result;
}

int64_t DimParser::parseNumber() {
  llvm::StringRef digits = rest.take_while(llvm::isDigit);
  rest = rest.drop_front(digits.size());
  int64_t number = 0;
  bool hasOverflown = digits.getAsInteger(10, number);
  return check(hasOverflown, number);
}

int64_t DimParser::parseName() {
  llvm::StringRef name = rest.take_while(
      [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  rest = rest.drop_front(name.size());
  if (name.empty()) {
    isExpression = false;
    return 0;
  }
  if (!llvm::is_contained(names, name))
    names.push_back(name.str());
  auto found = symbols.find(name.str());
  isComplete &= found != symbols.end();
  return found == symbols.end() ? 0 : found->second;
}

llvm::Expected<std::optional<int64_t>>
glowish::evaluateDim(llvm::StringRef text,
                     const std::map<std::string, int64_t> &symbols) {
  auto found = symbols.find(text.str());
  if (found != symbols.end())
    return found->second;
  DimParser parser(text, symbols);
  if (!parser.parse() || !parser.isComplete)
    return std::nullopt;
  if (!parser.fault.empty())
    return makeError("the dimension '{0}' {1}", text, parser.fault);
  if (parser.value < 0)
    return makeError("the dimension '{0}' is {1}; at least 0 is needed", text,
                     parser.value);
  return parser.value;
}

std::vector<std::string> glowish::getDimSymbols(llvm::StringRef text) {
  static const std::map<std::string, int64_t> none;
  DimParser parser(text, none);
  if (!parser.parse())
    return {text.str()};
  return parser.names;
}
