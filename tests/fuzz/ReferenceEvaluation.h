//===- ReferenceEvaluation.h - Values of a graph, with bounds ---*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_REFERENCEEVALUATION_H
#define GLOWISH_TESTS_FUZZ_REFERENCEEVALUATION_H

#include "glowish/Base/Tensor.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Random.h"

namespace glowish::fuzz {

/// The spacing of numbers near 1, and the smallest distance of two numbers.
struct Precision {
  double epsilon, smallest;
};

Precision getPrecision(ElemKind kind);

bool isFloat(const Tensor &tensor);
/// No infinity or NaN is in \p tensor.
bool isFinite(const Tensor &tensor);
/// The largest magnitude of the finite elements.
double getLargest(const Tensor &tensor);

/// A flag for each element of a tensor.
using ElementMask = std::vector<bool>;

/// The infinities and NaN of \p tensor.
ElementMask findNonFinite(const Tensor &tensor);
bool hasAny(const ElementMask &mask);

/// What a node's results are known to be.
struct Evaluation {
  std::vector<Tensor> tensors;
  /// Nothing was rounded on the way.
  bool isExact = false;
  /// An infinity or NaN went into sums: fast algorithms spread them.
  bool isUnbounded = false;
  /// Of each result, the elements that an infinity or NaN came up for.
  std::vector<ElementMask> nonFinite;
  /// A function that has no value somewhere was computed.
  bool hasPole = false;
  unsigned depth = 0;
  /// Of what the results were rounded from.
  double largest = 0;
};

using Evaluations = llvm::DenseMap<const Node *, Evaluation>;

/// How roundings are made worse.
struct RoundingPerturbation {
  explicit RoundingPerturbation(uint64_t seed) : random(seed) {}

  bool goesUp() { return (random.below(2) == 0) != opposite; }
  /// Which share of the largest step is taken.
  double getShare() { return anyShare ? random.uniform(0, 1) : 1; }

  Random random;
  bool opposite = false;
  /// What may be 0 becomes 0: the square of what is nearly 0 is never below it.
  bool toZero = false;
  /// Steps of any size: those of one size leave some bits of a float as they
  /// are.
  bool anyShare = false;
};

/// Interprets \p node alone over what is known of its operands, and adds what
/// is known of its results. With \p perturbation, roundings are made worse.
llvm::Error evaluate(Node &node, Evaluations &evaluations,
                     RoundingPerturbation *perturbation);

/// The same of an If or a Loop, whose bodies' nodes are learnt one by one.
llvm::Error evaluateIf(IfNode &node, Evaluations &evaluations,
                       RoundingPerturbation *perturbation);
llvm::Error evaluateLoop(LoopNode &node, Evaluations &evaluations,
                         RoundingPerturbation *perturbation);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_REFERENCEEVALUATION_H
