//===- ChannelSumsAlgorithm.cpp - The choice of sums over channels --------===//

#include "Kernels/Convolution/BlockPacking.h"
#include "Kernels/Convolution/ChannelSums.h"
#include "Selection/ConvolutionAlgorithm.h"

using namespace glowish;

namespace {

class ChannelSumsAlgorithm final : public ConvolutionAlgorithm {
public:
  ChannelSumsAlgorithm()
      : ConvolutionAlgorithm("channel-sums", "PIXELSxCHANNELS") {}

  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t /*maxWinograd*/,
                std::vector<ConvolutionCandidate> &candidates) const override {
    bool isWide =
        problem.kind == ElemKind::Float || problem.kind == ElemKind::Double;
    // With as many output channels as lanes, direct convolutions use them all.
    if (!isWide || problem.inputStrides.back() != 1 ||
        problem.shape.getGroupOutChannels() >=
            target.getComputeLanes(problem.kind))
      return;
    for (auto [tile, cycles] : rankChannelSums(problem.shape, problem.kind,
                                               problem.inputStrides[2], target))
      candidates.push_back({this, {tile.pixels, tile.channels}, cycles});
  }

  std::optional<int64_t> getMultiplyAddsPerLoad(Parameters parameters,
                                                int64_t lanes) const override {
    return getTile(parameters).channels * lanes;
  }
  /// Packing copies each weight once, as that for direct convolutions does.
  double getPackingCycles() const override { return 0.5; }

  PackedFilter pack(const FilterSource &source, Parameters) const override {
    return {packBlocks(source, /*block=*/1)};
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape,
            Parameters parameters,
            ConvolutionOperands operands) const override {
    ChannelSumsTile tile = getTile(parameters);
    const TargetDescription &target = b.getTarget();
    // The tile was chosen for wider vectors than this code has.
    if (target.packedBits != target.vectorBits) {
      auto choices = rankChannelSums(shape, operands.input.kind,
                                     operands.input.strides[2], target);
      if (!choices.empty())
        tile = choices.front().tile;
    }
    emitChannelSums(b, shape, tile, std::move(operands));
  }

private:
  static ChannelSumsTile getTile(Parameters parameters) {
    return {.pixels = parameters[0], .channels = parameters[1]};
  }
};

} // namespace

static const ChannelSumsAlgorithm channelSums;
