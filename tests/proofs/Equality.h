//===- Equality.h - Whether two graphs compute the same ---------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PROOFS_EQUALITY_H
#define GLOWISH_TESTS_PROOFS_EQUALITY_H

#include "glowish/Graph/Module.h"

namespace glowish::proofs {

/// How two graphs compare, from the best evidence to the worst.
enum class Verdict {
  /// The difference of the two sides is the polynomial 0.
  Identical,
  /// Z3 has proved that there are no inputs for which the sides differ.
  Proved,
  /// The interpreter has computed both sides for all inputs that there are.
  Exhausted,
  /// Neither proved nor refuted.
  Undecided,
  /// Inputs are known for which they differ.
  Refuted,
};

struct Comparison {
  Verdict verdict = Verdict::Identical;
  /// Of what is not proved: why, or for which inputs the sides differ.
  std::string reason;
};

/// Compares the first functions of two modules with the same inputs and
/// outputs, over the real numbers and the integers that wrap, for all values of
/// the inputs for which no denominator is 0.
Comparison compareGraphs(const Module &before, const Module &after);

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_EQUALITY_H
