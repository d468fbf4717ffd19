//===- InstrRunner.h - One member function an instruction -----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_INTERPRETER_INSTRRUNNER_H
#define GLOWISH_LIB_BACKENDS_INTERPRETER_INSTRRUNNER_H

#include "Kernels.h"

namespace glowish::interpreter {

/// Runs instructions one after the other. Instructions of other back ends fall
/// through to visitInstr.
class InstrRunner : public InstrVisitor<InstrRunner> {
public:
  explicit InstrRunner(const Memory &memory) : memory(memory) {}

  void visitIf(IfInstr &instr);
  void visitLoop(LoopInstr &instr);
  void visitCopy(CopyInstr &instr);
  void visitFill(FillInstr &instr);
  void visitGather(GatherInstr &instr);
  void visitElementWiseLoop(ElementWiseLoopInstr &instr);
  void visitConvolution(ConvolutionInstr &instr);
  void visitConvolutionFilterGradient(ConvolutionFilterGradientInstr &instr);
  void visitAttention(AttentionInstr &instr);
  void visitMatMul(MatMulInstr &instr);
  void visitMaxPool(MaxPoolInstr &instr);
  void visitAvgPool(AvgPoolInstr &instr);
  void visitMaxPoolGradient(MaxPoolGradientInstr &instr);
  void visitAvgPoolGradient(AvgPoolGradientInstr &instr);
  void visitResize(ResizeInstr &instr);
  void visitLocalResponseNormalization(LocalResponseNormalizationInstr &instr);
  void visitLayerNormalization(LayerNormalizationInstr &instr);
  void visitGroupNormalization(GroupNormalizationInstr &instr);
  void visitSoftmax(SoftmaxInstr &instr);
  void visitReduce(ReduceInstr &instr);
  void visitArgMax(ArgMaxInstr &instr);
  void visitScatter(ScatterInstr &instr);
  void visitTopK(TopKInstr &instr);
  void visitNonMaxSuppression(NonMaxSuppressionInstr &instr);
  void visitBitCast(BitCastInstr &instr);

  /// Lifetime marks need nothing: the plan has placed all buffers.
  void visitInstr(Instruction &instr) {
    assert((llvm::isa<AllocInstr, DeallocInstr>(&instr)) &&
           "compile() refuses instructions of other back ends");
  }

private:
  const Memory &memory;
};

} // namespace glowish::interpreter

#endif // GLOWISH_LIB_BACKENDS_INTERPRETER_INSTRRUNNER_H
