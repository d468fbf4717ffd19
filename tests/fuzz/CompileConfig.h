//===- CompileConfig.h - Ways to compile and run a graph --------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_COMPILECONFIG_H
#define GLOWISH_TESTS_FUZZ_COMPILECONFIG_H

#include "GraphTarget.h"
#include "RunValues.h"
#include "common/Foreign/ForeignTarget.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include <functional>
#include <set>

namespace glowish::fuzz {

/// A back end with its options, and the passes that are left out.
struct CompileConfig {
  /// One of the levels of getLevels() (CPULevels.h), or with a foreign target
  /// that, or -1: the interpreter.
  int level = 0;
  unsigned numThreads = 1;
  /// TestingOptions::choiceRank.
  unsigned choiceRank = 0;
  /// TestingOptions::compilesQuickly.
  bool isQuick = false;
  /// TargetOptions::winograd.
  WinogradLimit winograd = WinogradLimit::F4;
  /// Where not 0, the passes of each fixed point run in an order that follows
  /// from it.
  uint64_t order = 0;
  /// Passes of the graph and of the IR that don't run. Lowering and the
  /// placing of lifetimes always do.
  std::set<std::string> without;
  /// PlanOptions::placesIOInArena.
  bool placesIOInArena = false;
  /// TargetOptions::isReproducible: the floats that getCommonConfig() makes,
  /// bit for bit.
  bool isReproducible = false;
  /// Of the interpreter: InterpreterOptions::heedsPredicates.
  bool heedsPredicates = false;
  /// Whether it is interpreted after every pass, too.
  bool checksPasses = false;

  /// "cpu=x86-64-v3 quick threads=3 rank=1 winograd=4 order=0
  /// io-in-activations reproducible heeds-predicates check-passes
  /// without=cse,dse".
  std::string str() const;
  /// Whether passes run that reorder floating point arithmetic.
  bool mayReorder() const;
  bool operator==(const CompileConfig &other) const = default;
};

/// From now on programs are compiled for \p target alone, with one thread, and
/// the interpreter is none of the configs.
void useForeignTarget(std::unique_ptr<ForeignTarget> target);
/// From now on graphs are written for \p target after the graph passes alone.
void useGraphTarget(std::unique_ptr<GraphTarget> target);

/// What all configs of a run have in common.
struct ConfigOptions {
  /// Ways to compile each graph.
  unsigned numCompiled = 1;
  /// Those of CompileConfig; the interpreter is always the same.
  bool checksPasses = false, isReproducible = false;
  /// Whether there are two interpreters, one of which heeds predicates.
  bool hasPredicates = false;
};

/// The interpreter and ways to compile with \p options, the same for the same
/// \p seed.
std::vector<CompileConfig> pickConfigs(uint64_t seed,
                                       const ConfigOptions &options);
/// The same passes as those of \p config, for the lowest level and one thread.
CompileConfig getCommonConfig(const CompileConfig &config);
/// Every level with and without threads and with the second candidate for
/// convolutions, the interpreter, with and without all passes, with inputs and
/// outputs among the activations: what a graph that was kept is run at. For a
/// graph target, with and without all passes.
std::vector<CompileConfig> getAllConfigs();

/// What is wrong with the outputs of a run, of which the number is given; empty
/// if nothing is.
using Describe = std::function<std::string(size_t run, const Outputs &outputs)>;

/// Compiles \p test once and runs it as its runs say: the outputs of each.
/// \p describe looks at the outputs after every pass, if they are checked: the
/// error names the pass and says what it found. It is Inexpressible where the
/// target for which all graphs are written has no form of this one.
llvm::Expected<std::vector<Outputs>> runCase(const TestCase &test,
                                             const CompileConfig &config,
                                             const Describe &describe);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_COMPILECONFIG_H
