//===- Generation.h - The options -generate and -prompt-ids -----*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_RUNNER_GENERATION_H
#define GLOWISH_TOOLS_MODEL_RUNNER_GENERATION_H

#include "common/GivenInputs.h"
#include "glowish/Driver/ModelVariants.h"

namespace glowish {

/// Whether -generate is given. It is an error if -prompt-ids is given alone, or
/// -generate together with options for single runs, of which \p other is one:
/// the name of one that is given, or empty.
llvm::Expected<bool> isGenerating(llvm::StringRef other);

/// Takes the prompt and generates tokens; prints them, and how fast that was.
/// \p constants: the region that several programs share, or null.
llvm::Error generateTokens(const CompiledVariants &compiled,
                           const GivenTensors &given,
                           std::shared_ptr<const Tensor> constants);

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_RUNNER_GENERATION_H
