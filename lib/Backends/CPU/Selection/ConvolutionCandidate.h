//===- ConvolutionCandidate.h - An algorithm with parameters ----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONCANDIDATE_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONCANDIDATE_H

#include "glowish/Ops/CustomAttr.h"
#include "llvm/ADT/SmallVector.h"

namespace glowish {

class ConvolutionAlgorithm;

/// An algorithm with its parameters: an attribute of the CPUConvolution that it
/// computes.
struct ConvolutionCandidate {
  const ConvolutionAlgorithm *algorithm = nullptr;
  /// Their meaning is defined by the form of the algorithm.
  llvm::SmallVector<int64_t, 3> parameters;
  /// The estimated time on one core; 0 where there is no estimate.
  double cycles = 0;
  /// The part of the cycles that is no time: it stands for the memory that
  /// packed weights take beyond their own size.
  double sizePrice = 0;

  /// Returns the estimated time where the packed weights are there anyway.
  double getTime() const { return cycles - sizePrice; }

  /// Returns the text of attributes and tuning files: `direct 14x2`.
  std::string str() const;
  /// Returns null if \p text is not in the form of str().
  static std::optional<ConvolutionCandidate> parse(llvm::StringRef text);
  /// Returns the forms of all algorithms.
  static std::string listForms();
  static const CustomAttrType attrType;

  /// Whether both are the same candidate; ignores the estimates.
  friend bool operator==(const ConvolutionCandidate &a,
                         const ConvolutionCandidate &b) {
    return a.algorithm == b.algorithm && a.parameters == b.parameters;
  }
  friend llvm::hash_code hash_value(const ConvolutionCandidate &candidate) {
    return llvm::hash_combine(
        candidate.algorithm,
        llvm::hash_combine_range(candidate.parameters.begin(),
                                 candidate.parameters.end()));
  }
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONCANDIDATE_H
