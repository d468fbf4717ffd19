//===- Caffe2Seeds.h - Small Caffe2 nets to mutate --------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_CAFFE2SEEDS_H
#define GLOWISH_TESTS_ROBUSTNESS_CAFFE2SEEDS_H

#include "glowish/Base/Type.h"
#include <map>
#include <string>
#include <vector>

namespace glowish::robustness {

/// A good model: two nets in protobuf text, and the types of its inputs.
struct NetSeed {
  std::string name, predict, init;
  std::map<std::string, Type> inputs;
};

/// One of each family of operators, the same in every process.
std::vector<NetSeed> makeNetSeeds();

} // namespace glowish::robustness

#endif // GLOWISH_TESTS_ROBUSTNESS_CAFFE2SEEDS_H
