//===- DualLoop.h - The loop over pairs in assembly -------------*- C++ -*-===//
//
// LLVM's schedulers mix the steps of a loop over pairs, need more registers
// than there are, and spill sums. This loop is a piece of Thumb-2 assembly that
// takes all fourteen general registers; its end is in a floating-point
// register.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_DUALLOOP_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_DUALLOOP_H

#include "Kernels/KernelBuilder.h"

namespace glowish {

/// Sums of three pixels by two channels. A step takes two pairs of each pixel's
/// elements, which are multiples of 4 bytes away from each other, and the
/// weights of two pairs.
struct DualLoop {
  static constexpr int64_t pixels = 3, channels = 2;

  /// int16 from a pixel to the next.
  int64_t pixelStride;

  /// Whether the target has the registers, and the instructions the reach.
  bool isPossible(const TargetDescription &target) const;

  /// Where a loop is: \p sums are pixel by pixel.
  struct State {
    Values sums;
    llvm::Value *pixel, *weights;
  };
  /// The state after \p steps steps.
  State emit(KernelBuilder &b, int64_t steps, State state) const;

private:
  State emitBlock(KernelBuilder &b, int64_t steps, int64_t repetitions,
                  State state) const;
  std::string getStep() const;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_DUALLOOP_H
