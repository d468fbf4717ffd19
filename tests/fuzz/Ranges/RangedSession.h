//===- RangedSession.h - Many random models with ranges ---------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_RANGES_RANGEDSESSION_H
#define GLOWISH_TESTS_FUZZ_RANGES_RANGEDSESSION_H

#include "../FuzzSession.h"
#include "ModelShrinker.h"

namespace glowish::fuzz {

/// What \p seed stands for in \p form, null for ONNX. Its features are those of
/// the model, and "refused:OP" for each operator that the importer refused with
/// ranges. It is wrong if a refusal is not one line that names the node and its
/// operator.
GeneratedCase makeRangedCase(uint64_t seed, unsigned maxNodes,
                             const Form *form);

/// The model of a seed, made in a child process. Where that crashed, the model
/// that was imported then.
struct TracedModel {
  RangedModel model;
  /// Of what is wrong, but nothing that can be shrunk: that of GeneratedCase.
  std::string complaint;
};
TracedModel makeInChild(uint64_t seed, unsigned maxNodes, const Form *form);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RANGES_RANGEDSESSION_H
