//===- ExtentRulesTest.cpp - Extents of the results of nodes --------------===//
//
// Nodes with random extents: what the extent rules infer is, for all values of
// the symbols, what the type rules infer of the shapes with these values.
//
//===----------------------------------------------------------------------===//

#include "ExtentCases.h"
#include "ExtentTemplates.h"
#include "InferTypes.h"

using namespace glowish;
using Values = ExtentValues;

namespace {

void forEachValues(llvm::function_ref<void(const Values &)> visit) {
  auto get = [](const char *symbol) {
    return getExtentCaseRanges().find(symbol)->second;
  };
  for (int64_t n = get("N").low; n <= get("N").high; ++n)
    for (int64_t m = get("M").low; m <= get("M").high; ++m)
      for (int64_t l = get("L").low; l <= get("L").high; ++l)
        visit({{"N", n}, {"M", m}, {"L", l}});
}

bool hold(llvm::ArrayRef<ExtentRequirement> requirements,
          const Values &values) {
  return llvm::all_of(requirements, [&](const ExtentRequirement &required) {
    return evaluate(required.a, values) == evaluate(required.b, values);
  });
}

/// What became of a case.
struct Outcome {
  bool isRefused = false;
  /// For so many values the result was compared.
  unsigned numCompared = 0;
};

/// Whether a static node is refused because nothing would be computed. With
/// extents it has a result, of which there is nothing or which nothing reads.
bool isOfNothing(llvm::StringRef message) {
  return llvm::any_of(
      llvm::ArrayRef({"there is nothing", "there is no ", "does not fit",
                      "has no elements", "have no pixels"}),
      [&](const char *part) { return message.contains(part); });
}

/// Compares what is inferred of \p text with extents with what is for all
/// values.
Outcome check(const std::string &text) {
  Outcome outcome;
  llvm::Expected<std::string> bounds = inferOrFail(makeBounds(text));
  if (!bounds) {
    llvm::consumeError(bounds.takeError());
    outcome.isRefused = true;
    return outcome;
  }
  llvm::Expected<Inferred> open =
      inferWithExtents(makeOpen(text), SymbolRanges(getExtentCaseRanges()));
  if (!open) {
    std::string message = llvm::toString(open.takeError());
    EXPECT_TRUE(llvm::StringRef(message).contains("dimension") ||
                llvm::StringRef(message).contains("decides an extent"))
        << text << ": " << message;
    outcome.isRefused = true;
    return outcome;
  }
  std::string openTypes = printTypes(open->types);
  forEachValues([&](const Values &values) {
    if (!hold(open->requirements, values))
      return;
    llvm::Expected<std::string> expected =
        inferOrFail(makeStatic(text, values));
    if (!expected) {
      std::string message = llvm::toString(expected.takeError());
      EXPECT_TRUE(isOfNothing(message))
          << text << " as " << makeStatic(text, values) << ": " << message
          << ", not " << openTypes;
      return;
    }
    ++outcome.numCompared;
    EXPECT_EQ(makeStatic(openTypes, values), *expected)
        << text << " is " << openTypes;
  });
  return outcome;
}

/// Most cases of a kind have results, and all these are right.
void checkKind(const std::string &name, const MakeCase &make) {
  constexpr unsigned numCases = 60;
  Random random(name.size());
  unsigned numRefused = 0, numCompared = 0;
  for (unsigned i = 0; i < numCases; ++i) {
    Outcome outcome = check(make(random));
    numRefused += outcome.isRefused;
    numCompared += outcome.numCompared;
  }
  EXPECT_LT(numRefused, numCases * 9 / 10) << name;
  EXPECT_GT(numCompared, numCases) << name;
}

//===- Tests --------------------------------------------------------------===//

TEST(ExtentRules, AllRecordsHaveACase) {
  const auto &cases = getExtentCases();
  size_t numFound = 0;
  for (const OpInfo &info : getNodeTable()) {
    if (!info.inferExtents || info.scalarOp)
      continue;
    bool isFound = cases.count(info.name.str());
    EXPECT_TRUE(isFound) << info.name.str() << " has an extent rule";
    numFound += isFound;
  }
  EXPECT_EQ(numFound, cases.size());
}

TEST(ExtentRules, AgreeWithTypeRules) {
  for (const auto &[name, make] : getExtentCases())
    checkKind(name, make);
}

TEST(ExtentRules, ElementWiseAgreeWithTypeRules) {
  for (const OpInfo &info : getNodeTable())
    if (info.scalarOp && info.inferExtents) {
      Random random(1);
      unsigned numCompared = 0;
      for (unsigned i = 0; i < 30; ++i)
        numCompared += check(makeElementWiseCase(random, info)).numCompared;
      EXPECT_GT(numCompared, 30u) << info.name.str();
    }
}

/// All sizes, kernels, strides, dilations and pads.
TEST(ExtentRules, Windows) {
  constexpr int64_t largest = 64;
  SymbolRanges symbols;
  symbols.set("H", {0, largest});
  unsigned numAccepted = 0, numCompared = 0;
  auto checkWindow = [&](const Window &window) {
    std::string text = "MaxPool(float<1x64{H}x1x1>) {kernels = " +
                       makeNumbers({window.kernel, 1}) + ", " +
                       makeWindowAttrs(window, {1, 1, 0, 0, 1}) + "}";
    // The least size of which there is a window.
    int64_t least =
        std::max<int64_t>(window.getReach() - window.before - window.after, 0);
    if (least > largest)
      return;
    symbols.set("H", {least, largest});
    ParsedOp op = llvm::cantFail(parseOp(text));
    Inferred open = llvm::cantFail(inferWithExtents(text, symbols));
    EXPECT_TRUE(open.requirements.empty());
    ++numAccepted;
    for (int64_t size = 0; size <= largest; ++size) {
      Type actual(ElemKind::Float, {1, size, 1, 1});
      const Type *own[] = {&actual};
      llvm::Expected<TypeList> expected =
          op.info->inferTypes(OpView(*op.info, own, {}, op.attrs));
      EXPECT_EQ(bool(expected), size >= least) << text << " " << size;
      if (!expected) {
        llvm::consumeError(expected.takeError());
        continue;
      }
      const Type &type = open.types.front();
      const Extent *extent = type.getExtent(1);
      int64_t result =
          extent ? *evaluate(*extent, {{"H", size}}) : type.getDim(1);
      ASSERT_EQ(result, expected->front().getDim(1)) << text << " " << size;
      ++numCompared;
    }
  };
  for (int64_t kernel : {1, 2, 3, 5, 7})
    for (int64_t stride : {1, 2, 3, 4, 7})
      for (int64_t dilation : {1, 2, 3})
        for (int64_t before : {0, 1, 3})
          for (int64_t after : {0, 1, 2, 4})
            checkWindow({kernel, stride, before, after, dilation});
  EXPECT_EQ(numAccepted, 5u * 5 * 3 * 3 * 4);
  EXPECT_GT(numCompared, 40000u);
}

} // namespace
