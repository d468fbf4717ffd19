//===- Predicates.h - Predicates of random graphs ---------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_PREDICATES_H
#define GLOWISH_TESTS_FUZZ_PREDICATES_H

#include "GraphSpec.h"

namespace glowish::fuzz {

/// Gives some nodes of \p spec predicates: after one of them, a Select takes
/// zeros where the predicate is false, and the nodes that nothing but it needs
/// have the predicate, too. So outputs are the same with predicates ignored.
void addPredicates(GraphSpec &spec, uint64_t seed);

/// Returns an error if a row that a predicate leaves out may reach an output.
llvm::Error checkPredicates(const GraphSpec &spec);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_PREDICATES_H
