//===- DotAlgorithm.cpp - Convolutions of 8-bit integers ------------------===//
//
// The direct convolution, of lanes of 32 bits in which several channels lie
// side by side.
//
//===----------------------------------------------------------------------===//

#include "Selection/ConvolutionAlgorithm.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

/// The instruction for \p elements a lane; None multiplies one by one.
static DotInstr getInstr(int64_t elements, const TargetDescription &target) {
  return elements == 1   ? DotInstr::None
         : elements == 2 ? DotInstr::Pairs
                         : target.dot;
}

ElemKind glowish::getDotInputKind(const ConvolutionCandidate &candidate,
                                  ElemKind kind,
                                  const TargetDescription &target) {
  switch (getInstr(candidate.parameters[0], target)) {
  case DotInstr::None:
    return kind;
  case DotInstr::Pairs:
    return ElemKind::Int16;
  case DotInstr::UnsignedQuads:
    return ElemKind::UInt8;
  case DotInstr::SignedQuads:
    return ElemKind::Int8;
  }
  llvm_unreachable("not an instruction");
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
  }
  llvm_unreachable("not an instruction");
}

/// \p shape with lanes of \p elements channels instead of channels.
static ConvolutionShape countLanes(ConvolutionShape shape, int64_t elements) {
  shape.channels =
      int64_t(llvm::divideCeil(shape.getGroupChannels(), elements)) *
      shape.group;
  return shape;
}

/// Packs \p source, of bytes or int16, as \p T: blocks of lanes.
template <typename T>
static Tensor packLanes(const FilterSource &source, ElemKind kind,
                        int64_t elements, unsigned block) {
  const Tensor &filter = source.filter->getTensor();
  ConvolutionShape lanes = countLanes(source.shape, elements);
  WeightLayout layout = getPackedLayout(lanes, block);
  Tensor packed(Type(kind, {getPackedSize(lanes, block) * elements}));
  llvm::MutableArrayRef<T> to = packed.data<T>();
  const ConvolutionShape &shape = source.shape;
  const Dims &s = source.strides;
  int64_t depth = lanes.getGroupChannels();
  for (int64_t g = 0; g < shape.group; ++g)
    for (int64_t n = 0; n < shape.getGroupOutChannels(); ++n)
      for (int64_t kh = 0; kh < shape.kernelH; ++kh)
        for (int64_t kw = 0; kw < shape.kernelW; ++kw)
          for (int64_t c = 0; c < shape.getGroupChannels(); ++c) {
            int64_t element =
                g * s[0] + kh * s[1] + kw * s[2] + c * s[3] + n * s[4];
            int64_t lane = g * layout.groupStride +
                           n / block * layout.blockStride +
                           ((kh * shape.kernelW + kw) * depth + c / elements) *
                               layout.rowStride +
                           n % block;
            to[lane * elements + c % elements] =
                T(getSmallInteger(filter, element));
          }
  return packed;
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

  double getPackingCycles() const override { return 1; }
  llvm::SmallVector<int64_t, 3>
  getPackingKey(Parameters parameters) const override {
    return {parameters[0], parameters[2]};
  }
  bool takesPackedKind(ElemKind packed, ElemKind kind) const override {
    return kind == ElemKind::Int16
               ? packed == ElemKind::Int16
               : packed == ElemKind::Int8 || packed == ElemKind::UInt8 ||
                     packed == ElemKind::Int16;
  }
  ElemKind getSumKind(ElemKind) const override { return ElemKind::Int32; }

  PackedFilter pack(const FilterSource &source,
                    Parameters parameters) const override {
    unsigned block = unsigned(parameters[2]) *
                     source.target.getComputeLanes(ElemKind::Int32);
    int64_t elements = parameters[0];
    ElemKind own = source.filter->getType().getKind();
    if (elements == 2 || own == ElemKind::Int16)
      return {source.createConstant(
          packLanes<int16_t>(source, ElemKind::Int16, elements, block))};
    // One by one, bytes of either signedness are multiplied.
    if (elements == 1 && own == ElemKind::UInt8)
      return {source.createConstant(
          packLanes<uint8_t>(source, ElemKind::UInt8, elements, block))};
    return {source.createConstant(
        packLanes<int8_t>(source, ElemKind::Int8, elements, block))};
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape,
            Parameters parameters,
            ConvolutionOperands operands) const override {
    const TargetDescription &target = b.getTarget();
    int64_t elements = parameters[0];
    ConvolutionShape lanes = countLanes(shape, elements);
    Tile tile = {.pixels = unsigned(parameters[1]),
                 .vectors = unsigned(parameters[2])};
    unsigned block = tile.vectors * target.getPackedLanes(4);
    // The weights are packed for wider vectors than this code has.
    if (target.packedBits != target.vectorBits)
      tile = chooseTile(lanes, ElemKind::Int32, target, block);
    if (elements > 1)
      operands.input.kind = operands.weightKind = ElemKind::Int32;
    for (int64_t &stride :
         llvm::MutableArrayRef(operands.input.strides).drop_back())
      stride /= elements;
    emitConvolution(b, lanes, tile, getPackedLayout(lanes, block),
                    std::move(operands), getInstr(elements, target));
  }
};

} // namespace

const ConvolutionAlgorithm &glowish::getDotAlgorithm() {
  static const DotAlgorithm algorithm;
  return algorithm;
}
