//===- ReductionAlgorithm.cpp - The choice of sums over lanes -------------===//

#include "Kernels/Reduction/ReductionConvolution.h"
#include "Selection/ConvolutionAlgorithm.h"

using namespace glowish;

namespace {

class ReductionAlgorithm final : public ConvolutionAlgorithm {
public:
  ReductionAlgorithm() : ConvolutionAlgorithm("reduction", "PIXELS") {}

  bool multipliesBytes() const override { return true; }
  ZeroPointUse getZeroPointUse() const override {
    return ZeroPointUse::Filling;
  }
  std::optional<ByteInput>
  getByteInput(Parameters, ElemKind kind,
               const TargetDescription &) const override {
    return ByteInput{kind, 1};
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

  double getPackingCycles() const override { return 1; }
  bool takesPackedKind(ElemKind packed, ElemKind) const override {
    return packed == ElemKind::Int8;
  }
  ElemKind getSumKind(ElemKind, ElemKind) const override {
    return ElemKind::Int32;
  }

  PackedFilter pack(const FilterSource &source, Parameters) const override {
    const ConvolutionShape &shape = source.shape;
    ReductionWeights weights(shape);
    Tensor packed(Type(ElemKind::Int8, {shape.group * weights.blocks *
                                        weights.getBlockBytes()}));
    const Tensor &filter = source.filter->getTensor();
    const Dims &s = source.strides;
    int64_t depth = shape.getGroupChannels();
    for (int64_t g = 0; g < shape.group; ++g)
      for (int64_t n = 0; n < shape.getGroupOutChannels(); ++n)
        for (int64_t kh = 0; kh < shape.kernelH; ++kh)
          for (int64_t kw = 0; kw < shape.kernelW; ++kw)
            for (int64_t c = 0; c < depth; ++c) {
              int64_t from =
                  g * s[0] + kh * s[1] + kw * s[2] + c * s[3] + n * s[4];
              bool isOneSegment = weights.segments == 1;
              int64_t to = weights.getPlace(g, n, kh, isOneSegment ? 0 : kw,
                                            isOneSegment ? kw * depth + c : c);
              packed.data<int8_t>()[size_t(to)] =
                  int8_t(getSmallInteger(filter, from));
            }
    return {source.createConstant(std::move(packed))};
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape,
            Parameters parameters,
            ConvolutionOperands operands) const override {
    emitReductionConvolution(b, shape, parameters[0], std::move(operands));
  }
};

} // namespace

const ConvolutionAlgorithm &glowish::getReductionAlgorithm() {
  static const ReductionAlgorithm algorithm;
  return algorithm;
}
