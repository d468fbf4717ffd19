//===- ModelShrinker.h - Shrinks failing models -----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_RANGES_MODELSHRINKER_H
#define GLOWISH_TESTS_FUZZ_RANGES_MODELSHRINKER_H

#include "../Check.h"
#include "RangedModel.h"

namespace glowish::fuzz {

/// Makes \p model smaller as long as the same is wrong with it as \p finding
/// says, which is updated: outputs, nodes, their inputs and attributes, runs,
/// ranges, and what the config leaves out. Every step runs in a child process,
/// at most \p maxChecks of them.
void shrink(RangedModel &model, Finding &finding, unsigned maxChecks);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RANGES_MODELSHRINKER_H
