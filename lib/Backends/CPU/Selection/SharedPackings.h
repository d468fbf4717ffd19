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
///
/// Each filter gets the one packing that costs least, each program counting as
/// much as any other. Where that makes a program slower than maxSlowdown, other
/// packings take the place of some; where it is still slower than
/// maxSlowdownOnce, others are stored beside them. Those come first that save
/// most of the time above the limit for a byte.
class SharedPackings final : public SharedChoices {
public:
  /// With one packing each, the convolutions and matmuls of each program are to
  /// take at most this many times as long as with packings of its own.
  static constexpr double maxSlowdown = 1.1;
  /// No filter has several packings where they take at most this many times as
  /// long with one each.
  static constexpr double maxSlowdownOnce = 1.25;
  /// The cost, as a multiple of the cheapest packing's, up to which the
  /// smallest packing of a filter counts as the cheapest.
  static constexpr double maxCostForSize = 1.05;

  /// \p packsOnce: a filter gets one packing however slow that is, if there is
  /// one for all of its uses.
  explicit SharedPackings(bool packsOnce) : packsOnce(packsOnce) {}

  /// Keeps a candidate for each packing of \p ranked, those for a use of
  /// \p filter; before any use is added.
  void collect(const Tensor &filter,
               llvm::ArrayRef<ConvolutionCandidate> ranked);
  /// Returns the candidates that were kept for \p filter.
  llvm::ArrayRef<ConvolutionCandidate> getCollected(const Tensor &filter) const;
  /// Adds a use of \p filter, of a convolution of \p shape, by program number
  /// \p program and one of the candidates \p ranked, the fastest first.
  void add(unsigned program, const Buffer &filter,
           const ConvolutionShape &shape,
           llvm::ArrayRef<ConvolutionCandidate> ranked);
  /// Finds a small set of packings of each filter that serves all its uses.
  void decide();
  /// Returns the fastest of \p ranked with the packings that were found for
  /// \p filter; the first of all where none was added.
  const ConvolutionCandidate &
  choose(const Tensor &filter,
         llvm::ArrayRef<ConvolutionCandidate> ranked) const;

  std::string getNote() const override;

private:
  /// What the packed bytes depend on besides the weights: the algorithm's
  /// number, and its packing key.
  using Packing = std::pair<size_t, llvm::SmallVector<int64_t, 3>>;
  using Packings = llvm::SmallVector<Packing, 1>;
  static Packing getPacking(const ConvolutionCandidate &candidate);

  struct Use {
    unsigned program;
    /// The fastest candidate with each packing.
    std::map<Packing, ConvolutionCandidate> candidates;
    /// The time of the program by itself.
    double ownTime;

    /// Returns the time with the fastest of \p packings; none if it takes none
    /// of them.
    std::optional<double> getTime(llvm::ArrayRef<Packing> packings) const;
  };

  struct Filter {
    /// Owned, so that no other tensor gets the same address.
    std::shared_ptr<const Tensor> tensor;
    /// That of an instruction that reads it.
    std::string name;
    std::vector<Use> uses;
    /// The bytes of each packing.
    std::map<Packing, double> sizes;
    /// Each use takes the fastest one.
    Packings packings;

    double getSize(llvm::ArrayRef<Packing> of) const;
    bool isForAll(llvm::ArrayRef<Packing> of) const;
  };

  /// By program: estimated cycles.
  using Times = std::vector<double>;
  /// Returns the bytes of the packings of all filters.
  double getSize() const;
  /// Returns the times as multiples of those of the programs by themselves.
  Times getSlowdowns() const;
  /// Adds to \p slowdowns what \p filter adds with \p packings in place of its
  /// own.
  void addChange(Times &slowdowns, const Filter &filter,
                 llvm::ArrayRef<Packing> packings) const;
  /// Returns the packing that most of the uses of \p filter which take none of
  /// \p known can take, and of these the cheapest.
  Packing findCheapest(const Filter &filter,
                       llvm::ArrayRef<Packing> known) const;
  /// Takes the packings of a filter, in place of its own or, where \p several,
  /// beside them, that save most of the time above \p limit for a byte. Returns
  /// false where none saves any.
  bool speedUp(double limit, bool several);

  bool packsOnce;
  llvm::MapVector<const Tensor *, Filter> filters;
  /// The kept candidates.
  llvm::DenseMap<const Tensor *, std::vector<ConvolutionCandidate>> collected;
  /// The times of the programs by themselves.
  Times ownTimes;
  /// With one packing each: the bytes, and the largest slowdown.
  double sizeOnce = 0, slowdownOnce = 1;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_SHAREDPACKINGS_H
