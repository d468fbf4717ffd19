//===- AtenCalls.h - Programs of one operator of ATen -----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_ATENCALLS_H
#define GLOWISH_TESTS_ROBUSTNESS_ATENCALLS_H

#include "TorchArchives.h"
#include "glowish/Support/Random.h"

namespace glowish::robustness {

/// An archive of a program that calls one operator, and the types of its
/// inputs as -model-input takes them.
struct AtenCall {
  ArchiveEntries entries;
  std::vector<std::string> inputs;
};

/// Calls the operator of \p schema, in PyTorch's notation, with arguments of
/// the types that it states. About half of the integers are extremes.
AtenCall makeExportedCall(const std::string &schema, Random &random);
/// The same as TorchScript; no entries if the code has no name for the
/// operator.
AtenCall makeScriptCall(const std::string &schema, Random &random);

} // namespace glowish::robustness

#endif // GLOWISH_TESTS_ROBUSTNESS_ATENCALLS_H
