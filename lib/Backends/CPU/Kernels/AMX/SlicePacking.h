//===- SlicePacking.h - The pixels of a task, sliced ---------------*- C++
//-*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEPACKING_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEPACKING_H

#include "Kernels/AMX/SlicedBlocking.h"

namespace glowish {

/// What is sliced at a time.
struct SliceRange {
  /// The image, 0 where all are one row.
  llvm::Value *image;
  /// The first pixel, at the beginning of a row unless the plan packs tiles.
  /// Where it does, \p numPixels are sliced, else the plan's rows.
  llvm::Value *firstPixel, *numPixels;
  /// Groups of channels.
  llvm::Value *firstGroup, *endGroup;
};

/// Where a panel lies.
struct SlicePanel {
  llvm::Value *slices;
  /// Floats: what the pixels are multiplied with, and what their sums are. One
  /// for each pixel where the plan is collapsed, else one, and space for 16.
  llvm::Value *factors, *scales;
  /// Where the input is transposed or gathered: numSlices squares of 16 x 16
  /// int32.
  llvm::Value *scratch;
};

/// Finds the scales of \p range of \p input, a convolution's input of \p shape,
/// which has all groups of channels, and writes the slices with their padding.
void emitSlicePanel(KernelBuilder &b, const ConvolutionShape &shape,
                    const SlicedBlocking &plan, const SlicePanel &panel,
                    const StridedOperand &input, const SliceRange &range);

/// The same in two steps, where the groups come in chunks: the scales of all
/// channels, and then the slices of the groups of \p range.
void emitSliceScales(KernelBuilder &b, const ConvolutionShape &shape,
                     const SlicedBlocking &plan, const SlicePanel &panel,
                     const StridedOperand &input, const SliceRange &range);

void emitSlices(KernelBuilder &b, const ConvolutionShape &shape,
                const SlicedBlocking &plan, const SlicePanel &panel,
                const StridedOperand &input, const SliceRange &range);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_SLICEPACKING_H
