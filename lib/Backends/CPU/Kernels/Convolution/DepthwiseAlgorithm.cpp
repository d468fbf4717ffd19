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

  std::optional<SumOrder> getSumOrder(Parameters) const override {
    return SumOrder();
  }
  std::optional<int64_t> getMultiplyAddsPerLoad(Parameters,
                                                int64_t lanes) const override {
    return lanes;
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

class DepthwiseBytesAlgorithm final : public ConvolutionAlgorithm {
public:
  DepthwiseBytesAlgorithm() : ConvolutionAlgorithm("depthwise-bytes") {}

  bool multipliesBytes() const override { return true; }

  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t /*maxWinograd*/,
                std::vector<ConvolutionCandidate> &candidates) const override {
    // It needs an estimate, which is more than none, beside dual-depthwise:
    // that is faster where it applies.
    double cycles = target.hasDualMultiply
                        ? double(getNumOperations(problem.shape)) / 2
                        : 0;
    if (isDepthwise(problem.shape))
      candidates.push_back({this, /*parameters=*/{}, cycles});
  }

  std::optional<int64_t> getMultiplyAddsPerLoad(Parameters,
                                                int64_t lanes) const override {
    return lanes;
  }
  double getPackingCycles() const override { return 0; }
  bool takesPackedKind(ElemKind packed, ElemKind) const override {
    return packed == ElemKind::Int32;
  }
  ElemKind getSumKind(ElemKind, ElemKind) const override {
    return ElemKind::Int32;
  }

  /// [kh][kw][channel], as int32.
  PackedFilter pack(const FilterSource &source, Parameters) const override {
    const ConvolutionShape &shape = source.shape;
    const Tensor &filter = source.filter->getTensor();
    Tensor packed(
        Type(ElemKind::Int32, {shape.kernelH, shape.kernelW, shape.channels}));
    const Dims &s = source.strides;
    size_t next = 0;
    for (int64_t kh = 0; kh < shape.kernelH; ++kh)
      for (int64_t kw = 0; kw < shape.kernelW; ++kw)
        for (int64_t g = 0; g < shape.channels; ++g)
          packed.data<int32_t>()[next++] =
              getSmallInteger(filter, g * s[0] + kh * s[1] + kw * s[2]);
    return {source.createConstant(std::move(packed))};
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape, Parameters,
            ConvolutionOperands operands) const override {
    emitDepthwiseBytes(b, shape, operands);
  }
};

} // namespace

static const DepthwiseAlgorithm floats;
static const DepthwiseBytesAlgorithm bytes;
