//===- DualAlgorithm.cpp - The choice of convolutions of pairs ------------===//

#include "Kernels/Convolution/RowAlgorithm.h"
#include "Kernels/Dual/DualConvolution.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

namespace {

/// What both have in common.
class DualRowAlgorithm : public RowAlgorithm {
public:
  using RowAlgorithm::RowAlgorithm;

  ZeroPointUse getZeroPointUse() const override {
    return ZeroPointUse::Subtraction;
  }
};

class DualAlgorithm final : public DualRowAlgorithm {
public:
  DualAlgorithm() : DualRowAlgorithm("dual", "PIXELSxCHANNELS") {}

  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t /*maxWinograd*/,
                std::vector<ConvolutionCandidate> &candidates) const override {
    if (!target.hasDualMultiply || problem.hasWideFilter ||
        isDepthwise(problem.shape))
      return;
    DualTile tile = chooseDualTile(problem.shape);
    if (!chooseDualColumns(problem.shape, tile, target))
      return;
    // Estimates of other kernels take two instructions a cycle.
    candidates.push_back({this,
                          {tile.pixels, tile.channels},
                          estimateDualInstructions(problem.shape, tile) / 2});
  }

  llvm::SmallVector<int64_t, 3>
  getPackingKey(Parameters parameters) const override {
    return {parameters[1]};
  }
  PackedFilter pack(const FilterSource &source,
                    Parameters parameters) const override {
    DualWeights weights(source.shape, parameters[1]);
    int64_t columnStride =
        getWidenedLayout(source.shape, weights.order, /*outColumns=*/1)
            .columnStride;
    return packRowWeights(source, weights, [&](const WeightIndex &at) {
      return weights.getPlace(at, columnStride);
    });
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape,
            Parameters parameters,
            ConvolutionOperands operands) const override {
    emitDualConvolution(b, shape,
                        {.pixels = parameters[0], .channels = parameters[1]},
                        std::move(operands));
  }
};

class DualDepthwiseAlgorithm final : public DualRowAlgorithm {
public:
  DualDepthwiseAlgorithm() : DualRowAlgorithm("dual-depthwise") {}

  /// Where it applies, no other is as fast: there is nothing to estimate.
  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t /*maxWinograd*/,
                std::vector<ConvolutionCandidate> &candidates) const override {
    if (target.hasDualMultiply && isDepthwise(problem.shape) &&
        chooseDualBand(problem.shape, target))
      candidates.push_back({this, /*parameters=*/{}});
  }

  /// Returns 2: bytes become int16.
  double getPackedRatio(const ConvolutionShape &, Parameters,
                        ElemKind) const override {
    return 2;
  }
  bool takesPackedKind(ElemKind packed, ElemKind) const override {
    return packed == ElemKind::Int16;
  }

  PackedFilter pack(const FilterSource &source, Parameters) const override {
    const ConvolutionShape &shape = source.shape;
    DualTaps taps(shape.kernelW);
    int64_t pairs = taps.getPairs();
    Tensor packed(
        Type(ElemKind::Int16, {shape.channels, shape.kernelH, pairs, 2}));
    const Tensor &filter = source.filter->getTensor();
    const Dims &s = source.strides;
    for (int64_t c = 0; c < shape.channels; ++c)
      for (int64_t kh = 0; kh < shape.kernelH; ++kh)
        for (int64_t pair = 0; pair < pairs; ++pair)
          for (int64_t half : {0, 1}) {
            int64_t tap = taps.getTap(pair) + half;
            if (tap >= shape.kernelW)
              continue;
            packed.data<int16_t>()[size_t(
                ((c * shape.kernelH + kh) * pairs + pair) * 2 + half)] =
                int16_t(
                    getSmallInteger(filter, c * s[0] + kh * s[1] + tap * s[2]));
          }
    return {source.createConstant(std::move(packed))};
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape, Parameters,
            ConvolutionOperands operands) const override {
    emitDualDepthwise(b, shape, std::move(operands));
  }
};

} // namespace

static const DualAlgorithm dual;
static const DualDepthwiseAlgorithm depthwise;
