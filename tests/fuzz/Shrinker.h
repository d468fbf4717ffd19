//===- Shrinker.h - The smallest graph that is still wrong -----*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_SHRINKER_H
#define GLOWISH_TESTS_FUZZ_SHRINKER_H

#include "Check.h"
#include "Plan.h"

namespace glowish::fuzz {

/// Makes \p plan smaller as long as the same is wrong with it as \p finding
/// says, which is updated: nodes, operands, extents, attributes, kinds, and
/// what the setting leaves out. Every step runs in a child process, at most
/// \p maxChecks of them.
void shrink(Plan &plan, Finding &finding, unsigned maxChecks);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_SHRINKER_H
