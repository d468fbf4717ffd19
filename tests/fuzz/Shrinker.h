//===- Shrinker.h - Shrinks failing graphs ----------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_SHRINKER_H
#define GLOWISH_TESTS_FUZZ_SHRINKER_H

#include "Check.h"
#include "GraphSpec.h"

namespace glowish::fuzz {

/// Makes \p spec smaller as long as the same is wrong with it as \p finding
/// says, which is updated: nodes, operands, extents, attributes, kinds, and
/// what the config leaves out. Every step runs in a child process, at most
/// \p maxChecks of them.
void shrink(GraphSpec &spec, Finding &finding, unsigned maxChecks);

/// Makes the config of \p finding simpler where \p accept takes it, which then
/// updates the finding. Whether it took any.
bool simplifyConfig(const Finding &finding,
                    llvm::function_ref<bool(CompileConfig)> accept);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_SHRINKER_H
