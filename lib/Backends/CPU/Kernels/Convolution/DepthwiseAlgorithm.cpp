//===- DepthwiseAlgorithm.cpp - The choice of depthwise convolutions ------===//

#include "Kernels/Convolution/BlockPacking.h"
#include "Kernels/Convolution/Depthwise.h"
#include "Selection/ConvolutionAlgorithm.h"

using namespace glowish;

namespace {

class DepthwiseAlgorithm final : public ConvolutionAlgorithm {
public:
  DepthwiseAlgorithm() : ConvolutionAlgorithm("depthwise") {}

  /// No other algorithm applies, so that there is nothing to estimate.
  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription & /*target*/, int64_t /*maxWinograd*/,
                std::vector<ConvolutionCandidate> &candidates) const override {
    if (isDepthwise(problem.shape))
      candidates.push_back({this, /*parameters=*/{}});
  }

  double getPackingCycles() const override { return 0; }

  /// [kh][kw][channel] is one block of all channels, with a row for each tap.
  PackedFilter pack(const FilterSource &source, Parameters) const override {
    FilterSource transposed = source;
    transposed.shape.group = 1;
    transposed.shape.channels = 1;
    const Dims &s = source.strides;
    transposed.strides = {0, s[1], s[2], 0, s[0]};
    return {packBlocks(transposed, unsigned(source.shape.channels))};
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape, Parameters,
            ConvolutionOperands operands) const override {
    emitDepthwise(b, shape, operands);
  }
};

} // namespace

const ConvolutionAlgorithm &glowish::getDepthwiseAlgorithm() {
  static const DepthwiseAlgorithm algorithm;
  return algorithm;
}
