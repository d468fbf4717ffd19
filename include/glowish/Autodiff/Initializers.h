//===- Initializers.h - Initialization of trainable weights -----*- C++ -*-===//

#ifndef GLOWISH_AUTODIFF_INITIALIZERS_H
#define GLOWISH_AUTODIFF_INITIALIZERS_H

#include "glowish/Autodiff/Training.h"

namespace glowish {

/// Initialization of the weights of convolutions and matmuls with fanIn inputs
/// per output and fanOut outputs per input.
enum class InitializerKind {
  /// The values in the model.
  Keep,
  /// Uniform in +-sqrt(6 / (fanIn + fanOut)). Glorot and Bengio, 2010.
  Xavier,
  /// Normal with variance 2 / fanIn. He et al., arXiv 1502.01852.
  Kaiming
};

/// Parses "keep", "xavier" or "kaiming".
std::optional<InitializerKind> parseInitializer(llvm::StringRef name);

/// Initializes those of \p variables, of \p module, that a node uses as a
/// filter or matmul operand, directly or through data movement, with random
/// values that depend on config.seed and their names, and vectors that are
/// added (biases) with zeros. All others (scales of normalizations,
/// embeddings), and those that \p config does not train, keep their values.
void initializeVariables(const Module &module, InitializerKind kind,
                         const TrainingConfig &config,
                         VariableValues &variables);

} // namespace glowish

#endif // GLOWISH_AUTODIFF_INITIALIZERS_H
