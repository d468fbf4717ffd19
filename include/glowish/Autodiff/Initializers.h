//===- Initializers.h - Weights to begin training with ----------*- C++ -*-===//

#ifndef GLOWISH_AUTODIFF_INITIALIZERS_H
#define GLOWISH_AUTODIFF_INITIALIZERS_H

#include "glowish/Autodiff/Training.h"

namespace glowish {

/// Random weights of a convolution or matrix product, with fanIn inputs for
/// each output and fanOut outputs for each input.
enum class InitializerKind {
  /// What they are already.
  Keep,
  /// Uniform in +-sqrt(6 / (fanIn + fanOut)). Glorot and Bengio, 2010.
  Xavier,
  /// Normal with the variance 2 / fanIn. He et al., arXiv 1502.01852.
  Kaiming
};

/// "keep", "xavier", "kaiming".
std::optional<InitializerKind> parseInitializer(llvm::StringRef name);

/// Gives those of \p variables, of \p module, that some node takes as filter or
/// matrix, perhaps transposed or cut before, random values, which depend on
/// config.seed and their names; and vectors that are added, 0. All others (the
/// scales of normalizations, embeddings), and those that \p config does not
/// train, keep theirs.
void initializeVariables(const Module &module, InitializerKind kind,
                         const TrainingConfig &config,
                         VariableValues &variables);

} // namespace glowish

#endif // GLOWISH_AUTODIFF_INITIALIZERS_H
