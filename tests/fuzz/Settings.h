//===- Settings.h - Ways to compile and run a graph ------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_SETTINGS_H
#define GLOWISH_TESTS_FUZZ_SETTINGS_H

#include "glowish/Base/Tensor.h"
#include "glowish/Graph/Module.h"
#include <map>
#include <set>

namespace glowish::fuzz {

/// A back end with its options, and the passes that are left out.
struct Setting {
  /// One of the levels of getLevels() (CPULevels.h), or -1: the interpreter.
  int level = 0;
  unsigned numThreads = 1;
  /// TargetOptions::choiceRank.
  unsigned choiceRank = 0;
  /// Passes of the graph and of the IR that don't run. Lowering and the
  /// placing of lifetimes always do.
  std::set<std::string> without;

  /// "cpu=x86-64-v3 threads=3 rank=1 without=cse,dse".
  std::string str() const;
  /// Whether passes run that reorder floating point arithmetic.
  bool mayReorder() const;
};

/// Some settings, the same for the same \p seed.
std::vector<Setting> pickSettings(uint64_t seed);
/// Every level with and without threads and with the second way to compute
/// convolutions, the interpreter, with and without all passes: what a graph
/// that was kept is run at.
std::vector<Setting> getAllSettings();

/// Compiles \p text (Plan.h) and runs it with the values of its inputs'
/// names: the outputs by their names in the model.
llvm::Expected<std::map<std::string, Tensor>> runGraph(llvm::StringRef text,
                                                       const Setting &setting);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_SETTINGS_H
