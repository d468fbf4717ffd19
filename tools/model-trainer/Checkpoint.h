//===- Checkpoint.h - Checkpoints of a training -----------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_TRAINER_CHECKPOINT_H
#define GLOWISH_TOOLS_MODEL_TRAINER_CHECKPOINT_H

#include "glowish/Base/Tensor.h"
#include "model-trainer/Metrics.h"
#include <string>
#include <vector>

namespace glowish {

/// A training between two steps.
struct Checkpoint {
  /// Determines the order of samples.
  uint64_t seed = 0;
  int64_t batchSize = 0, numSamples = 0;
  bool shuffles = false;

  /// Steps that have been made; the place in the data follows from it.
  uint64_t step = 0;
  /// Of the epoch that has begun.
  Metrics metrics;
  std::vector<EpochResult> history;

  struct Variable {
    std::string name;
    Tensor value;
  };
  /// Those of the model, and what the solver keeps.
  std::vector<Variable> variables;
};

/// Writes \p checkpoint with a checksum, under a temporary name first.
llvm::Error writeCheckpoint(const Checkpoint &checkpoint, llvm::StringRef path);

/// The error says whether \p path is no checkpoint, one of another version, or
/// corrupt.
llvm::Expected<Checkpoint> readCheckpoint(llvm::StringRef path);
/// The same of \p bytes, the contents of \p path.
llvm::Expected<Checkpoint> parseCheckpoint(llvm::StringRef bytes,
                                           llvm::StringRef path);

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_TRAINER_CHECKPOINT_H
