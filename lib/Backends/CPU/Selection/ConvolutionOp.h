//===- ConvolutionOp.h - Convolutions, and matmuls as such ------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONOP_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONOP_H

#include "Selection/ConvolutionAlgorithm.h"
#include "Selection/MatMulImages.h"

namespace glowish {

/// A Convolution or ConvolutionInteger, or a MatMul or MatMulInteger as one,
/// that a kernel is selected for.
struct ConvolutionOp {
  Instruction &instr;
  /// Images [N, H, W, C].
  Buffer *result, *input;
  Buffer *filter;
  /// May be null. The zero point is that of an input of bytes.
  Buffer *bias = nullptr, *zeroPoint = nullptr;
  llvm::SmallVector<Buffer *, 4> fused;
  std::vector<int64_t> kernels = {1, 1}, strides = {1, 1}, pads = {0, 0, 0, 0},
                       dilations = {1, 1};
  int64_t group = 1;
  /// Strides of the filter's element (group, kh, kw, c, n).
  Dims filterStrides;

  ConvolutionShape getShape() const {
    return ConvolutionShape::get(input->getShape(), result->getShape(), kernels,
                                 strides, pads, dilations, group);
  }
  /// Returns the weights as a packer takes them.
  FilterSource getFilterSource(IRFunction &function,
                               const TargetDescription &target) const {
    return {.function = function,
            .target = target,
            .shape = getShape(),
            .filter = filter,
            .strides = filterStrides,
            .before = instr};
  }
};

/// Describes a Convolution or ConvolutionInteger.
template <typename Instr> ConvolutionOp describeConvolution(Instr &instr) {
  Buffer *filter = instr.getFilter();
  DimsRef extents = filter->getShape(), s = filter->getStrides();
  return {.instr = instr,
          .result = instr.getResult(),
          .input = instr.getInput(),
          .filter = filter,
          .bias = instr.getBias(),
          .fused = instr.getFused(),
          .kernels = {extents[1], extents[2]},
          .strides = instr.getStrides().vec(),
          .pads = instr.getPads().vec(),
          .dilations = instr.getDilations().vec(),
          .group = instr.getGroup(),
          .filterStrides = {extents[0] / instr.getGroup() * s[0], s[1], s[2],
                            s[3], s[0]}};
}

/// Describes a MatMul or MatMulInteger of which the right side is one matrix,
/// by views of its operands as images.
template <typename Instr>
ConvolutionOp describeMatMul(IRFunction &function, Instr &instr) {
  bool isSingleRow = hasOneRow(*instr.getResult());
  llvm::SmallVector<Buffer *, 4> fused;
  for (Buffer *buffer : instr.getFused())
    fused.push_back(viewAsImage(function, buffer, isSingleRow));
  Buffer *result = viewAsImage(function, instr.getResult(), isSingleRow);
  Buffer *input = viewAsImage(function, instr.getLhs(), isSingleRow);
  DimsRef s = instr.getRhs()->getStrides();
  return {.instr = instr,
          .result = result,
          .input = input,
          .filter = instr.getRhs(),
          .fused = fused,
          .filterStrides = {0, 0, 0, s[0], s[1]}};
}

/// The operands of a kernel besides its result, and its epilogue.
struct ConvolutionInputs {
  Buffer *input;
  PackedFilter filter;
  /// May be null.
  Buffer *bias = nullptr, *zeroPoint = nullptr;
  llvm::ArrayRef<Buffer *> fused;
  ScalarProgram epilogue;
};

/// Puts a CPUConvolution, computed by \p candidate, in the place of the
/// instruction of \p op.
void replaceByKernel(IRFunction &function, const ConvolutionOp &op,
                     const ConvolutionCandidate &candidate,
                     ConvolutionInputs inputs);

/// Limits \p draft, which makes the input of \p op element by element as an
/// image with its rows, to the rows that a run needs of the result.
void limitToNeededRows(InstrDraft &draft, const ConvolutionOp &op);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONOP_H
