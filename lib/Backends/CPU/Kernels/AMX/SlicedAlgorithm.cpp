//===- SlicedAlgorithm.cpp - Convolution algorithm on int8 slices ---------===//

#include "Instrs.h"
#include "Kernels/AMX/SlicedImage.h"
#include "Selection/ConvolutionAlgorithm.h"
#include <cmath>

using namespace glowish;

namespace {

class SlicedAlgorithm final : public ConvolutionAlgorithm {
public:
  SlicedAlgorithm() : ConvolutionAlgorithm("int8-slices") {}

  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t /*maxWinograd*/,
                std::vector<ConvolutionCandidate> &candidates) const override {
    if (problem.kind != ElemKind::Float)
      return;
    const ConvolutionShape &shape = problem.shape;
    double cycles = estimateSliced(shape, problem.inputStrides, target);
    if (!std::isfinite(cycles))
      return;
    // The estimate ignores cache misses and was fitted against vector kernels
    // that reach 80% of their peak.
    int64_t lanes = target.getLanes(4);
    double vectors = double(getNumOperations(shape)) *
                     double(llvm::alignTo(shape.outChannels, lanes)) /
                     double(shape.outChannels) / (double(lanes) * 4 * 0.8);
    double direct = rankTiles(shape, problem.kind, target).front().cycles;
    candidates.push_back({this, {}, cycles / vectors * direct});
  }

  /// Measured with weights in the cache.
  double getPackingCycles() const override { return 0.8; }
  bool takesTransposedInput() const override { return true; }
  bool usesMatrixRegisters() const override { return true; }
  bool takesPackedKind(ElemKind packed, ElemKind) const override {
    return packed == ElemKind::Int8;
  }
  bool hasScales() const override { return true; }
  /// Returns 3/4: three slices of a byte each for a float.
  double getPackedRatio(const ConvolutionShape &, Parameters,
                        ElemKind) const override {
    return 0.75;
  }

  PackedFilter pack(const FilterSource &source, Parameters) const override {
    const ConvolutionShape &shape = source.shape;
    DimsRef strides = DimsRef(source.strides).drop_front();
    if (source.isConstant()) {
      SlicedWeights sliced = sliceWeights(shape, source.getFloats(), strides);
      Buffer *filter = source.createConstant(std::move(sliced.slices));
      return {filter, source.createConstant(std::move(sliced.scales))};
    }
    Dims extents = {shape.kernelH, shape.kernelW, shape.channels,
                    shape.outChannels};
    PackedFilter packed;
    packed.filter =
        source.createActivation(Type(ElemKind::Int8, {getSlicedSize(extents)}));
    packed.scales =
        source.createActivation(Type(ElemKind::Float, {shape.outChannels}));
    Buffer *weights = source.createView(extents, 0, strides);
    source.createInstr(
        CPUSliceWeightsInstr::draft(packed.filter, packed.scales, weights));
    return packed;
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape, Parameters,
            ConvolutionOperands operands) const override {
    emitSlicedConvolution(b, shape, std::move(operands));
  }
};

} // namespace

static const SlicedAlgorithm slices;
