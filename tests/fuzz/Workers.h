//===- Workers.h - Many graphs in child processes --------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_WORKERS_H
#define GLOWISH_TESTS_FUZZ_WORKERS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace glowish::fuzz {

struct Campaign {
  uint64_t firstSeed = 1;
  uint64_t count = 0;
  unsigned numJobs = 1;
  unsigned maxNodes = 1;
};

struct CampaignResult {
  /// The seeds of graphs that something is wrong with, in order.
  std::vector<uint64_t> wrongSeeds;
  /// How many graphs have a node of each kind.
  std::map<std::string, uint64_t> graphsOfKind;
};

/// Checks the graphs of \p campaign's seeds at the settings of their seeds, in
/// child processes, which are replaced when a graph ends them.
CampaignResult runCampaign(const Campaign &campaign);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_WORKERS_H
