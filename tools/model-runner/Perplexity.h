//===- Perplexity.h - The option -perplexity --------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_RUNNER_PERPLEXITY_H
#define GLOWISH_TOOLS_MODEL_RUNNER_PERPLEXITY_H

#include "common/GivenInputs.h"
#include "glowish/Driver/ModelVariants.h"

namespace glowish {

/// Whether -perplexity is given. It is an error together with -generate, which
/// \p generates tells of, or with options for single runs, of which \p other is
/// one: the name of one that is given, or empty.
llvm::Expected<bool> isMeasuringPerplexity(bool generates,
                                           llvm::StringRef other);

/// Takes the text of -perplexity; prints how likely the language model finds
/// each of its tokens after those before it. \p constants: the region that
/// several programs share, or null.
llvm::Error measurePerplexity(const CompiledVariants &compiled,
                              const GivenTensors &given,
                              std::shared_ptr<const Tensor> constants);

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_RUNNER_PERPLEXITY_H
