//===- FilterGradient.h - Gradients of filters ------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_FILTERGRADIENT_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_FILTERGRADIENT_H

#include "Kernels/Convolution/Convolution.h"

namespace glowish {

/// The gradient of the filter of a convolution of \p shape. \p result: dense
/// [OC, KH, KW, C / group]. \p input and \p gradient, of the convolution's
/// result, are dense.
void emitFilterGradient(KernelBuilder &b, const ConvolutionShape &shape,
                        llvm::Value *result, StridedOperand input,
                        StridedOperand gradient);

/// The same for float on matrix units, where SlicedFilterBlocking finds a way.
void emitSlicedFilterGradient(KernelBuilder &b, const ConvolutionShape &shape,
                              llvm::Value *result, StridedOperand input,
                              StridedOperand gradient);

/// How emitFewChannelFilterGradient cuts its work.
struct FewChannelBlocking {
  FewChannelBlocking(const ConvolutionShape &shape, ElemKind kind,
                     const TargetDescription &target);

  /// Of the matmul: all taps of all input channels.
  int64_t rows = 0;
  /// Whether images are copied with their padding, and of what size.
  bool isPadded = false;
  int64_t height = 0, width = 0;
  unsigned lanes = 1, vectors = 1, tileRows = 1;
  /// Of rows, and of vectors of output channels.
  int64_t tiles = 0, blocks = 0;
  /// The estimated time on one thread; infinite where it does not apply.
  double cycles;
};

/// The same of an input with few channels, where FewChannelBlocking finds a
/// way.
void emitFewChannelFilterGradient(KernelBuilder &b,
                                  const ConvolutionShape &shape,
                                  llvm::Value *result, StridedOperand input,
                                  StridedOperand gradient);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_FILTERGRADIENT_H
