//===- SplitStage.h - The pixels of a task, split ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITSTAGE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITSTAGE_H

#include "SplitPlan.h"

namespace glowish {

/// What is split at a time.
struct SplitRange {
  /// The image, 0 where all are one row.
  llvm::Value *image;
  /// The first pixel, at the beginning of a row unless the plan stages tiles.
  /// Where it does, \p numPixels are split, else the plan's rows.
  llvm::Value *firstPixel, *numPixels;
  /// Groups of channels.
  llvm::Value *firstGroup, *endGroup;
};

/// Where a stage lies.
struct SplitStage {
  llvm::Value *digits;
  /// Floats: what the pixels are multiplied with, and what their sums are. One
  /// for each pixel where the plan is flat, else one, and space for 16.
  llvm::Value *factors, *scales;
  /// Where the input is turned or gathered: numDigits squares of 16 x 16 int32.
  llvm::Value *scratch;
};

/// Finds the scales of \p range of \p input, a convolution's input of \p shape,
/// which has all groups of channels, and writes the digits with their padding.
void emitSplitStage(KernelBuilder &b, const ConvolutionShape &shape,
                    const SplitPlan &plan, const SplitStage &stage,
                    const StridedOperand &input, const SplitRange &range);

/// The same in two steps, where the groups come in chunks: the scales of all
/// channels, and then the digits of the groups of \p range.
void emitSplitScales(KernelBuilder &b, const ConvolutionShape &shape,
                     const SplitPlan &plan, const SplitStage &stage,
                     const StridedOperand &input, const SplitRange &range);

void emitSplitDigits(KernelBuilder &b, const ConvolutionShape &shape,
                     const SplitPlan &plan, const SplitStage &stage,
                     const StridedOperand &input, const SplitRange &range);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITSTAGE_H
