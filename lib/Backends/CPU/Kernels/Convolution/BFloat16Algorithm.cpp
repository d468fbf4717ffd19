//===- BFloat16Algorithm.cpp - Convolutions of bfloat16 -------------------===//
//
// The direct convolution, of lanes in which two channels lie side by side. The
// sums are of float.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Convolution/LanePacking.h"

using namespace glowish;

namespace {

class BFloat16Algorithm final : public ConvolutionAlgorithm {
public:
  BFloat16Algorithm()
      : ConvolutionAlgorithm("dot-bfloat16", "PIXELSxVECTORS") {}

  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t /*maxWinograd*/,
                std::vector<ConvolutionCandidate> &candidates) const override {
    if (problem.kind != ElemKind::BFloat16 || !target.hasBFloat16Dot ||
        isDepthwise(problem.shape) || !hasLanes(problem, numElements))
      return;
    for (auto [tile, cycles] : rankTiles(countLanes(problem.shape, numElements),
                                         ElemKind::Float, target))
      candidates.push_back(
          {this, {tile.pixels, tile.vectors}, cycles * target.bfloat16DotCost});
  }

  std::optional<int64_t> getMultiplyAddsPerLoad(Parameters parameters,
                                                int64_t lanes) const override {
    return numElements * parameters[1] * lanes;
  }
  /// Weights are packed at compile time only.
  double getPackingCycles() const override {
    return std::numeric_limits<double>::infinity();
  }
  llvm::SmallVector<int64_t, 3>
  getPackingKey(Parameters parameters) const override {
    return {parameters[1]};
  }

  PackedFilter pack(const FilterSource &source,
                    Parameters parameters) const override {
    unsigned block = unsigned(parameters[1]) *
                     source.target.getComputeLanes(ElemKind::Float);
    auto filter = source.filter->getTensor().data<BFloat16>();
    return {source.createConstant(packLanes<BFloat16>(
        source, ElemKind::BFloat16, numElements, block,
        getDenseLaneOrder(countLanes(source.shape, numElements)),
        [&](int64_t element) { return filter[size_t(element)]; }))};
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape,
            Parameters parameters,
            ConvolutionOperands operands) const override {
    emitLanes(
        b, shape,
        {.pixels = unsigned(parameters[0]), .vectors = unsigned(parameters[1])},
        numElements, std::move(operands), ElemKind::Float,
        DotInstr::BFloat16Pairs);
  }

private:
  static constexpr int64_t numElements = 2;
};

} // namespace

static const BFloat16Algorithm bfloat16;
