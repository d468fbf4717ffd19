//===- Knowledge.h - What is known of the values of a graph ----*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_KNOWLEDGE_H
#define GLOWISH_TESTS_FUZZ_KNOWLEDGE_H

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

/// What a node's results are known to be.
struct Known {
  std::vector<Tensor> tensors;
  /// Nothing was rounded on the way.
  bool isExact = false;
  /// An infinity or NaN went into sums: fast algorithms spread them.
  bool isUnknown = false;
  /// An infinity or NaN came up.
  bool isDelicate = false;
  /// A function that has no value somewhere was computed.
  bool hasPole = false;
  unsigned depth = 0;
  /// Of what the results were rounded from.
  double largest = 0;
};

using Knowledge = llvm::DenseMap<const Node *, Known>;

/// How roundings are made worse.
struct Worsening {
  explicit Worsening(uint64_t seed) : random(seed) {}

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
/// is known of its results. With \p worsening, roundings are made worse.
llvm::Error learn(Node &node, Knowledge &knowledge, Worsening *worsening);

/// The same of an If or a Loop, whose bodies' nodes are learnt one by one.
llvm::Error learnIf(IfNode &node, Knowledge &knowledge, Worsening *worsening);
llvm::Error learnLoop(LoopNode &node, Knowledge &knowledge,
                      Worsening *worsening);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_KNOWLEDGE_H
