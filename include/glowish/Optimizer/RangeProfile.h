//===- RangeProfile.h - The ranges of a model's values ----------*- C++ -*-===//
//
// What the float values of a model are when it runs: the least, the greatest,
// and a histogram of each, from which the quantizer takes scales.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPTIMIZER_RANGEPROFILE_H
#define GLOWISH_OPTIMIZER_RANGEPROFILE_H

#include "glowish/Graph/Module.h"
#include <cmath>
#include <map>
#include <set>

namespace glowish {

/// Counts of numbers in bins of equal width. The width is a power of two and
/// bins begin at its multiples: when the range grows, pairs of bins are joined,
/// so that the counts are those of all numbers in any order.
class Histogram {
public:
  static constexpr unsigned defaultNumBins = 2048, leastNumBins = 16,
                            mostNumBins = 65536;

  explicit Histogram(unsigned maxBins = defaultNumBins) : maxBins(maxBins) {}
  /// A histogram with these contents. An error says what contradicts itself.
  static llvm::Expected<Histogram> create(double min, double max, int exponent,
                                          std::vector<uint64_t> counts,
                                          unsigned maxBins);

  /// Counts \p values. Those that are not finite are only noted.
  void add(llvm::ArrayRef<float> values);

  /// Whether there is a number.
  bool isEmpty() const { return counts.empty(); }
  /// Whether a number was infinite or no number.
  bool hasNonFinite() const { return nonFinite; }
  /// The least and the greatest number, exactly.
  double getMin() const { return min; }
  double getMax() const { return max; }
  /// Bins are as wide as two to this.
  int getExponent() const { return exponent; }
  double getWidth() const { return std::ldexp(1.0, exponent); }
  /// Where bin \p index begins.
  double getEdge(size_t index) const {
    return double(first + int64_t(index)) * getWidth();
  }
  /// The bins from that of the least to that of the greatest number.
  llvm::ArrayRef<uint64_t> getCounts() const { return counts; }
  unsigned getMaxBins() const { return maxBins; }
  uint64_t getTotal() const;

private:
  int64_t findBin(double value) const;
  /// Makes bins twice as wide.
  void joinPairs();
  /// Makes the bins contain \p low and \p high.
  void include(double low, double high);

  unsigned maxBins;
  double min = 0, max = 0;
  int exponent = 0;
  /// The number of the first bin, counted from that which begins at 0.
  int64_t first = 0;
  std::vector<uint64_t> counts;
  bool nonFinite = false;
};

/// The least and the greatest number of each channel (the last dimension).
struct ChannelRanges {
  std::vector<float> minima, maxima;

  bool operator==(const ChannelRanges &other) const = default;
};

/// The histograms of a model's values by their names (getProfileName), and the
/// nodes that are not to be quantized by them.
struct RangeProfile {
  static constexpr unsigned version = 1;

  /// The module's name, for messages, and getProfileChecksum().
  std::string model;
  uint64_t checksum = 0;
  std::map<std::string, Histogram> values;
  /// Of what depthwise convolutions read.
  std::map<std::string, ChannelRanges> channels;
  /// The mean of each channel (the last dimension) of what convolutions and
  /// matmuls multiply with constant weights.
  std::map<std::string, std::vector<float>> means;
  /// The names of nodes that stay float.
  std::set<std::string> floatNodes;
};

/// The name of a value in a profile: that of the node, with the result's number
/// behind a colon if that is not 0.
std::string getProfileName(NodeValue value);

/// A checksum of the names, kinds and operands of the nodes of \p function, and
/// of its float constants. Extents don't matter: a profile of one batch size
/// is one for all.
uint64_t getProfileChecksum(const Function &function);

/// \p profile as YAML, the same for the same profile.
std::string writeRangeProfile(const RangeProfile &profile);
/// Reads \p text. An error names the line, if YAML is malformed there.
llvm::Expected<RangeProfile> readRangeProfile(llvm::StringRef text);

} // namespace glowish

#endif // GLOWISH_OPTIMIZER_RANGEPROFILE_H
