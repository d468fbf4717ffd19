//===- LanePacking.h - Weights for dot products -----------------*- C++ -*-===//
//
// Instructions for dot products multiply several small elements in a lane of 32
// bits. A convolution of such lanes is one with as many times fewer channels.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_LANEPACKING_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_LANEPACKING_H

#include "Selection/ConvolutionAlgorithm.h"
#include "llvm/Support/MathExtras.h"

namespace glowish {

/// \p shape with lanes of \p elements channels instead of channels; the last
/// lane of a group may be filled up.
inline ConvolutionShape countLanes(ConvolutionShape shape, int64_t elements) {
  shape.channels =
      int64_t(llvm::divideCeil(shape.getGroupChannels(), elements)) *
      shape.group;
  return shape;
}

/// Whether the input of \p problem, of one group, can be read as lanes of
/// \p elements.
inline bool hasLanes(const ConvolutionProblem &problem, int64_t elements) {
  return problem.shape.getGroupChannels() % elements == 0 &&
         problem.inputStrides.back() == 1 &&
         llvm::all_of(DimsRef(problem.inputStrides).drop_back(),
                      [&](int64_t stride) { return stride % elements == 0; });
}

/// The lanes from a tap of a filter to the next in its row, and from a row to
/// the next.
struct LaneOrder {
  int64_t tapLanes, rowLanes;
};

/// Packs the constant weights of \p source as \p kind, of C++ type T, in
/// blocks of \p block output channels, as in the layout of getPackedLayout: a
/// lane of \p elements of each, in \p order, which may leave lanes that are 0.
/// \p getElement: an element of the filter by its number.
template <typename T, typename Get>
Tensor packLanes(const FilterSource &source, ElemKind kind, int64_t elements,
                 unsigned block, LaneOrder order, Get getElement) {
  const ConvolutionShape &shape = source.shape;
  int64_t blockStride = shape.kernelH * order.rowLanes * block;
  int64_t blocks =
      int64_t(llvm::divideCeil(shape.getGroupOutChannels(), int64_t(block)));
  int64_t groupStride = blocks * blockStride;
  Tensor packed(Type(kind, {shape.group * groupStride * elements}));
  llvm::MutableArrayRef<T> to = packed.data<T>();
  source.forEachWeight([&](const WeightIndex &at, int64_t element) {
    int64_t number =
        at.kh * order.rowLanes + at.kw * order.tapLanes + at.c / elements;
    int64_t lane = at.g * groupStride + at.n / block * blockStride +
                   number * block + at.n % block;
    to[lane * elements + at.c % elements] = getElement(element);
  });
  return packed;
}

/// The order without lanes in between, of a convolution of \p lanes.
inline LaneOrder getDenseLaneOrder(const ConvolutionShape &lanes) {
  int64_t depth = lanes.getGroupChannels();
  return {.tapLanes = depth, .rowLanes = lanes.kernelW * depth};
}

/// Makes the input and the weights of \p operands lanes of \p elements, as
/// int32.
void readAsLanes(ConvolutionOperands &operands, int64_t elements);

/// Emits the convolution of \p shape with weights in the dense order, by
/// tiles of \p tile lanes and the instruction \p dot; None for one element a
/// lane. \p sumKind: of the sums.
void emitLanes(KernelBuilder &b, const ConvolutionShape &shape, Tile tile,
               int64_t elements, ConvolutionOperands operands, ElemKind sumKind,
               DotInstr dot);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_LANEPACKING_H
