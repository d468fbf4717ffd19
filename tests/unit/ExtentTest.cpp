//===- ExtentTest.cpp - Extents of dimensions -----------------------------===//
//
// Random expressions, built by the class and evaluated beside it.
//
//===----------------------------------------------------------------------===//

#include "glowish/Base/Extent.h"
#include "glowish/Support/Random.h"
#include "gtest/gtest.h"
#include <functional>
#include <limits>

using namespace glowish;

namespace {

constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
constexpr int64_t highest = std::numeric_limits<int64_t>::max();

Extent parse(llvm::StringRef text) {
  std::optional<Extent> extent = Extent::parse(text);
  EXPECT_TRUE(extent) << text.str();
  return extent.value_or(Extent());
}

/// The values of the symbols a, b and c.
using Values = std::array<int64_t, 3>;

std::optional<int64_t> evaluate(const Extent &extent, const Values &values) {
  return extent.evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
    return values[size_t(symbol[0] - 'a')];
  });
}

int64_t roundDown(int64_t x, int64_t divisor) {
  int64_t quotient = x / divisor;
  return quotient * divisor > x ? quotient - 1 : quotient;
}

/// An expression, its text and what it is by definition.
struct Expression {
  std::optional<Extent> extent;
  std::string text;
  std::function<int64_t(const Values &)> get;
};

int64_t pick(Random &random, int64_t low, int64_t high) {
  return low + int64_t(random.below(uint32_t(high - low + 1)));
}

Expression makeLeaf(Random &random) {
  if (random.below(2)) {
    auto index = size_t(random.below(3));
    std::string name(1, char('a' + index));
    return {Extent::symbol(name), name,
            [=](const Values &values) { return values[index]; }};
  }
  int64_t number = pick(random, -6, 6);
  return {Extent(number), "(" + std::to_string(number) + ")",
          [=](const Values &) { return number; }};
}

Expression makeExpression(Random &random, unsigned depth) {
  if (depth == 0 || random.below(6) == 0)
    return makeLeaf(random);
  Expression x = makeExpression(random, depth - 1);
  auto getX = x.get;
  std::string text = "(" + x.text + ")";
  unsigned op = random.below(5);
  if (op >= 3) {
    int64_t divisor = pick(random, 1, 6), added = op == 4 ? divisor - 1 : 0;
    std::optional<Extent> quotient;
    if (x.extent)
      quotient = op == 4 ? divideUp(*x.extent, divisor)
                         : divideDown(*x.extent, divisor);
    return {quotient,
            "(" + text + " + " + std::to_string(added) + ")//" +
                std::to_string(divisor),
            [=](const Values &values) {
              return roundDown(getX(values) + added, divisor);
            }};
  }
  Expression y = makeExpression(random, depth - 1);
  auto getY = y.get;
  bool areThere = x.extent && y.extent;
  text += std::array{" + (", " - (", "*("}[op] + y.text + ")";
  if (op == 0)
    return {areThere ? add(*x.extent, *y.extent) : std::nullopt, text,
            [=](const Values &v) { return getX(v) + getY(v); }};
  if (op == 1)
    return {areThere ? subtract(*x.extent, *y.extent) : std::nullopt, text,
            [=](const Values &v) { return getX(v) - getY(v); }};
  return {areThere ? multiply(*x.extent, *y.extent) : std::nullopt, text,
          [=](const Values &v) { return getX(v) * getY(v); }};
}

/// Calls \p visit with all values from \p low to \p high.
void forEachValues(int64_t low, int64_t high,
                   llvm::function_ref<void(const Values &)> visit) {
  for (int64_t a = low; a <= high; ++a)
    for (int64_t b = low; b <= high; ++b)
      for (int64_t c = low; c <= high; ++c)
        visit({a, b, c});
}

SymbolRanges getRanges(int64_t low, int64_t high) {
  SymbolRanges ranges;
  for (const char *symbol : {"a", "b", "c"})
    ranges.set(symbol, {low, high});
  return ranges;
}

} // namespace

