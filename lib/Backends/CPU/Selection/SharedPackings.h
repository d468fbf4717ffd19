//===- SharedPackings.h - Packings that programs share ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_SHAREDPACKINGS_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_SHAREDPACKINGS_H

#include "Selection/ConvolutionAlgorithm.h"
#include "glowish/Backends/Backend.h"
#include <map>

namespace glowish {

/// Chooses packings that programs with the same weights share. The fastest
/// packing for one row differs from that for thirty-two rows, but is hardly
/// faster, and a shared packing is stored once.
class SharedPackings final : public SharedChoices {
public:
  /// A use of a filter may take this much longer than with the packing that
  /// would be best for it.
  static constexpr double maxSlowdown = 1.25;

  /// Adds a use of \p filter, by one of the candidates \p ranked, the fastest
  /// first.
  void add(std::shared_ptr<const Tensor> filter,
           llvm::ArrayRef<ConvolutionCandidate> ranked);
  /// Finds a small set of packings of each filter that serves all its uses.
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
    /// Owned, so that no other tensor gets the same address.
    std::shared_ptr<const Tensor> tensor;
    std::vector<Use> uses;
    /// Each use takes the first one that it accepts.
    std::vector<Packing> packings;
  };
  std::map<const Tensor *, Filter> filters;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_SHAREDPACKINGS_H
