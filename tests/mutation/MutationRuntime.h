//===- MutationRuntime.h - What objects tell of their mutants ---*- C++ -*-===//

#ifndef GLOWISH_MUTATION_RUNTIME_H
#define GLOWISH_MUTATION_RUNTIME_H

#include <cstdint>

namespace mutation {

/// What is recorded of a mutant: that its place was executed, and that its
/// value was another one there.
constexpr uint8_t differing = 1, executed = 2;

/// The mutants of one object, which have numbers from 0 in it. MutationPass
/// writes it.
struct Unit {
  uint64_t id;
  uint64_t mutantCount;
  const uint64_t *mutantIds;
  /// Pairs of a mutant and a function that has it.
  uint64_t placeCount;
  const uint32_t (*places)[2];
  /// By function, whether it runs with mutants.
  uint64_t functionCount;
  uint8_t *usesClone;
  /// The mutant that is switched on, or -1.
  int32_t *active;
  /// By mutant, what is recorded of it; never null.
  uint8_t **coverage;
};

} // namespace mutation

/// Called when the library is loaded, once for each object. Environment:
///
///   GLOWISH_MUTANT             the id of the mutant to switch on, in
///   hexadecimal GLOWISH_MUTATION_COVERAGE  a file in which to record the
///   mutants that are
///                              executed and those that would have made a
///                              difference, also in child processes
extern "C" void glowish_mutation_register(mutation::Unit *unit);

/// Appends a line to the file NAME.tests beside the file of the coverage: the
/// name of a test, its seconds, and the ids of the mutants that would have made
/// a difference since the last call, with tabs.
extern "C" void glowish_mutation_end_test(const char *name, double seconds);

#endif // GLOWISH_MUTATION_RUNTIME_H
