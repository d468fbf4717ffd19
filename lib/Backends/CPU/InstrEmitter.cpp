//===- InstrEmitter.cpp - The code of one instruction ---------------------===//

#include "InstrEmitter.h"
#include "Anchors.h"
#include "Kernels/Attention.h"
#include "Kernels/FilterGradient.h"
#include "Kernels/Indexing.h"
#include "Kernels/Products.h"
#include "Kernels/SplitImage.h"
#include "Kernels/Winograd.h"

using namespace glowish;
using llvm::Value;

namespace {

/// Matches the operands of an instruction with the arguments of its function
/// and calls the kernel's emitter.
class InstrEmitter : public InstrVisitor<InstrEmitter> {
public:
  InstrEmitter(const Instruction &instr, llvm::Function &kernel,
               const TargetDescription &target)
      : b(kernel, target) {
    unsigned next = 0;
    for (Buffer *buffer : instr.getOperands())
      pointers.push_back(buffer ? kernel.getArg(next++) : nullptr);
    if (target.numThreads > 1)
      b.setTasks(kernel.getArg(next), kernel.getArg(next + 1));
  }

  /// Returns the number of tasks.
  int64_t finish() {
    b.CreateRetVoid();
    return b.getNumTasks();
  }

  void visitCopy(CopyInstr &instr) {
    emitLoop(b, instr.getResult()->getShape(), getStrided(instr, 0),
             {getStrided(instr, 1)}, ScalarProgram());
  }
  void visitFill(FillInstr &instr) {
    emitFill(b, instr.getResult()->getShape(), getStrided(instr, 0),
             instr.getValue());
  }
  void visitElementWiseLoop(ElementWiseLoopInstr &instr) {
    emitLoop(b, instr.getResult()->getShape(), getStrided(instr, 0),
             getFused(instr, 1), instr.getProgram());
  }
  void visitCPUConvolution(CPUConvolutionInstr &instr) {
    ConvolutionShape shape = getConvolutionShape(instr);
    if (isZeroSized(instr))
      return;
    EpilogueCode epilogue{&instr.getEpilogue(), getFused(instr, 4)};
    if (isDepthwise(shape)) {
      emitDepthwise(b, shape, getStrided(instr, 0), getStrided(instr, 1),
                    pointers[2], pointers[3], epilogue);
      return;
    }
    Tile tile{unsigned(instr.getTile()[0]), unsigned(instr.getTile()[1])};
    ElemKind kind = instr.getInput()->getType().getKind();
    const TargetDescription &target = b.getTarget();
    unsigned block = tile.vectors * target.getPackedLanes(getElemSize(kind));
    if (target.packedBits != target.vectorBits)
      tile = chooseTile(shape, kind, target, block);
    WeightLayout layout =
        instr.getBlocked()
            ? getPackedLayout(shape, block)
            : getPlainLayout(shape, tile.vectors * b.getRegisterLanes(kind));
    emitConvolution(b, shape, tile, layout, getStrided(instr, 0),
                    getStrided(instr, 1), pointers[2], pointers[3], epilogue);
  }
  void visitCPUWinogradConvolution(CPUWinogradConvolutionInstr &instr) {
    EpilogueCode epilogue{&instr.getEpilogue(), getFused(instr, 4)};
    emitWinograd(
        b, getConvolutionShape(instr), {instr.getSize()[0], instr.getSize()[1]},
        unsigned(instr.getBlock()), getStrided(instr, 0), getStrided(instr, 1),
        pointers[2], pointers[3], std::move(epilogue));
  }
  void visitCPUSplitConvolution(CPUSplitConvolutionInstr &instr) {
    ConvolutionShape shape = getConvolutionShape(instr);
    EpilogueCode epilogue{&instr.getEpilogue(), getFused(instr, 5)};
    emitSplitConvolution(b, shape, getStrided(instr, 0), getStrided(instr, 1),
                         pointers[2], pointers[3], pointers[4],
                         std::move(epilogue));
  }
  void visitCPUSplitWeights(CPUSplitWeightsInstr &instr) {
    if (!isZeroSized(instr))
      emitSplitWeights(b, instr.getWeights()->getShape(), pointers[0],
                       pointers[1], getStrided(instr, 2));
  }
  void visitMatMul(MatMulInstr &instr) {
    if (!isZeroSized(instr))
      emitProducts(b, instr, getStrided(instr, 0), getStrided(instr, 1),
                   getStrided(instr, 2), getFused(instr, 3));
  }
  void visitAttention(AttentionInstr &instr);
  void visitMaxPool(MaxPoolInstr &instr) {
    if (!isZeroSized(instr))
      emitMaxPool(b, instr, getStrided(instr, 0), getStrided(instr, 1));
  }
  void visitAvgPool(AvgPoolInstr &instr) {
    if (!isZeroSized(instr))
      emitAvgPool(b, instr, getStrided(instr, 0), getStrided(instr, 1));
  }
  void visitConvolutionFilterGradient(ConvolutionFilterGradientInstr &instr) {
    if (!isZeroSized(instr))
      emitFilterGradient(b, getConvolutionShape(instr), pointers[0],
                         getStrided(instr, 1), getStrided(instr, 2));
  }
  void visitMaxPoolGradient(MaxPoolGradientInstr &instr) {
    if (!isZeroSized(instr))
      emitMaxPoolGradient(b, instr, getStrided(instr, 0), getStrided(instr, 1),
                          getStrided(instr, 2));
  }
  void visitAvgPoolGradient(AvgPoolGradientInstr &instr) {
    if (!isZeroSized(instr))
      emitAvgPoolGradient(b, instr, getStrided(instr, 0), getStrided(instr, 1));
  }
  void visitReduce(ReduceInstr &instr) {
    emitReduce(b, instr, pointers[0], pointers[1]);
  }
  void visitArgMax(ArgMaxInstr &instr) {
    emitArgMax(b, instr, pointers[0], pointers[1]);
  }
  void visitSoftmax(SoftmaxInstr &instr) {
    emitSoftmax(b, instr, pointers[0], pointers[1]);
  }
  void visitLayerNormalization(LayerNormalizationInstr &instr) {
    if (!isZeroSized(instr))
      emitLayerNormalization(b, instr, getStrided(instr, 0),
                             getStrided(instr, 1), pointers[2], pointers[3],
                             {&instr.getEpilogue(), getFused(instr, 4)});
  }
  void visitGroupNormalization(GroupNormalizationInstr &instr) {
    if (!isZeroSized(instr))
      emitGroupNormalization(b, instr, getStrided(instr, 0),
                             getStrided(instr, 1), pointers[2], pointers[3],
                             {&instr.getEpilogue(), getFused(instr, 4)});
  }
  void visitCPUGroupStatistics(CPUGroupStatisticsInstr &instr) {
    emitGroupStatistics(b, instr, pointers[0], getStrided(instr, 1));
  }
  void visitCPUGroupNormalization(CPUGroupNormalizationInstr &instr) {
    emitGroupNormalization(b, instr, getStrided(instr, 0), getStrided(instr, 1),
                           pointers[2], pointers[3], pointers[4],
                           {&instr.getEpilogue(), getFused(instr, 5)});
  }
  void visitLocalResponseNormalization(LocalResponseNormalizationInstr &instr) {
    emitLRN(b, instr, pointers[0], pointers[1]);
  }
  void visitGather(GatherInstr &instr) {
    emitGather(b, instr, pointers[0], pointers[1], pointers[2]);
  }
  void visitScatter(ScatterInstr &instr) { emitScatter(b, instr, pointers); }
  void visitTopK(TopKInstr &instr) {
    emitTopK(b, instr, pointers[0], pointers[1]);
  }
  void visitNonMaxSuppression(NonMaxSuppressionInstr &instr) {
    emitNonMaxSuppression(b, instr, pointers);
  }
  void visitBitCast(BitCastInstr &instr) {
    b.CreateMemCpy(pointers[0], llvm::Align(1), pointers[1], llvm::Align(1),
                   instr.getInput()->getType().getSizeInBytes());
  }
  void visitResize(ResizeInstr &instr) {
    emitResize(b, instr, getStrided(instr, 0), pointers[1]);
  }
  void visitInstr(Instruction &instr) {
    llvm_unreachable("isSupported() names every instruction here");
  }

private:
  StridedOperand getStrided(const Instruction &instr, unsigned index) {
    return StridedOperand(pointers[index], *instr.getOperand(index));
  }
  std::vector<StridedOperand> getFused(const Instruction &instr,
                                       unsigned first) {
    std::vector<StridedOperand> operands;
    for (unsigned i = first; i < instr.getNumOperands(); ++i)
      operands.push_back(getStrided(instr, i));
    return operands;
  }
  static bool isZeroSized(const Instruction &instr) {
    return instr.getOperand(0)->getType().getNumElements() == 0;
  }
  KernelBuilder b;
  Values pointers;
};

} // namespace

