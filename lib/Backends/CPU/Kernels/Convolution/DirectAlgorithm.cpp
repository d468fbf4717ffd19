//===- DirectAlgorithm.cpp - The choice of direct convolutions ------------===//

#include "Kernels/Convolution/BlockPacking.h"
#include "Selection/ConvolutionAlgorithm.h"

using namespace glowish;

namespace {

class DirectAlgorithm final : public ConvolutionAlgorithm {
public:
  DirectAlgorithm() : ConvolutionAlgorithm("direct", "PIXELSxVECTORS") {}

  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t /*maxWinograd*/,
                std::vector<ConvolutionCandidate> &candidates) const override {
    if (isDepthwise(problem.shape))
      return;
    for (auto [tile, cycles] : rankTiles(problem.shape, problem.kind, target))
      candidates.push_back({this, {tile.pixels, tile.vectors}, cycles});
  }

  std::optional<SumOrder> getSumOrder(Parameters) const override {
    return SumOrder();
  }
  std::optional<int64_t> getMultiplyAddsPerLoad(Parameters parameters,
                                                int64_t lanes) const override {
    return getTile(parameters).vectors * lanes;
  }
  /// As measured in the cache.
  double getPackingCycles() const override { return 0.5; }
  bool takesPlainWeights() const override { return true; }
  bool takesFloatsForHalf() const override { return true; }
  bool takesPackedKind(ElemKind packed, ElemKind kind) const override {
    return packed == kind ||
           (kind == ElemKind::Float && getValueKind(packed) == kind);
  }
  llvm::SmallVector<int64_t, 3>
  getPackingKey(Parameters parameters) const override {
    return {getTile(parameters).vectors};
  }

  PackedFilter pack(const FilterSource &source,
                    Parameters parameters) const override {
    ElemKind kind = source.filter->getType().getKind();
    return {packBlocks(source, getTile(parameters).vectors *
                                   source.target.getComputeLanes(kind))};
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape,
            Parameters parameters,
            ConvolutionOperands operands) const override {
    Tile tile = getTile(parameters);
    ElemKind kind = operands.input.kind;
    const TargetDescription &target = b.getTarget();
    unsigned block = tile.vectors * target.getPackedLanes(getElemSize(kind));
    // The weights are packed for wider vectors than this code has.
    if (target.packedBits != target.vectorBits)
      tile = chooseTile(shape, kind, target, block);
    emitConvolution(b, shape, tile, getPackedLayout(shape, block),
                    std::move(operands));
  }

private:
  static Tile getTile(Parameters parameters) {
    return {.pixels = unsigned(parameters[0]),
            .vectors = unsigned(parameters[1])};
  }
};

} // namespace

static const DirectAlgorithm direct;
