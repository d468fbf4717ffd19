//===- ExtentGraphs.h - Graphs whose types have extents ---------*- C++ -*-===//
//
// Templates (ExtentTemplates.h) of graphs, compiled once with extents, against
// the same graphs with the values in their place.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_UNIT_EXTENTGRAPHS_H
#define GLOWISH_TESTS_UNIT_EXTENTGRAPHS_H

#include "ExtentRuns.h"
#include "GraphTexts.h"

namespace glowish {

/// A graph: the types of its inputs %a, %b, ..., its nodes, of which %r is the
/// output, the type of that, and the lines of its constants.
struct ExtentGraph {
  std::vector<std::string> inputs;
  std::string nodes, result;
  std::string constants = "";
};

inline const std::map<std::string, IntRange> symbolRanges = {{"N", {0, 6}},
                                                             {"M", {1, 4}}};

/// Returns the template of the text of \p graph.
inline std::string makeText(const ExtentGraph &graph) {
  std::string text = graph.constants;
  for (auto [i, type] : llvm::enumerate(graph.inputs)) {
    std::string name(1, char('a' + i));
    text += "placeholder %" + name + " : " + type + " input \"" + name + "\"\n";
  }
  return text + "placeholder %y : " + graph.result +
         " output \"y\"\nfunction \"main\" {\n" + graph.nodes +
         "\nSave(%r, %y)\n}\n";
}

/// Compiles the module \p text, which is the same when it is printed and
/// parsed.
inline llvm::Expected<Program> compileGraph(const std::string &text,
                                            bool isCPU) {
  GLOWISH_ASSIGN_OR_RETURN(auto module, parseModule(text, "test", nullptr));
  std::string printed = print(*module);
  // Large constants are elided.
  if (!llvm::StringRef(printed).contains("elided")) {
    GLOWISH_ASSIGN_OR_RETURN(auto again,
                             parseModule(printed, "again", nullptr));
    EXPECT_EQ(print(*again), printed);
  }
  return compileProgram(std::move(module), createBackend(isCPU));
}

/// Returns the text of a module of the template \p text.
inline std::string
makeOpenModule(const std::string &text,
               const std::map<std::string, IntRange> &ranges = symbolRanges) {
  std::string symbols;
  for (const auto &[symbol, range] : ranges)
    symbols += "placeholder %" + symbol + " : int64<> input \"" + symbol +
               "\" range \"" + symbol + "\" [" + std::to_string(range.low) +
               ", " + std::to_string(range.high) + "]\n";
  return "module \"m\"\n" + symbols + makeOpen(text);
}

/// Compiles the template \p text with extents.
inline llvm::Expected<Program>
compileOpenGraph(const std::string &text,
                 const std::map<std::string, IntRange> &ranges, bool isCPU) {
  return compileGraph(makeOpenModule(text, ranges), isCPU);
}

/// Compiles the template \p text with \p values.
inline llvm::Expected<Program> compileStaticGraph(const std::string &text,
                                                  const ExtentValues &values,
                                                  bool isCPU) {
  return compileGraph("module \"m\"\n" + makeStatic(text, values), isCPU);
}

/// Compares \p graph with the graphs of several values of its symbols.
inline void check(const ExtentGraph &graph) {
  std::string text = makeText(graph);
  SCOPED_TRACE(text);
  auto make = [&](const ExtentValues *values, bool isCPU) {
    return values ? compileStaticGraph(text, *values, isCPU)
                  : compileOpenGraph(text, symbolRanges, isCPU);
  };
  checkRuns(make,
            {{{"N", 6}, {"M", 4}}, {{"N", 1}, {"M", 3}}, {{"N", 4}, {"M", 2}}},
            {}, ExtentValues{{"N", 0}, {"M", 1}});
}

/// One node that reads the inputs.
inline ExtentGraph node(std::vector<std::string> inputs,
                        const std::string &text, const std::string &result) {
  return {std::move(inputs), "%r = " + text, result};
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_EXTENTGRAPHS_H