void InstrEmitter::visitAttention(AttentionInstr &instr) {
  if (isZeroSized(instr))
    return;
  DimsRef result = instr.getResult()->getShape();
  DimsRef key = instr.getKey()->getShape();
  size_t leading = result.size() - 2;
  AttentionShape shape{Dims(result.take_front(leading)),
                       /*queries=*/result[leading],
                       /*keys=*/key[leading],
                       /*depth=*/key.back(),
                       /*columns=*/result.back(),
                       instr.getScale(),
                       instr.getCausal()};
  AttentionOperands operands{getStrided(instr, 0),
                             getStrided(instr, 1),
                             getStrided(instr, 2),
                             getStrided(instr, 3),
                             {}};
  if (Buffer *mask = instr.getMask()) {
    operands.mask = getStrided(instr, 4);
    Dims repeated(result.size() - mask->getShape().size(), 0);
    for (auto [extent, stride] :
         llvm::zip_equal(mask->getShape(), operands.mask.strides))
      repeated.push_back(extent == 1 ? 0 : stride);
    operands.mask.strides = repeated;
  }
  emitAttention(b, shape, std::move(operands));
}

int64_t glowish::emitInstruction(const Instruction &instr,
                                 llvm::Function &kernel,
                                 const TargetDescription &target) {
  InstrEmitter emitter(instr, kernel, target);
  emitter.visit(const_cast<Instruction &>(instr));
  return emitter.finish();
}
