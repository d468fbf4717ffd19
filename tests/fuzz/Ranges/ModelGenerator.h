//===- ModelGenerator.h - Random models with ranges -------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_RANGES_MODELGENERATOR_H
#define GLOWISH_TESTS_FUZZ_RANGES_MODELGENERATOR_H

#include "RangedModel.h"
#include <functional>

namespace glowish::fuzz {

/// An operator that the importer takes with fixed extents, and not with ranges.
struct RangeRefusal {
  /// Empty if the message names none.
  std::string op;
  std::string message;
};

struct GeneratedModel {
  RangedModel model;
  /// Of what is not part of the model.
  std::vector<RangeRefusal> refusals;
  /// How many operators the model has had, and some that no output needs.
  unsigned numOperators = 0;
};

/// A model of 1 to \p maxNodes random operators that \p form takes (null for
/// ONNX), each with what it needs besides, and with one or two ranged symbols.
/// \p trace is called with each
/// model that is imported on the way.
GeneratedModel
makeRangedModel(uint64_t seed, unsigned maxNodes, const Form *form,
                const std::function<void(const RangedModel &)> &trace = {});

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RANGES_MODELGENERATOR_H
