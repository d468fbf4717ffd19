//===- RowAlgorithm.h - Algorithms on the rows under windows ----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_ROWALGORITHM_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_ROWALGORITHM_H

#include "Kernels/Convolution/RowTiles.h"
#include "Selection/ConvolutionAlgorithm.h"

namespace glowish {

/// What the algorithms that copy bytes to WindowRows have in common.
class RowAlgorithm : public ConvolutionAlgorithm {
public:
  using ConvolutionAlgorithm::ConvolutionAlgorithm;

  bool multipliesBytes() const override { return true; }
  std::optional<ByteInput>
  getByteInput(Parameters, ElemKind kind,
               const TargetDescription &) const override {
    return ByteInput{kind, 1};
  }
  double getPackingCycles() const override { return 1; }
  ElemKind getSumKind(ElemKind, ElemKind) const override {
    return ElemKind::Int32;
  }
  bool takesPackedKind(ElemKind packed, ElemKind) const override {
    return packed == ElemKind::Int8;
  }
};

/// The weights of \p source packed as \p weights, each at \p getPlace of its
/// group, output channel in that, kernel row and column, and input channel.
inline PackedFilter
packRowWeights(const FilterSource &source, const RowWeights &weights,
               llvm::function_ref<int64_t(const WeightIndex &)> getPlace) {
  Tensor packed(Type(ElemKind::Int8, {weights.getBytes(source.shape)}));
  const Tensor &filter = source.filter->getTensor();
  source.forEachWeight([&](const WeightIndex &at, int64_t element) {
    packed.data<int8_t>()[size_t(getPlace(at))] =
        int8_t(getSmallInteger(filter, element));
  });
  return {source.createConstant(std::move(packed))};
}

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_ROWALGORITHM_H
