//===- DualWindow.h - Two windows of one channel in assembly ----*- C++ -*-===//
//
// The taps of a small filter stay in registers while its windows go over a row.
// LLVM's register allocator moves and reloads them; here they are operands of a
// piece of Thumb-2 assembly that needs no more than two registers beside.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_DUALWINDOW_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_DUALWINDOW_H

#include "Kernels/Dual/DualConvolution.h"

namespace glowish {

/// Two neighbouring windows of a widened channel.
struct DualWindow {
  const ConvolutionShape &shape;
  /// int16 from a row of the channel to the next.
  int64_t rowStride;
  const DualTaps &taps;

  /// Whether the taps fit the registers, and the instructions reach the rows.
  bool isPossible(const TargetDescription &target) const;
  /// The sums of both, which begin as \p start. \p pixel: an even column.
  Values emit(KernelBuilder &b, llvm::Value *start, llvm::Value *pixel,
              llvm::Value *weights) const;

private:
  std::string getRow(int64_t kh) const;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_DUALWINDOW_H
