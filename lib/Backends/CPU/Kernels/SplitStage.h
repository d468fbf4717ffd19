//===- SplitStage.h - The pixels of a task, split -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITSTAGE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITSTAGE_H

#include "SplitPlan.h"

namespace glowish {

/// What is split at a time.
struct SplitRange {
  /// The image, 0 where all are one row.
  llvm::Value *image;
  /// The first pixel, at the beginning of a row unless the input is flat. Where
  /// it is, \p numPixels are split, else the plan's rows.
  llvm::Value *firstPixel, *numPixels;
  /// Groups of channels.
  llvm::Value *firstGroup, *endGroup;
};

/// Writes the parts of \p range of \p input, a convolution's input of
/// \p shape, with their padding to \p stage.
void emitSplitStage(KernelBuilder &b, const ConvolutionShape &shape,
                    const SplitPlan &plan, llvm::Value *stage,
                    const StridedOperand &input, const SplitRange &range);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_SPLITSTAGE_H
