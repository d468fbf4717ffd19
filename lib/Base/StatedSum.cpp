//===- StatedSum.cpp - Numbers that each run states -----------------------===//

#include "glowish/Base/StatedSum.h"

using namespace glowish;

StatedSum glowish::operator+(const StatedSum &a, const StatedSum &b) {
  StatedSum sum = a;
  sum.constant += b.constant;
  for (const auto &[symbol, factor] : b.factors)
    if ((sum.factors[symbol] += factor) == 0)
      sum.factors.erase(symbol);
  return sum;
}

StatedSum glowish::operator*(const StatedSum &sum, int64_t factor) {
  StatedSum multiple{sum.constant * factor};
  if (factor != 0)
    for (const auto &[symbol, own] : sum.factors)
      multiple.factors[symbol] = own * factor;
  return multiple;
}

std::string glowish::printDim(const StatedSum &sum) {
  std::string text;
  auto addTerm = [&](int64_t number, const std::string &symbol) {
    bool isFirst = text.empty();
    text += number < 0 ? (isFirst ? "-" : " - ") : (isFirst ? "" : " + ");
    uint64_t size = number < 0 ? -uint64_t(number) : uint64_t(number);
    if (symbol.empty() || size != 1)
      text += std::to_string(size) + (symbol.empty() ? "" : "*");
    text += symbol;
  };
  for (const auto &[symbol, factor] : sum.factors)
    addTerm(factor, symbol);
  if (sum.constant != 0 || text.empty())
    addTerm(sum.constant, "");
  return text;
}

/// The value of \p step with the operands \p left, unless it has one, and
/// \p right; null if that is no sum.
static std::optional<StatedSum>
apply(DimExpression::Op op, const StatedSum &left, const StatedSum &right) {
  using Op = DimExpression::Op;
  switch (op) {
  case Op::Add:
    return left + right;
  case Op::Subtract:
    return left + right * -1;
  case Op::Negate:
    return right * -1;
  case Op::Multiply:
    if (left.factors.empty())
      return right * left.constant;
    if (right.factors.empty())
      return left * right.constant;
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<StatedSum> glowish::parseDim(llvm::StringRef text) {
  using Op = DimExpression::Op;
  std::optional<DimExpression> expression = DimExpression::parse(text);
  if (!expression)
    return std::nullopt;
  std::vector<StatedSum> stack;
  auto take = [&] {
    StatedSum sum = stack.back();
    stack.pop_back();
    return sum;
  };
  for (const DimExpression::Step &step : expression->getSteps()) {
    std::optional<StatedSum> sum;
    if (step.op == Op::Symbol) {
      sum = StatedSum{0, {{step.symbol, 1}}};
    } else if (step.op == Op::Number) {
      if (step.number)
        sum = StatedSum{*step.number};
    } else {
      StatedSum right = take();
      sum = apply(step.op, step.op == Op::Negate ? StatedSum() : take(), right);
    }
    if (!sum)
      return std::nullopt;
    stack.push_back(*sum);
  }
  return stack.back();
}

std::optional<IntRange>
glowish::getRange(const StatedSum &sum,
                  const std::map<std::string, IntRange> &symbols) {
  IntRange range{sum.constant, sum.constant};
  for (const auto &[symbol, factor] : sum.factors) {
    auto found = symbols.find(symbol);
    if (found == symbols.end())
      return std::nullopt;
    auto [low, high] = found->second;
    range.low += factor * (factor > 0 ? low : high);
    range.high += factor * (factor > 0 ? high : low);
  }
  return range;
}
