//===- KernelSelection.cpp - Selects kernels of convolutions --------------===//

#include "Selection/KernelSelection.h"
#include "Kernels/MatMul/MatMul.h"
#include "Selection/ByteOperands.h"
#include "Selection/ChoiceLog.h"
#include "Selection/ConvolutionOp.h"
#include "glowish/IR/LoopBounds.h"
#include "glowish/IR/Passes.h"
#include "glowish/Support/Task.h"

using namespace glowish;

namespace {

class KernelSelector {
public:
  KernelSelector(IRFunction &function, const TargetDescription &target,
                 ConvolutionChooser choose)
      : function(function), target(target), choose(choose), packer(function) {}
  void visit(Instruction &instr, SelectedOps selected);
  bool hasChanged() const { return changed; }

private:
  void select(Instruction &instr, ConvolutionOp op);
  void selectOfBytes(Instruction &instr,
                     const std::optional<ConvolutionOp> &op);
  void selectUnpacked(MatMulInstr &instr);
  std::optional<ConvolutionChoice> chooseFor(const ConvolutionOp &op);
  Buffer *makeDense(Instruction &instr, unsigned operand);
  Buffer *makeInput(Instruction &instr, const ConvolutionOp &op,
                    const ConvolutionCandidate &candidate);

  IRFunction &function;
  const TargetDescription &target;
  ConvolutionChooser choose;
  FilterPacker packer;
  bool changed = false;
  /// The initial numbers of uses of filters that are not constants.
  llvm::DenseMap<const Buffer *, int64_t> numUses;
};

} // namespace

/// Returns the choice for \p op, none where a MatMul reads the right side
/// without packing, or no kernel of bytes applies.
std::optional<ConvolutionChoice>
KernelSelector::chooseFor(const ConvolutionOp &op) {
  ConvolutionProblem problem = op.getProblem();
  if (isConstant(*op.filter))
    return choose(problem, *op.filter);
  auto users = int64_t(op.filter->getUsers().size());
  int64_t uses = numUses.try_emplace(op.filter, users).first->second;
  bool isPlain = op.isMatMul && op.filter->getInnerStride() == 1;
  return chooseForRuntimeWeights(problem, target, uses, isPlain);
}

/// Copies \p operand unless its innermost stride is 1; returns what is read.
Buffer *KernelSelector::makeDense(Instruction &instr, unsigned operand) {
  Buffer *buffer = instr.getOperand(operand);
  if (buffer->getInnerStride() == 1)
    return buffer;
  instr.setOperand(
      operand, packer.getDense(buffer, instr, getSideBounds(instr, operand)));
  changed = true;
  return instr.getOperand(operand);
}

/// Makes the input as the kernel reads it. It reads each element once for each
/// tile of output channels: where there are several, half precisions are
/// converted once.
Buffer *KernelSelector::makeInput(Instruction &instr, const ConvolutionOp &op,
                                  const ConvolutionCandidate &candidate) {
  Buffer *image = op.viewImage(function, op.input);
  ElemKind kind = image->getType().getKind();
  bool isHalf = getValueKind(kind) != kind;
  int64_t lanes = target.getComputeLanes(kind);
  if (!isHalf || !candidate.algorithm->takesFloatsForHalf() ||
      !target.isHosted || op.getShape().getGroupOutChannels() <= 2 * lanes)
    return image;
  InstrDraft limits = CopyInstr::draft(image, image);
  limitToNeededRows(limits, op);
  return packer.getFloats(image, instr, limits.bounds);
}

void KernelSelector::select(Instruction &instr, ConvolutionOp op) {
  if (op.copiesInput())
    op.input = makeDense(instr, MatMulInstr::lhsIdx);
  std::optional<ConvolutionChoice> choice = chooseFor(op);
  if (op.isMatMul &&
      !(choice && choice->candidate.algorithm->takesTransposedInput()))
    op.input = makeDense(instr, MatMulInstr::lhsIdx);
  if (!choice)
    return logChoice(instr, "of matrices, faster than packing the right one");
  logChoice(instr, *choice);
  const ConvolutionCandidate &candidate = choice->candidate;
  PackedFilter packed =
      packer.getPacked(op.getFilterSource(function, target, instr), candidate);
  changed = true;
  replaceByKernel(function, instr, op, candidate,
                  {.input = makeInput(instr, op, candidate),
                   .filter = packed,
                   .bias = op.bias,
                   .fused = op.fused,
                   .epilogue = instr.getEpilogueProgram()});
}

/// Selects the kernel of a MatMul of which nothing is packed before.
void KernelSelector::selectUnpacked(MatMulInstr &instr) {
  logChoice(instr, "of matrices, with nothing packed before");
  for (unsigned operand : {MatMulInstr::lhsIdx, MatMulInstr::rhsIdx})
    if (!packsOperand(instr, operand, target))
      makeDense(instr, operand);
}

/// Selects the kernel of an instruction of bytes, which becomes one of int32
/// where there is none.
void KernelSelector::selectOfBytes(Instruction &instr,
                                   const std::optional<ConvolutionOp> &op) {
  changed = true;
  std::optional<ConvolutionChoice> choice;
  if (op && op->getShape().getTaps() > 0)
    choice = chooseFor(*op);
  if (choice) {
    logChoice(instr, *choice);
    return replaceByByteKernel(function, target, packer, instr, *op,
                               choice->candidate);
  }
  logChoice(instr, op ? "of int32, as none of bytes applies"
                      : "of int32, as its weights are not constant");
  replaceByWideInstr(function, instr);
}

void KernelSelector::visit(Instruction &instr, SelectedOps selected) {
  packer.invalidate(instr);
  bool isOfBytes =
      llvm::isa<ConvolutionIntegerInstr, MatMulIntegerInstr>(instr);
  if (isOfBytes != (selected == SelectedOps::Bytes))
    return;
  std::optional<ConvolutionOp> op = describeConvolution(instr);
  if (isOfBytes)
    selectOfBytes(instr, op);
  else if (op)
    select(instr, std::move(*op));
  else if (auto *matmul = llvm::dyn_cast<MatMulInstr>(&instr))
    selectUnpacked(*matmul);
}

bool glowish::selectKernels(IRFunction &function, SelectedOps selected,
                            const TargetDescription &target,
                            ConvolutionChooser choose) {
  KernelSelector selector(function, target, choose);
  for (auto it = function.getInstrs().begin();
       it != function.getInstrs().end() && !isCancelled();)
    selector.visit(*it++, selected);
  bool changed = selector.hasChanged();
  changed |= llvm::cantFail(eliminateDeadStores(function, IRPassContext()));
  changed |= llvm::cantFail(insertLifetimes(function, IRPassContext()));
  return changed;
}

void glowish::visitProblems(
    const IRFunction &function,
    llvm::function_ref<void(const ConvolutionProblem &, const Buffer &)>
        visit) {
  for (const Instruction &instr : function.getInstrs()) {
    if (llvm::any_of(instr.getOperands(), [](const Buffer *operand) {
          return operand && operand->getType().getNumElements() == 0;
        }))
      continue;
    std::optional<ConvolutionOp> op = describeConvolution(instr);
    if (!op || !isConstant(*op->filter))
      continue;
    ConvolutionProblem problem = op->getProblem();
    if (!isDepthwise(problem.shape))
      visit(problem, *op->filter);
  }
}
