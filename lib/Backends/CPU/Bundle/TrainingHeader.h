//===- TrainingHeader.h - Header of a training bundle -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_TRAININGHEADER_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_TRAININGHEADER_H

#include "Header.h"

namespace glowish {

/// The variables as they are saved, one after the other.
struct BundleState {
  struct Variable {
    std::string modelName;
    /// In the mutable region.
    uint64_t offset;
    uint64_t bytes;
  };
  std::vector<Variable> variables;
  struct Gradient {
    std::string modelName;
    /// The first element among the gradients that the programs exchange.
    int64_t start;
  };
  /// Empty where one program makes a step.
  std::vector<Gradient> gradients;
  /// A checksum of names, types and order: states of other bundles have
  /// another.
  uint64_t layout = 0;

  uint64_t getPayloadSize() const;
  /// With what is in front: magic, layout and checksum, 8 bytes each.
  uint64_t getSize() const { return headerSize + getPayloadSize(); }
  static constexpr uint64_t headerSize = 24;
  static constexpr uint64_t magic = 0x3245544154534C47; // "GLSTATE2"
};

/// The definitions that all training bundles share.
void printTrainingCommon(llvm::raw_ostream &os);

/// The first program of \p facts infers; the second makes a step, or it and the
/// third do.
void printTrainingHeader(llvm::raw_ostream &os, const BundleFacts &facts,
                         const BundleState &state);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_TRAININGHEADER_H
