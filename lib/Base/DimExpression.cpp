//===- DimExpression.cpp - Symbolic dimensions ----------------------------===//

#include "glowish/Base/DimExpression.h"
#include "glowish/Base/CheckedInt.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using Op = DimExpression::Op;
using Step = DimExpression::Step;

//===- Parser -------------------------------------------------------------===//

static bool isNameChar(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.';
}

namespace {

class DimParser {
public:
  explicit DimParser(llvm::StringRef text) : rest(text) {}

  /// Parses the text and returns whether all of it is an expression.
  bool parse() {
    parseSum();
    rest = rest.ltrim();
    return isExpression && rest.empty();
  }

  std::vector<Step> steps;

private:
  void parseSum();
  void parseTerm();
  void parseFactor();
  void parseNumber();
  void parseName();
  bool consume(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  /// Limits the recursion for malicious input.
  static constexpr unsigned maxDepth = 32;
  llvm::StringRef rest;
  unsigned depth = 0;
  bool isExpression = true;
};

} // namespace

void DimParser::parseSum() {
  parseTerm();
  while (isExpression) {
    bool isPlus = consume("+");
    if (!isPlus && !consume("-"))
      break;
    parseTerm();
    steps.push_back({isPlus ? Op::Add : Op::Subtract});
  }
}

void DimParser::parseTerm() {
  parseFactor();
  while (isExpression) {
    bool divides = consume("//");
    if (!divides && !consume("*"))
      break;
    parseFactor();
    steps.push_back({divides ? Op::Divide : Op::Multiply});
  }
}

void DimParser::parseFactor() {
  rest = rest.ltrim();
  if (++depth > maxDepth || rest.empty()) {
    isExpression = false;
    return;
  }
  if (consume("(")) {
    parseSum();
    isExpression &= consume(")");
  } else if (consume("-")) {
    parseFactor();
    steps.push_back({Op::Negate});
  } else if (llvm::isDigit(rest[0])) {
    parseNumber();
  } else {
    parseName();
  }
  --depth;
}

void DimParser::parseNumber() {
  llvm::StringRef decimal = rest.take_while(llvm::isDigit);
  rest = rest.drop_front(decimal.size());
  int64_t number = 0;
  bool fits = !decimal.getAsInteger(10, number);
  steps.push_back(
      {Op::Number, fits ? std::optional<int64_t>(number) : std::nullopt});
}

void DimParser::parseName() {
  if (consume("'")) {
    auto [name, behind] = rest.split('\'');
    isExpression &= name.size() < rest.size() && !name.empty();
    rest = behind;
    steps.push_back({Op::Symbol, {}, name.str()});
    return;
  }
  llvm::StringRef name = rest.take_while(isNameChar);
  rest = rest.drop_front(name.size());
  isExpression &= !name.empty();
  steps.push_back({Op::Symbol, {}, name.str()});
}

std::optional<DimExpression> DimExpression::parse(llvm::StringRef text) {
  DimParser parser(text);
  if (!parser.parse())
    return std::nullopt;
  DimExpression expression;
  expression.steps = std::move(parser.steps);
  return expression;
}

std::vector<std::string> DimExpression::getSymbols() const {
  std::vector<std::string> symbols;
  for (const Step &step : steps)
    if (step.op == Op::Symbol && !llvm::is_contained(symbols, step.symbol))
      symbols.push_back(step.symbol);
  return symbols;
}

std::vector<std::string> glowish::getDimSymbols(llvm::StringRef text) {
  std::optional<DimExpression> expression = DimExpression::parse(text);
  return expression ? expression->getSymbols() : std::vector{text.str()};
}

//===- Evaluation ---------------------------------------------------------===//

namespace {

/// Computes with integers, and remembers the first fault.
struct CheckedArithmetic {
  llvm::StringRef fault;

