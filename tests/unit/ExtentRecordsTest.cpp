//===- ExtentRecordsTest.cpp - Nodes with random extents, compiled --------===//
//
// The cases of all records with extent rules (ExtentCases.h), between
// transposes, as programs of both back ends.
//
//===----------------------------------------------------------------------===//

#include "ExtentCases.h"
#include "ExtentGraphs.h"
#include "InferTypes.h"

using namespace glowish;

namespace {

/// A type of a template: a kind and dimensions, each a text.
struct TypeText {
  std::string kind;
  std::vector<std::string> dims;

  std::string str() const { return kind + "<" + llvm::join(dims, "x") + ">"; }
};

/// Parses `float<2x6{N}x5>`.
TypeText splitType(llvm::StringRef text) {
  auto [kind, rest] = text.split('<');
  TypeText type{kind.str(), {}};
  bool isExtent = false, isNew = true;
  for (char c : rest.drop_back()) {
    if (!isExtent && c == 'x') {
      isNew = true;
      continue;
    }
    if (std::exchange(isNew, false))
      type.dims.emplace_back();
    type.dims.back() += c;
    isExtent = c == '{' || (isExtent && c != '}');
  }
  return type;
}

std::vector<int64_t> makePermutation(size_t rank, Random &random) {
  std::vector<int64_t> permutation;
  for (size_t d = 0; d < rank; ++d)
    permutation.insert(permutation.begin() + int64_t(random.below(d + 1)),
                       int64_t(d));
  return permutation;
}

/// Returns the operands of \p text, `Add(float<3>, none)`.
std::vector<std::string> splitOperands(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  // Extents may have parentheses, and no operand has a comma.
  llvm::StringRef list = text.slice(text.find('(') + 1, text.rfind(") {"));
  if (!text.contains(") {"))
    list = text.slice(text.find('(') + 1, text.rfind(')'));
  list.split(parts, ", ");
  return {parts.begin(), parts.end()};
}

/// Returns a graph of the node \p text, whose operands and result \p result are
/// transposed.
ExtentGraph makeGraph(llvm::StringRef text, const Inferred &inferred,
                      Random &random) {
  ExtentGraph graph;
  std::map<size_t, std::vector<int64_t>> permutations;
  auto getPermutation = [&](size_t rank) -> const std::vector<int64_t> & {
    auto [found, isNew] = permutations.try_emplace(rank);
    if (isNew)
      found->second = makePermutation(rank, random);
    return found->second;
  };
  std::string operands;
  for (const std::string &operand : splitOperands(text)) {
    operands += operands.empty() ? "" : ", ";
    if (operand == "none") {
      operands += operand;
      continue;
    }
    TypeText type = splitType(operand), given = type;
    std::string name(1, char('a' + graph.inputs.size()));
    const auto &permutation = getPermutation(type.dims.size());
    for (auto [d, from] : llvm::enumerate(permutation))
      given.dims[size_t(from)] = type.dims[d];
    graph.inputs.push_back(given.str());
    graph.nodes += "%t" + name + " = Transpose(%" + name +
                   ") {permutation = " + makeNumbers(permutation) + "}\n";
    operands += "%t" + name;
  }
  size_t begin = text.find('('), end = text.rfind(") {");
  if (end == llvm::StringRef::npos)
    end = text.rfind(')');
  bool isOne = inferred.types.size() == 1;
  graph.nodes +=
      (isOne ? "%s = "
             : "%s:" + std::to_string(inferred.types.size()) + " = ") +
      text.take_front(begin + 1).str() + operands + text.drop_front(end).str() +
      "\n";
  TypeText result = splitType(inferred.types[0].str()), taken = result;
  const auto &permutation = getPermutation(result.dims.size());
  for (auto [d, from] : llvm::enumerate(permutation))
    taken.dims[d] = result.dims[size_t(from)];
  graph.nodes += std::string("%r = Transpose(%s") + (isOne ? "" : ":0") +
                 ") {permutation = " + makeNumbers(permutation) + "}";
  for (std::string &dim : taken.dims)
    if (size_t open = dim.find('{'); open != std::string::npos)
      dim.insert(open, "?");
  graph.result = taken.str();
  return graph;
}

/// Integers of unsigned kinds are not negative.
Tensor makeElements(llvm::StringRef, const Type &type, uint64_t seed,
                    const ExtentValues &) {
  Tensor tensor = makeRandom(type, seed);
  if (!isFloatKind(type.getKind()) && !isSignedIntegerKind(type.getKind()))
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      tensor.setFromDouble(i, std::abs(double(i * 37 % 11) - 4));
  return tensor;
}

/// Returns values of the symbols, of which \p isRight of some.
std::vector<ExtentValues>
chooseRuns(llvm::function_ref<bool(const ExtentValues &)> isRight,
           Random &random) {
  std::vector<ExtentValues> runs;
  for (unsigned i = 0; i < 40 && runs.size() < 4; ++i) {
    ExtentValues values;
    for (const auto &[symbol, range] : getExtentCaseRanges())
      values[symbol] =
          range.low +
          int64_t(random.below(uint64_t(range.high - range.low + 1)));
    // Nothing, too.
    if (i == 0)
      values["N"] = 0;
    if (isRight(values) && !llvm::is_contained(runs, values))
      runs.push_back(values);
  }
  return runs;
}

/// Compares a case; returns whether there was a program and something to
/// compare.
bool checkRecord(const std::string &text, Random &random) {
  SymbolRanges symbols(getExtentCaseRanges());
  llvm::Expected<Inferred> inferred = inferWithExtents(makeOpen(text), symbols);
  if (!inferred) {
    llvm::consumeError(inferred.takeError());
    return false;
  }
  std::string graph = makeText(makeGraph(text, *inferred, random));
  SCOPED_TRACE(graph);
  auto isRight = [&](const ExtentValues &values) {
    for (const ExtentRequirement &required : inferred->requirements)
      if (evaluate(required.a, values) != evaluate(required.b, values))
        return false;
    llvm::Expected<std::string> own = inferOrFail(makeStatic(text, values));
    llvm::consumeError(own.takeError());
    return bool(own);
  };
  std::vector<ExtentValues> runs = chooseRuns(isRight, random);
  if (runs.size() < 2)
    return false;
  checkRuns(
      [&](const ExtentValues *values, bool isCPU) {
        return values ? compileStaticGraph(graph, *values, isCPU)
                      : compileOpenGraph(graph, getExtentCaseRanges(), isCPU);
      },
      runs, {makeElements});
  return true;
}

TEST(ExtentRecords, BetweenTransposes) {
  // Indices would be out of range, or there is no result; Dropout draws, and
  // AttentionInteger has extents in graphs alone.
  const std::set<std::string> others = {
      "AttentionInteger", "DeclareExtents",    "Dropout", "DynamicUpdateSlice",
      "Gather",           "NonMaxSuppression", "Save",    "Scatter"};
  for (const auto &[name, make] : getExtentCases()) {
    if (others.count(name))
      continue;
    SCOPED_TRACE(name);
    Random random(name.size() + 7);
    unsigned numCompared = 0;
    for (unsigned i = 0; i < 40 && numCompared < 3; ++i)
      numCompared += checkRecord(make(random), random);
    EXPECT_EQ(numCompared, 3u);
  }
}

} // namespace
