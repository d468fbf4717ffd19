//===- FuzzSession.h - Many random graphs -----------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_FUZZSESSION_H
#define GLOWISH_TESTS_FUZZ_FUZZSESSION_H

#include "Check.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace glowish::fuzz {

/// What a seed stands for.
struct GeneratedCase {
  std::unique_ptr<TestCase> test;
  /// What is in it, one word each (Coverage.h).
  std::set<std::string> features;
  /// Operators that it has, and those that it has not as the importer refused
  /// them with ranges.
  unsigned numOperators = 0, numRefused = 0;
  /// The messages of these refusals.
  std::vector<std::string> refusals = {};
  /// What was wrong when it was made; empty if nothing was.
  std::string complaint = "";
};
using CaseGenerator = std::function<GeneratedCase(uint64_t seed)>;

struct FuzzSession {
  uint64_t firstSeed = 1;
  uint64_t count = 0;
  unsigned numJobs = 1;
  CaseGenerator generate;
  ConfigOptions options = {};
};

struct FuzzSessionResult {
  /// The seeds of graphs that something is wrong with, in order.
  std::vector<uint64_t> wrongSeeds;
  /// How many graphs have each feature (Coverage.h), but for those that crash.
  std::map<std::string, uint64_t> graphsWith;
  /// Of the graphs that nothing is wrong with.
  ElementCounts elements;
  Omissions omissions;
  /// GeneratedCase, of all graphs but those that crash.
  uint64_t numOperators = 0, numRefused = 0;
};

/// Checks the graphs of \p session's seeds at the configs of their seeds, in
/// child processes. An error is that there can be none.
llvm::Expected<FuzzSessionResult> runFuzzSession(const FuzzSession &session);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_FUZZSESSION_H
