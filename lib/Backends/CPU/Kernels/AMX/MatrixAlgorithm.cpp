//===- MatrixAlgorithm.cpp - Convolution algorithms on AMX ----------------===//

#include "Kernels/AMX/MatrixBlocking.h"
#include "Kernels/AMX/SlicedBlocking.h"
#include <cmath>

using namespace glowish;

namespace {

/// What the two for bytes and for bfloat16 have in common.
class MatrixAlgorithm : public ConvolutionAlgorithm {
public:
  MatrixAlgorithm(llvm::StringLiteral name, int64_t numElements)
      : ConvolutionAlgorithm(name), numElements(numElements) {}

  /// Weights are packed at compile time only.
  double getPackingCycles() const override {
    return std::numeric_limits<double>::infinity();
  }
  bool usesMatrixRegisters() const override { return true; }

protected:
  void addCandidate(const ConvolutionProblem &problem,
                    const TargetDescription &target,
                    std::vector<ConvolutionCandidate> &candidates) const {
    const ConvolutionShape &shape = problem.shape;
    if (shape.group != 1)
      return;
    int64_t rowStride = isInputCollapsed(shape, problem.inputStrides)
                            ? problem.inputStrides[2] / numElements
                            : 0;
    double cycles =
        MatrixBlocking(countLanes(shape, numElements), rowStride, target)
            .cycles;
    if (std::isfinite(cycles))
      candidates.push_back({this, {}, cycles});
  }

  /// As \p kind, of C++ type T.
  template <typename T, typename Get>
  PackedFilter packAs(const FilterSource &source, ElemKind kind,
                      Get getElement) const {
    return {source.createConstant(
        packLanes<T>(source, kind, numElements, unsigned(matrixColumns),
                     getMatrixLaneOrder(countLanes(source.shape, numElements)),
                     getElement))};
  }

  void emitLanes(KernelBuilder &b, const ConvolutionShape &shape,
                 AmxUnit::Elements elements,
                 ConvolutionOperands operands) const {
    readAsLanes(operands, numElements);
    emitMatrixConvolution(b, countLanes(shape, numElements), elements,
                          std::move(operands));
  }

  /// In a lane.
  int64_t numElements;
};

class MatrixBytesAlgorithm final : public MatrixAlgorithm {
public:
  MatrixBytesAlgorithm() : MatrixAlgorithm("amx", 4) {}

  bool multipliesBytes() const override { return true; }

  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t /*maxWinograd*/,
                std::vector<ConvolutionCandidate> &candidates) const override {
    if (target.hasMatrixInt8 && !problem.hasWideFilter &&
        (problem.kind == ElemKind::Int8 || problem.kind == ElemKind::UInt8))
      addCandidate(problem, target, candidates);
  }
  std::optional<ByteInput>
  getByteInput(Parameters, ElemKind kind,
               const TargetDescription &) const override {
    return ByteInput{kind, numElements};
  }
  bool takesPackedKind(ElemKind packed, ElemKind) const override {
    return packed == ElemKind::Int8;
  }
  ElemKind getSumKind(ElemKind, ElemKind) const override {
    return ElemKind::Int32;
  }
  PackedFilter pack(const FilterSource &source, Parameters) const override {
    const Tensor &filter = source.filter->getTensor();
    return packAs<int8_t>(source, ElemKind::Int8, [&](int64_t element) {
      return int8_t(getSmallInteger(filter, element));
    });
  }
  void emit(KernelBuilder &b, const ConvolutionShape &shape, Parameters,
            ConvolutionOperands operands) const override {
    bool isSigned = operands.input.kind == ElemKind::Int8;
    emitLanes(b, shape,
              isSigned ? AmxUnit::Elements::SignedBytes
                       : AmxUnit::Elements::UnsignedBySignedBytes,
              std::move(operands));
  }
};

class MatrixBFloat16Algorithm final : public MatrixAlgorithm {
public:
  MatrixBFloat16Algorithm() : MatrixAlgorithm("amx-bfloat16", 2) {}

  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t /*maxWinograd*/,
                std::vector<ConvolutionCandidate> &candidates) const override {
    if (problem.kind != ElemKind::BFloat16 || !target.hasMatrixBFloat16 ||
        !hasLanes(problem, numElements))
      return;
    // Registers are not loaded beyond a run, where there might be infinities:
    // 0 times these is none.
    ConvolutionShape lanes = countLanes(problem.shape, numElements);
    if (lanes.dilationW == 1 ? lanes.kernelW * lanes.channels % matrixColumns
                             : lanes.channels % matrixColumns)
      return;
    addCandidate(problem, target, candidates);
  }
  PackedFilter pack(const FilterSource &source, Parameters) const override {
    auto filter = source.filter->getTensor().data<BFloat16>();
    return packAs<BFloat16>(source, ElemKind::BFloat16, [&](int64_t element) {
      return filter[size_t(element)];
    });
  }
  void emit(KernelBuilder &b, const ConvolutionShape &shape, Parameters,
            ConvolutionOperands operands) const override {
    emitLanes(b, shape, AmxUnit::Elements::BFloat16Pairs, std::move(operands));
  }
};

} // namespace

static const MatrixBytesAlgorithm bytes;
static const MatrixBFloat16Algorithm bfloat16;
