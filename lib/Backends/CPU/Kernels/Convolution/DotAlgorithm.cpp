//===- DotAlgorithm.cpp - Convolutions of 8-bit integers ------------------===//
//
// The direct convolution, of lanes of 32 bits in which several channels lie
// side by side.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Convolution/LanePacking.h"

using namespace glowish;

/// The instruction for \p elements a lane; None multiplies one by one.
static DotInstr getInstr(int64_t elements, const TargetDescription &target) {
  return elements == 1   ? DotInstr::None
         : elements == 2 ? DotInstr::Pairs
                         : target.dot;
}

/// The element kind that \p instr multiplies where inputs are of \p kind.
static ElemKind getInputKind(DotInstr instr, ElemKind kind) {
  switch (instr) {
  case DotInstr::None:
    return kind;
  case DotInstr::Pairs:
    return ElemKind::Int16;
  case DotInstr::UnsignedQuads:
    return ElemKind::UInt8;
  case DotInstr::SignedQuads:
    return ElemKind::Int8;
  case DotInstr::BFloat16Pairs:
    break;
  }
  llvm_unreachable("not an instruction for integers");
}

/// How many elements a lane has.
static int64_t countElementsPerLane(const ConvolutionProblem &problem,
                                    const TargetDescription &target) {
  switch (target.dot) {
  case DotInstr::None:
    return 1;
  case DotInstr::Pairs:
    return 2;
  // Of the targets with quads, those of x86 have pairs, too.
  case DotInstr::UnsignedQuads:
    return problem.hasWideFilter ? 2 : 4;
  case DotInstr::SignedQuads:
    return problem.hasWideFilter ? 1 : 4;
  case DotInstr::BFloat16Pairs:
    break;
  }
  llvm_unreachable("not an instruction for integers");
}

namespace {

class DotAlgorithm final : public ConvolutionAlgorithm {
public:
  DotAlgorithm() : ConvolutionAlgorithm("dot", "ELEMENTS PIXELSxVECTORS") {}

  bool multipliesBytes() const override { return true; }

  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t /*maxWinograd*/,
                std::vector<ConvolutionCandidate> &candidates) const override {
    if (isDepthwise(problem.shape))
      return;
    int64_t elements = countElementsPerLane(problem, target);
    for (auto [tile, cycles] : rankTiles(countLanes(problem.shape, elements),
                                         ElemKind::Int32, target))
      candidates.push_back(
          {this, {elements, tile.pixels, tile.vectors}, cycles});
  }

  std::optional<ByteInput>
  getByteInput(Parameters parameters, ElemKind kind,
               const TargetDescription &target) const override {
    int64_t elements = parameters[0];
    return ByteInput{getInputKind(getInstr(elements, target), kind), elements};
  }
  std::optional<int64_t> getMultiplyAddsPerLoad(Parameters parameters,
                                                int64_t lanes) const override {
    return parameters[0] * parameters[2] * lanes;
  }
  double getPackingCycles() const override { return 1; }
  llvm::SmallVector<int64_t, 3>
  getPackingKey(Parameters parameters) const override {
    return {parameters[0], parameters[2]};
  }
  /// Returns 2 for bytes that become int16.
  double getPackedRatio(const ConvolutionShape &, Parameters parameters,
                        ElemKind filter) const override {
    return parameters[0] == 2 && filter != ElemKind::Int16 ? 2 : 1;
  }
  bool takesPackedKind(ElemKind packed, ElemKind kind) const override {
    return kind == ElemKind::Int16
               ? packed == ElemKind::Int16
               : packed == ElemKind::Int8 || packed == ElemKind::UInt8 ||
                     packed == ElemKind::Int16;
  }
  ElemKind getSumKind(ElemKind, ElemKind) const override {
    return ElemKind::Int32;
  }

  PackedFilter pack(const FilterSource &source,
                    Parameters parameters) const override {
    unsigned block = unsigned(parameters[2]) *
                     source.target.getComputeLanes(ElemKind::Int32);
    int64_t elements = parameters[0];
    const Tensor &filter = source.filter->getTensor();
    ElemKind own = filter.getType().getKind();
    auto packAs = [&]<typename T>(ElemKind kind, T) -> PackedFilter {
      return {source.createConstant(
          packLanes<T>(source, kind, elements, block,
                       getDenseLaneOrder(countLanes(source.shape, elements)),
                       [&](int64_t element) {
                         return T(getSmallInteger(filter, element));
                       }))};
    };
    if (elements == 2 || own == ElemKind::Int16)
      return packAs(ElemKind::Int16, int16_t());
    // One by one, bytes of either signedness are multiplied.
    if (elements == 1 && own == ElemKind::UInt8)
      return packAs(ElemKind::UInt8, uint8_t());
    return packAs(ElemKind::Int8, int8_t());
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape,
            Parameters parameters,
            ConvolutionOperands operands) const override {
    emitLanes(
        b, shape,
        {.pixels = unsigned(parameters[1]), .vectors = unsigned(parameters[2])},
        parameters[0], std::move(operands), ElemKind::Int32,
        getInstr(parameters[0], b.getTarget()));
  }
};

} // namespace

static const DotAlgorithm dot;