  int64_t check(CheckedInt result) {
    if (!result.get())
      fault = "does not fit 64 bits";
    return result.get().value_or(0);
  }
  int64_t apply(Op op, int64_t x, int64_t y) {
    switch (op) {
    case Op::Add:
      return check(CheckedInt(x) + y);
    case Op::Multiply:
      return check(CheckedInt(x) * y);
    case Op::Divide:
      if (y != 0)
        return check(divideDown(x, y));
      fault = "divides by 0";
      return 0;
    default:
      return check(CheckedInt(x) - y);
    }
  }

  /// The largest and the smallest result lie where the operands are the largest
  /// or the smallest: all operations are monotonic in each of them.
  IntRange apply(Op op, IntRange x, IntRange y) {
    if (op == Op::Divide && (x.low < 0 || y.low <= 0)) {
      fault = "may divide a negative number, or not by a positive one";
      return {0, 0};
    }
    int64_t results[] = {apply(op, x.low, y.low), apply(op, x.low, y.high),
                         apply(op, x.high, y.low), apply(op, x.high, y.high)};
    auto [low, high] =
        std::minmax_element(std::begin(results), std::end(results));
    return {*low, *high};
  }
};

} // namespace

/// Evaluates \p expression on values of type T. \p lookup returns that of a
/// symbol; all have one.
template <typename T, typename LookupFn>
static T evaluate(const DimExpression &expression,
                  CheckedArithmetic &arithmetic, LookupFn lookup,
                  T (*makeNumber)(int64_t)) {
  std::vector<T> stack;
  auto pop = [&] {
    T top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const Step &step : expression.getSteps()) {
    if (step.op == Op::Number) {
      stack.push_back(makeNumber(arithmetic.check(step.number)));
    } else if (step.op == Op::Symbol) {
      stack.push_back(lookup(step.symbol));
    } else if (step.op == Op::Negate) {
      stack.push_back(arithmetic.apply(Op::Subtract, makeNumber(0), pop()));
    } else {
      T right = pop();
      stack.push_back(arithmetic.apply(step.op, pop(), right));
    }
    if (!arithmetic.fault.empty())
      return makeNumber(0);
  }
  return stack.back();
}

/// Evaluates \p text on values of type T; nothing if it is no expression of
/// \p symbols.
template <typename T>
static llvm::Expected<std::optional<T>>
evaluateText(llvm::StringRef text, const std::map<std::string, T> &symbols,
             T (*makeNumber)(int64_t)) {
  auto whole = symbols.find(text.str());
  if (whole != symbols.end())
    return whole->second;
  std::optional<DimExpression> expression = DimExpression::parse(text);
  if (!expression ||
      !llvm::all_of(expression->getSymbols(), [&](const std::string &symbol) {
        return symbols.count(symbol) != 0;
      }))
    return std::nullopt;
  CheckedArithmetic arithmetic;
  T value = evaluate<T>(
      *expression, arithmetic,
      [&](const std::string &symbol) { return symbols.at(symbol); },
      makeNumber);
  if (!arithmetic.fault.empty())
    return makeError("the dimension '{0}' {1}", text, arithmetic.fault);
  return value;
}

llvm::Expected<std::optional<int64_t>>
glowish::evaluateDim(llvm::StringRef text,
                     const std::map<std::string, int64_t> &symbols) {
  auto value = evaluateText<int64_t>(text, symbols,
                                     [](int64_t number) { return number; });
  if (value && *value && **value < 0)
    return makeError("the dimension '{0}' is {1}; at least 0 is needed", text,
                     **value);
  return value;
}

llvm::Expected<std::optional<IntRange>>
glowish::boundDim(llvm::StringRef text,
                  const std::map<std::string, IntRange> &symbols) {
  auto range =
      evaluateText<IntRange>(text, symbols, [](int64_t number) -> IntRange {
        return {number, number};
      });
  if (range && *range && (*range)->low < 0)
    return makeError("the dimension '{0}' may be {1}; at least 0 is needed",
                     text, (*range)->low);
  return range;
}
