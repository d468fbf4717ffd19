//===- ReductionAlgorithm.cpp - The choice of sums over lanes -------------===//

#include "Kernels/Convolution/RowAlgorithm.h"
#include "Kernels/Reduction/ReductionConvolution.h"

using namespace glowish;

namespace {

class ReductionAlgorithm final : public RowAlgorithm {
public:
  ReductionAlgorithm() : RowAlgorithm("reduction", "PIXELS") {}

  ZeroPointUse getZeroPointUse() const override {
    return ZeroPointUse::Filling;
  }
  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t /*maxWinograd*/,
                std::vector<ConvolutionCandidate> &candidates) const override {
    if (!target.hasDotReduction || problem.hasWideFilter ||
        isDepthwise(problem.shape))
      return;
    int64_t pixels = chooseReductionPixels(problem.shape);
    if (!chooseReductionColumns(problem.shape, pixels, target))
      return;
    // Estimates of other kernels take two instructions a cycle.
    candidates.push_back(
        {this,
         {pixels},
         estimateReductionInstructions(problem.shape, pixels) / 2});
  }

  PackedFilter pack(const FilterSource &source, Parameters) const override {
    ReductionWeights weights(source.shape);
    int64_t depth = source.shape.getGroupChannels();
    return packRowWeights(source, weights, [&](const WeightIndex &at) {
      bool isOneSegment = weights.segments == 1;
      return weights.getPlace(at.g, at.n, at.kh, isOneSegment ? 0 : at.kw,
                              isOneSegment ? at.kw * depth + at.c : at.c);
    });
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape,
            Parameters parameters,
            ConvolutionOperands operands) const override {
    emitReductionConvolution(b, shape, parameters[0], std::move(operands));
  }
};

} // namespace

static const ReductionAlgorithm reduction;
