//===- RangeProfiler.h - Runs that collect ranges ---------------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_RANGEPROFILER_H
#define GLOWISH_DRIVER_RANGEPROFILER_H

#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"

namespace glowish {

/// A float model that is run beside another compilation of it, with the same
/// inputs, and keeps histograms of all its float values.
class RangeProfiler {
public:
  /// Compiles \p graph, which has just been imported, with all its values as
  /// outputs. Of \p options the verification is used. \p backend outlives the
  /// result. \p numBins: of each histogram.
  static llvm::Expected<std::unique_ptr<RangeProfiler>>
  create(Backend &backend, const CompilationOptions &options, ModelGraph graph,
         unsigned numBins);

  /// Runs the model with the inputs of \p session, and counts its values.
  llvm::Error run(const Session &session);

  /// What has been counted: values that were finite in all runs.
  RangeProfile getProfile() const;

private:
  RangeProfiler() = default;
  struct Value {
    const Buffer *buffer;
    std::string name;
    Histogram histogram;
    /// Empty where no depthwise convolution reads it.
    ChannelRanges channels;
    /// Of each channel's numbers; empty where no constant weights are
    /// multiplied with it.
    std::vector<double> sums;
  };
  std::string model;
  uint64_t checksum = 0;
  std::optional<PlannedProgram> program;
  std::unique_ptr<Session> session;
  std::vector<Value> values;
};

} // namespace glowish

#endif // GLOWISH_DRIVER_RANGEPROFILER_H
