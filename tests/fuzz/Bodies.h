//===- Bodies.h - Changes of graphs with control flow -----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_BODIES_H
#define GLOWISH_TESTS_FUZZ_BODIES_H

#include "GraphSpec.h"

namespace glowish::fuzz {

/// Calls \p change with all entries of \p spec, and of bodies.
void forEachEntry(GraphSpec &spec, llvm::function_ref<void(Entry &)> change);

/// Puts the entries of body \p b of entry \p i of \p target there instead of
/// it, as if a branch were taken or a loop ran once. What has other types then
/// is for the type rules to refuse.
void inlineBody(GraphSpec &target, size_t i, size_t b);

/// Removes operand \p operand of \p entry and the parameter of its bodies that
/// has its value and that they don't use.
void removeCapture(Entry &entry, size_t operand);

/// Whether an entry or output of \p spec uses a result of entry \p entry.
bool usesValue(const GraphSpec &spec, int entry);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_BODIES_H
