//===- ConvolutionOp.h - Convolutions, and matmuls as such ------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONOP_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONOP_H

#include "Selection/ConvolutionAlgorithm.h"
#include "Selection/MatMulImages.h"

namespace glowish {

/// A Convolution or ConvolutionInteger, or a MatMul or MatMulInteger as one,
/// that a kernel is selected for.
struct ConvolutionOp {
  const Instruction &instr;
  /// The instruction's own operands: of matmuls, buffers of rank 2 to 4.
  Buffer *result, *input, *filter;
  /// May be null. The zero points are those of an input and a filter of bytes.
  Buffer *bias = nullptr, *zeroPoint = nullptr, *filterZeroPoint = nullptr;
  llvm::SmallVector<Buffer *, 4> fused;
  std::array<int64_t, 2> kernels = {1, 1};
  /// The instruction's own, or those of a matmul.
  llvm::ArrayRef<int64_t> strides = ones, pads = zeros, dilations = ones;
  int64_t group = 1;
  /// Strides of the filter's element (group, kh, kw, c, n).
  Dims filterStrides;
  /// The dimension of the filter with the output channels.
  unsigned outputDim = 0;
  /// Whether it is a matmul, and whether it multiplies 8-bit integers.
  bool isMatMul = false, isOfBytes = false;
  /// Whether it is a matmul of which each matrix of the result has one row.
  bool hasOneRow = false;

  static constexpr int64_t ones[] = {1, 1}, zeros[] = {0, 0, 0, 0};

  /// Returns the layout of an operand that has a row for each of the result, as
  /// images [N, H, W, C].
  ImageLayout getImage(const Buffer *buffer) const {
    return getImageLayout(buffer, hasOneRow);
  }
  /// Returns \p buffer as a view with that layout.
  Buffer *viewImage(IRFunction &function, Buffer *buffer) const {
    return viewAsImage(function, buffer, hasOneRow);
  }
  ConvolutionShape getShape() const {
    return ConvolutionShape::get(getImage(input).shape, getImage(result).shape,
                                 kernels, strides, pads, dilations, group);
  }
  /// Returns the weights as a packer takes them, for instructions that are made
  /// before \p before.
  FilterSource getFilterSource(IRFunction &function,
                               const TargetDescription &target,
                               Instruction &before) const {
    return {.function = function,
            .target = target,
            .shape = getShape(),
            .filter = filter,
            .strides = filterStrides,
            .before = before};
  }
  /// Returns whether a matmul's left side is copied for any kernel, as its rows
  /// are not contiguous. Where the weights are not constants, some kernels
  /// transpose it themselves.
  bool copiesInput() const;
  /// Returns the input of the choice of a kernel.
  ConvolutionProblem getProblem() const;
};

/// Describes \p instr; none if it is no convolution or matmul, or no kernel of
/// packed weights applies: to a matmul whose right side is not one matrix, or
/// is computed and neither float nor double, whose left side has more than 4
/// dimensions, whose depth is bounded, or of integers other than bytes; and to
/// bytes with weights that are computed.
std::optional<ConvolutionOp> describeConvolution(const Instruction &instr);

/// The operands of a kernel besides its result, and its epilogue.
struct ConvolutionInputs {
  /// Images [N, H, W, C].
  Buffer *input;
  PackedFilter filter;
  /// May be null.
  Buffer *bias = nullptr, *zeroPoint = nullptr;
  /// Operands of the epilogue, in the shape that the instruction has.
  llvm::ArrayRef<Buffer *> fused;
  ScalarProgram epilogue;
};

/// Puts a CPUConvolution of \p op, computed by \p candidate, in the place of
/// \p instr.
void replaceByKernel(IRFunction &function, Instruction &instr,
                     const ConvolutionOp &op,
                     const ConvolutionCandidate &candidate,
                     ConvolutionInputs inputs);

/// Limits \p draft, which makes the input of \p op element by element as an
/// image with its rows, to the images, and of pointwise ones the rows, that a
/// run needs of the result.
void limitToNeededRows(InstrDraft &draft, const ConvolutionOp &op);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONOP_H
