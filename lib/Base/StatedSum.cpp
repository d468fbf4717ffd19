//===- StatedSum.cpp - Numbers that each run states -----------------------===//

#include "glowish/Base/StatedSum.h"
#include "glowish/Base/CheckedInt.h"

using namespace glowish;

/// Adds \p factor * \p other to \p number, and returns whether that fits.
static bool addTo(int64_t &number, int64_t other, int64_t factor) {
  std::optional<int64_t> sum = (CheckedInt(other) * factor + number).get();
  number = sum.value_or(number);
  return sum.has_value();
}

std::optional<StatedSum>
glowish::addMultiple(const StatedSum &a, const StatedSum &b, int64_t factor) {
  StatedSum sum = a;
  if (!addTo(sum.constant, b.constant, factor))
    return std::nullopt;
  for (const auto &[symbol, other] : b.factors) {
    int64_t &own = sum.factors[symbol];
    if (!addTo(own, other, factor))
      return std::nullopt;
    if (own == 0)
      sum.factors.erase(symbol);
  }
  return sum;
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
    return addMultiple(left, right);
  case Op::Subtract:
    return addMultiple(left, right, -1);
  case Op::Negate:
    return addMultiple({}, right, -1);
  case Op::Multiply:
    if (left.factors.empty())
      return addMultiple({}, right, left.constant);
    if (right.factors.empty())
      return addMultiple({}, left, right.constant);
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
    if (factor < 0)
      std::swap(low, high);
    if (!addTo(range.low, low, factor) || !addTo(range.high, high, factor))
      return std::nullopt;
  }
  return range;
}
