//===- LanePacking.h - Weights for dot products -----------------*- C++ -*-===//
//
// Instructions for dot products multiply several small elements in a lane of 32
// bits. A convolution of such lanes is one with as many times fewer channels.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_LANEPACKING_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_LANEPACKING_H

#include "Selection/FilterPacker.h"
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

/// Packs the constant weights of \p source as \p kind, of C++ type T, in the
/// layout of getPackedLayout for blocks of \p block lanes of \p elements.
/// \p getElement: an element of the filter by its number.
template <typename T, typename Get>
Tensor packLanes(const FilterSource &source, ElemKind kind, int64_t elements,
                 unsigned block, Get getElement) {
  const ConvolutionShape &shape = source.shape;
  ConvolutionShape lanes = countLanes(shape, elements);
  WeightLayout layout = getPackedLayout(lanes, block);
  Tensor packed(Type(kind, {getPackedSize(lanes, block) * elements}));
  llvm::MutableArrayRef<T> to = packed.data<T>();
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
            to[lane * elements + c % elements] = getElement(element);
          }
  return packed;
}

/// Emits the convolution of \p shape with weights that were packed so, by
/// tiles of \p tile lanes and the instruction \p dot; None for one element a
/// lane. \p sumKind: of the sums.
void emitLanes(KernelBuilder &b, const ConvolutionShape &shape, Tile tile,
               int64_t elements, ConvolutionOperands operands, ElemKind sumKind,
               DotInstr dot);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_LANEPACKING_H