/// Values, text in both directions, bounds and exact quotients.
TEST(Extent, RandomExpressions) {
  Random random(1);
  unsigned found = 0;
  constexpr unsigned numExpressions = 100000;
  for (unsigned i = 0; i < numExpressions; ++i) {
    Expression e = makeExpression(random, 1 + random.below(5));
    if (!e.extent)
      continue;
    ++found;
    std::string text = e.extent->str();
    EXPECT_EQ(Extent::parse(text), e.extent) << text;
    EXPECT_EQ(parse(e.text), *e.extent) << e.text;
    std::optional<IntRange> range = getRanges(-1, 2).getRange(*e.extent);
    int64_t least = highest, most = lowest;
    forEachValues(-1, 2, [&](const Values &values) {
      int64_t value = e.get(values);
      ASSERT_EQ(evaluate(*e.extent, values), value) << e.text << ": " << text;
      least = std::min(least, value);
      most = std::max(most, value);
    });
    Values far;
    for (int64_t &value : far)
      value = pick(random, -1000, 1000);
    ASSERT_EQ(evaluate(*e.extent, far), e.get(far)) << e.text << ": " << text;
    ASSERT_TRUE(range) << text;
    EXPECT_LE(range->low, least) << text;
    EXPECT_GE(range->high, most) << text;
    if (e.extent->hasEachSymbolOnce())
      EXPECT_EQ(*range, (IntRange{least, most})) << text;
    Expression divisor = makeExpression(random, 2);
    if (!divisor.extent || *divisor.extent == Extent())
      continue;
    if (auto whole = multiply(*e.extent, *divisor.extent))
      EXPECT_EQ(divideExactly(*whole, *divisor.extent), e.extent)
          << text << " by " << divisor.extent->str();
  }
  EXPECT_GT(found, numExpressions * 9 / 10);
}

/// Terms and factors have one form, in whatever order they come together.
TEST(Extent, OrderOfTerms) {
  Random random(3);
  auto shuffle = [&](auto &values) {
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[random.below(i)]);
  };
  auto sum = [](const std::vector<Extent> &terms) {
    std::optional<Extent> all = Extent();
    for (const Extent &term : terms)
      all = all ? add(*all, term) : std::nullopt;
    return all;
  };
  unsigned found = 0;
  for (unsigned i = 0; i < 5000; ++i) {
    std::vector<Extent> terms, halves[2];
    for (uint64_t count = 2 + random.below(5); count > 0; --count)
      if (Expression e = makeExpression(random, 2); e.extent)
        terms.push_back(*e.extent);
    std::optional<Extent> first = sum(terms);
    shuffle(terms);
    std::optional<Extent> second = sum(terms);
    for (const Extent &term : terms)
      halves[random.below(2)].push_back(term);
    std::optional<Extent> left = sum(halves[0]), right = sum(halves[1]);
    if (!first || !second || !left || !right)
      continue;
    ++found;
    std::string text = first->str();
    EXPECT_EQ(second->str(), text);
    std::optional<Extent> both = add(*right, *left);
    ASSERT_TRUE(both) << text;
    EXPECT_EQ(both->str(), text);
    ASSERT_TRUE(Extent::parse(text)) << text;
    EXPECT_EQ(Extent::parse(text)->str(), text);
  }
  EXPECT_GT(found, 4000u);
}

/// What answers say is so for all values.
TEST(Extent, Answers) {
  Random random(2);
  SymbolRanges ranges = getRanges(0, 4);
  for (unsigned i = 0; i < 3000; ++i) {
    Expression x = makeExpression(random, 3), y = makeExpression(random, 2);
    if (!x.extent || !y.extent)
      continue;
    bool areEqual = true, isAtMost = true, isThree = false;
    forEachValues(0, 4, [&](const Values &values) {
      areEqual &= x.get(values) == y.get(values);
      isAtMost &= x.get(values) <= y.get(values);
      isThree |= x.get(values) == 3;
    });
    auto check = [&](Certainty answer, bool expected, const char *what) {
      EXPECT_EQ(answer, expected ? Certainty::Yes : Certainty::No)
          << what << ": " << x.text << " and " << y.text;
    };
    check(ranges.areEqual(*x.extent, *y.extent), areEqual, "equal");
    check(ranges.isAtMost(*x.extent, *y.extent), isAtMost, "at most");
    check(ranges.mayBe(*x.extent, 3), isThree, "may be");
  }
}

