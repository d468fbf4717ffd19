//===- SlicePacking.h - Packing of pixels as int8 slices --------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEPACKING_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEPACKING_H

#include "Kernels/AMX/SlicedBlocking.h"

namespace glowish {

/// The part of an input that is packed into a panel.
struct SliceRange {
  /// The image; 0 where the pixels of all images are collapsed into one row.
  llvm::Value *image;
  /// The first pixel. If the blocking packs tiles, \p numPixels are sliced;
  /// else it begins a row, and panelRows rows of the blocking are.
  llvm::Value *firstPixel, *numPixels;
  /// The end of the rows that are packed, and the ends of the rows and columns
  /// of the input, beyond which all is padding, if firstPixel begins a row.
  llvm::Value *endRow, *endInputRow, *endInputColumn;
  /// The range of channel groups.
  llvm::Value *firstGroup, *endGroup;
};

/// The memory of a packed panel of pixels.
struct SlicePanel {
  llvm::Value *slices;
  /// The float factors of pixels before slicing, and of their sums afterwards:
  /// one for each pixel if the blocking is collapsed, else one for the panel,
  /// with space for 16.
  llvm::Value *factors, *scales;
  /// If the input is transposed or gathered: numSlices blocks of 16 x 16 int32.
  llvm::Value *scratch;
};

/// The steps of packing. Where the groups come in chunks, they are apart: the
/// scales of all channels, and then the slices of each chunk.
enum class SliceStep : uint8_t { Both, Scales, Slices };

/// Emits code that packs \p range of \p input, the input of a convolution of
/// \p shape, into \p panel: it computes the scales and writes the slices with
/// their padding. For scales the range has all groups of channels.
void emitSlicePanel(KernelBuilder &b, const ConvolutionShape &shape,
                    const SlicedBlocking &blocking, const SlicePanel &panel,
                    const StridedOperand &input, const SliceRange &range,
                    SliceStep step);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEPACKING_H
