//===- SharedPackings.h - Weights packed alike in programs ------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_SHAREDPACKINGS_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_SHAREDPACKINGS_H

#include "Selection/ConvolutionAlgorithm.h"
#include "glowish/Backends/Backend.h"
#include <map>

namespace glowish {

/// How programs with the same weights pack them: the fastest way of a program
/// for one row needs others than that for thirty-two, but it is hardly slower
/// with those, and then the weights are there once.
class SharedPackings final : public SharedChoices {
public:
  /// A use of a filter may take this much longer than with the packing that
  /// would be best for it.
  static constexpr double maxSlowdown = 1.25;

  /// Adds a use of \p filter, by one of the candidates \p ranked, the fastest
  /// first.
  void add(std::shared_ptr<const Tensor> filter,
           llvm::ArrayRef<ConvolutionCandidate> ranked);
  /// Finds few packings of each filter that do for all its uses.
  void decide();
  /// The fastest of \p ranked with the packing that was found for this use of
  /// \p filter; the fastest of all where it was not added.
  const ConvolutionCandidate &
  choose(const Tensor &filter,
         llvm::ArrayRef<ConvolutionCandidate> ranked) const;

private:
  /// What the packed bytes depend on besides the weights: the algorithm's
  /// number, and its packing key.
  using Packing = std::pair<size_t, llvm::SmallVector<int64_t, 3>>;
  static Packing getPacking(const ConvolutionCandidate &candidate);

  /// The time of a use with each packing, as a multiple of the shortest; those
  /// that take too long are left out.
  using Use = std::map<Packing, double>;
  static Use makeUse(llvm::ArrayRef<ConvolutionCandidate> ranked);

  struct Filter {
    /// Keeps others from being at the same address.
    std::shared_ptr<const Tensor> tensor;
    std::vector<Use> uses;
    /// Each use takes the first that it can.
    std::vector<Packing> packings;
  };
  std::map<const Tensor *, Filter> filters;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_SHAREDPACKINGS_H
