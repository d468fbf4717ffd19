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
/// output, and the type of that.
struct ExtentGraph {
  std::vector<std::string> inputs;
  std::string nodes, result;
};

/// Returns the template of the text of \p graph.
inline std::string makeText(const ExtentGraph &graph) {
  std::string text;
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
  GLOWISH_ASSIGN_OR_RETURN(auto again, parseModule(printed, "again", nullptr));
  EXPECT_EQ(print(*again), printed);
  return compileProgram(std::move(module), createBackend(isCPU));
}

/// Compiles the template \p text with extents.
inline llvm::Expected<Program>
compileOpenGraph(const std::string &text,
                 const std::map<std::string, IntRange> &ranges, bool isCPU) {
  std::string symbols;
  for (const auto &[symbol, range] : ranges)
    symbols += "placeholder %" + symbol + " : int64<> input \"" + symbol +
               "\" range \"" + symbol + "\" [" + std::to_string(range.low) +
               ", " + std::to_string(range.high) + "]\n";
  return compileGraph("module \"m\"\n" + symbols + makeOpen(text), isCPU);
}

/// Compiles the template \p text with \p values.
inline llvm::Expected<Program> compileStaticGraph(const std::string &text,
                                                  const ExtentValues &values,
                                                  bool isCPU) {
  return compileGraph("module \"m\"\n" + makeStatic(text, values), isCPU);
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_EXTENTGRAPHS_H
