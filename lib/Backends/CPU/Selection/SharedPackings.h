//===- SharedPackings.h - Packings that programs share ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_SHAREDPACKINGS_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_SHAREDPACKINGS_H

#include "Selection/ConvolutionAlgorithm.h"
#include "glowish/Backends/Backend.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace glowish {

/// Chooses packings that programs with the same weights share. The fastest
/// packing for one row differs from that for thirty-two rows, but is hardly
/// faster, and a shared packing is stored once.
class SharedPackings final : public SharedChoices {
public:
  /// A filter gets the fewest packings with which each use takes at most this
  /// much longer than with the packing that would be best for it.
  static constexpr double maxSlowdown = 1.25;
  /// Where these are several, it gets the fastest that is smaller than these
  /// and with which the convolutions and matmuls of each program, all filters
  /// together, take at most this much longer.
  static constexpr double maxProgramSlowdown = 1.05;
  /// Of packings that serve as many uses, the smallest of those that take at
  /// most this much longer, in the mean of the uses, than the fastest.
  static constexpr double maxSlowdownForSize = 1.05;

  /// \p packsOnce: a filter gets one packing however slow that is, if there is
  /// one for all of its uses.
  explicit SharedPackings(bool packsOnce) : packsOnce(packsOnce) {}

  /// Adds a use of \p filter, of a convolution of \p shape, by program number
  /// \p program and one of the candidates \p ranked, the fastest first.
  void add(unsigned program, const Buffer &filter,
           const ConvolutionShape &shape,
           llvm::ArrayRef<ConvolutionCandidate> ranked);
  /// Finds a small set of packings of each filter that serves all its uses.
  void decide();
  /// The fastest of \p ranked with the packing that was found for this use of
  /// \p filter; the fastest of all where it was not added.
  const ConvolutionCandidate &
  choose(const Tensor &filter,
         llvm::ArrayRef<ConvolutionCandidate> ranked) const;

  std::string getNote() const override;

private:
  /// What the packed bytes depend on besides the weights: the algorithm's
  /// number, and its packing key.
  using Packing = std::pair<size_t, llvm::SmallVector<int64_t, 3>>;
  static Packing getPacking(const ConvolutionCandidate &candidate);
  static bool isWithin(double cycles, double limit, double best) {
    return limit == anySlowdown || cycles <= limit * best;
  }
  static constexpr double anySlowdown = std::numeric_limits<double>::infinity();

  /// A use, with the shortest time in cycles with each packing.
  struct Use {
    unsigned program;
    std::map<Packing, double> cycles;
    double best;

    /// Whether it takes at most \p limit times the shortest time with
    /// \p packing.
    bool takes(const Packing &packing, double limit) const {
      auto found = cycles.find(packing);
      return found != cycles.end() && isWithin(found->second, limit, best);
    }
    /// The time with \p packing, which it takes, as a multiple of the shortest.
    double getSlowdown(const Packing &packing) const {
      return best > 0 ? cycles.at(packing) / best : 1;
    }
  };

  struct Filter {
    /// Owned, so that no other tensor gets the same address.
    std::shared_ptr<const Tensor> tensor;
    /// That of an instruction that reads it.
    std::string name;
    std::vector<Use> uses;
    /// The bytes of each packing.
    std::map<Packing, double> sizes;
    /// Each use takes the first one that it accepts.
    std::vector<Packing> packings;

    /// Returns the packing that most of \p open accept.
    Packing findMostUsed(llvm::ArrayRef<const Use *> open) const;
    /// Returns the packings that there are for all uses, the fastest first.
    std::vector<Packing> findCommon() const;
    /// Returns the first of `packings` that \p use accepts.
    const Packing &getTaken(const Use &use) const;
    /// Returns the bytes of `packings`.
    double getSize() const;
  };
  /// Finds the packings of \p filter by maxSlowdown.
  static void cover(Filter &filter);
  /// Puts one packing in the place of several by maxProgramSlowdown, beginning
  /// with the largest.
  void merge();

  bool packsOnce;
  llvm::MapVector<const Tensor *, Filter> filters;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_SHAREDPACKINGS_H
