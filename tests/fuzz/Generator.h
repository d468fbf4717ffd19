//===- Generator.h - Random graphs from the records -------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_GENERATOR_H
#define GLOWISH_TESTS_FUZZ_GENERATOR_H

#include "GraphSpec.h"

namespace glowish::fuzz {

/// A graph of 1 to \p maxNodes nodes. Each is made up at random and changed
/// where its type rule says that it is wrong, until the rule accepts it: a new
/// operator needs nothing here.
GraphSpec makePlan(uint64_t seed, unsigned maxNodes);

/// Kinds of nodes that graphs are made of: all with results.
llvm::ArrayRef<NodeKind> getGeneratedKinds();

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_GENERATOR_H