TEST(Extent, OneForm) {
  const std::pair<const char *, const char *> cases[] = {
      {"b + a", "a + b"},
      {"2*(N + 1) - N", "N + 2"},
      {"(N + M)*(N - M)", "M*M*-1 + N*N"},
      {"-M*M + N*N", "-1*M*M + N*N"},
      {"(2*N + 1)//2", "N"},
      {"(4*N + 6*M)//8", "(3*M + 2*N)//4"},
      {"(N - 1)//2 + 1", "(N + 1)//2"},
      {"(N//2)//3", "N//6"},
      {"((N + 1)//2 + 1)//2", "(N + 3)//4"},
      {"(5*N)//3", "(2*N)//3 + N"},
      {"N - 2*(N//2)", "N - (N//2)*2"},
      {"'batch size'*2", "2*'batch size'"},
      {"3*(N//2)", "(N//2)*3"},
  };
  for (auto [text, other] : cases)
    EXPECT_EQ(parse(text), parse(other)) << text << ": " << parse(text).str();
  EXPECT_EQ(parse("1 + (height + 1)//2*3 - past").str(),
            "-past + 3*((height + 1)//2) + 1");
  EXPECT_EQ(parse("'batch size' + '1st'").str(), "'1st' + 'batch size'");
  EXPECT_EQ(Extent(lowest).str(), "-9223372036854775808");
}

TEST(Extent, NoneBeyondTheBorders) {
  EXPECT_EQ(add(Extent(highest), Extent(1)), std::nullopt);
  EXPECT_EQ(subtract(Extent(), Extent(lowest)), std::nullopt);
  for (const char *text :
       {"9223372036854775807 + 1", "x*9223372036854775807*2",
        "-9223372036854775807 - x - 2", "9223372036854775808 + x", "x//0",
        "x//-2", "x//y", "a*b*c*d*e", "'x", "''", "x +",
        "(a + b + c + d)*"
        "(e + f + g + h + i)"})
    EXPECT_EQ(Extent::parse(text), std::nullopt) << text;
  EXPECT_EQ(parse("-9223372036854775807 - 1"), Extent(lowest));
  SymbolRanges ranges;
  ranges.set("x", {1, int64_t(1) << 32});
  EXPECT_EQ(ranges.getRange(parse("1 - 3*x")),
            (IntRange{1 - (int64_t(3) << 32), -2}));
  EXPECT_EQ(ranges.getRange(parse("2147483648*x")), std::nullopt);
  EXPECT_EQ(ranges.getRange(parse("x + y")), std::nullopt);
  EXPECT_EQ(
      parse("x*x").evaluate([](llvm::StringRef) -> std::optional<int64_t> {
        return int64_t(1) << 32;
      }),
      std::nullopt);
}

/// Equalities that no rule of arithmetic says are found by trying values.
TEST(Extent, EqualForAllValues) {
  SymbolRanges ranges;
  ranges.set("N", {1, 1});
  ranges.set("M", {0, 1});
  ranges.set("L", {0, int64_t(1) << 40});
  EXPECT_EQ(ranges.areEqual(parse("N"), Extent(1)), Certainty::Yes);
  EXPECT_EQ(ranges.areEqual(parse("M*M"), parse("M")), Certainty::Yes);
  EXPECT_EQ(ranges.areEqual(parse("L*L"), parse("L")), Certainty::Unknown);
  EXPECT_EQ(ranges.areEqual(parse("L"), parse("L + 1")), Certainty::No);
  EXPECT_EQ(ranges.mayBe(parse("2*L"), 3), Certainty::Unknown);
  EXPECT_EQ(ranges.isAtMost(parse("L//2"), parse("L")), Certainty::Unknown);
}

/// A replacement has the form that it would have been built with.
TEST(Extent, Substitute) {
  auto replace = [](llvm::StringRef symbol) -> std::optional<Extent> {
    if (symbol == "N")
      return Extent::parse("2*M + 1");
    if (symbol == "K")
      return Extent(7);
    return std::nullopt;
  };
  EXPECT_EQ(parse("(N + 1)//2 + K*L").substitute(replace),
            parse("M + 1 + 7*L"));
  EXPECT_EQ(parse("N*K").substitute(replace), parse("14*M + 7"));
  EXPECT_EQ(parse("K//2").substitute(replace), Extent(3));
  EXPECT_EQ(Extent::parse("(N + 1)//K + 'K N' - 'K'", replace),
            parse("(2*M + 2)//7 + 'K N' - 7"));
  EXPECT_EQ(Extent::parse("K//N", replace), std::nullopt);
}
