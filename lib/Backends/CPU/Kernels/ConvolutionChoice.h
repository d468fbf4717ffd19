//===- ConvolutionChoice.h - Ways to compute a convolution ------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTIONCHOICE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTIONCHOICE_H

#include "Winograd.h"

namespace glowish {

class Buffer;

/// One way to compute a convolution.
struct ConvolutionChoice {
  enum class Algorithm { Direct, Winograd, Split };
  Algorithm algorithm = Algorithm::Direct;
  /// Of Direct.
  Tile tile = {1, 1};
  /// Of Direct: whether the weights are packed in blocks.
  bool isBlocked = true;
  /// Of Winograd, and the output channels that are packed together.
  WinogradSize size = {0, 0};
  unsigned block = 0;
  /// The estimated time on one core.
  double cycles = 0;
};

/// Whether \p a and \p b are the same way, whatever their estimates.
bool isSameWay(const ConvolutionChoice &a, const ConvolutionChoice &b);

/// The ways to compute \p shape with constant weights of \p kind on an input
/// with \p inputStrides, the fastest first. They and their results don't depend
/// on the number of threads. \p maxWinograd: the largest F(m) allowed; 0 for
/// none.
std::vector<ConvolutionChoice> rankConvolutions(const ConvolutionShape &shape,
                                                ElemKind kind,
                                                DimsRef inputStrides,
                                                const TargetDescription &target,
                                                int64_t maxWinograd);

/// The fastest way for weights that are packed when the program runs, which
/// \p numUses convolutions share; where they \p canStay as they are, also that.
ConvolutionChoice choosePacking(const ConvolutionShape &shape, ElemKind kind,
                                DimsRef inputStrides,
                                const TargetDescription &target,
                                int64_t numUses, bool canStay);

/// Takes one of the choices for a shape, an element kind, the input's strides
/// and the constant weights.
using ConvolutionChooser = llvm::function_ref<ConvolutionChoice(
    const ConvolutionShape &, ElemKind, DimsRef, const Buffer &)>;

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTIONCHOICE_H
