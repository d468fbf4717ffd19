//===- Seeds.h - Small models to mutate -------------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_SEEDS_H
#define GLOWISH_TESTS_ROBUSTNESS_SEEDS_H

#include <string>
#include <vector>

namespace glowish::robustness {

/// A good model in protobuf text. Those with external data have theirs in the
/// file `weights`, makeWeights(), beside them.
struct Seed {
  std::string name;
  std::string model;
};

/// One of each family of operators and of each kind of thing that a model's
/// file can have, the same in every process.
std::vector<Seed> makeSeeds();

/// 4 KiB: small floats.
std::string makeWeights();

} // namespace glowish::robustness

#endif // GLOWISH_TESTS_ROBUSTNESS_SEEDS_H
