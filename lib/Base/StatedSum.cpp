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
