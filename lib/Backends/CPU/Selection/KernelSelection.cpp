//===- KernelSelection.cpp - Selects kernels of convolutions --------------===//

#include "Selection/KernelSelection.h"
#include "Kernels/MatMul/MatMul.h"
#include "Selection/ChoiceLog.h"
#include "Selection/ConvolutionOp.h"
#include "glowish/IR/Passes.h"
#include "glowish/Support/Task.h"

using namespace glowish;

//===- Matmuls ------------------------------------------------------------===//

/// Whether the right side is one matrix for all of the left one, so that it can
/// be packed. If it is not constant, copying its elements must be fast.
static bool hasPackableRhs(const MatMulInstr &instr) {
  // The kernels of packed weights sum all of them.
  if (hasBoundedDepth(instr))
    return false;
  const Type &rhs = instr.getRhs()->getType();
  bool isWide =
      rhs.getKind() == ElemKind::Float || rhs.getKind() == ElemKind::Double;
  return rhs.getRank() == 2 && instr.getLhs()->getType().getRank() <= 4 &&
         (isConstant(*instr.getRhs()) ? isFloatKind(rhs.getKind()) : isWide);
}

/// Whether \p buffer is a matrix in column-major order. Some algorithms
/// transpose such a left side themselves.
static bool isColumnMajor(const Buffer &buffer) {
  DimsRef strides = buffer.getStrides();
  return strides.size() == 2 && strides[0] == 1 && strides[1] != 1;
}

//===- Selection ----------------------------------------------------------===//

namespace {

class KernelSelector {
public:
  KernelSelector(IRFunction &function, const TargetDescription &target,
                 ConvolutionChooser choose)
      : function(function), target(target), choose(choose), packer(function) {}
  void visit(Instruction &instr);
  bool hasChanged() const { return changed; }

private:
  void select(ConvolutionInstr &instr);
  void select(MatMulInstr &instr);
  std::optional<ConvolutionChoice> chooseFor(const ConvolutionOp &op);
  void replace(const ConvolutionOp &op, const ConvolutionChoice &choice);
  void makeDense(MatMulInstr &instr, unsigned operand);
  Buffer *makeInput(const ConvolutionOp &op,
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

static ConvolutionProblem getProblem(const ConvolutionOp &op) {
  return {.shape = op.getShape(),
          .kind = op.input->getType().getKind(),
          .inputStrides = Dims(op.input->getStrides())};
}

/// Null where a MatMul reads the right side without packing.
std::optional<ConvolutionChoice>
KernelSelector::chooseFor(const ConvolutionOp &op) {
  ConvolutionProblem problem = getProblem(op);
  if (isConstant(*op.filter))
    return choose(problem, *op.filter);
  auto users = int64_t(op.filter->getUsers().size());
  int64_t uses = numUses.try_emplace(op.filter, users).first->second;
  bool isPlain =
      llvm::isa<MatMulInstr>(op.instr) && op.filter->getInnerStride() == 1;
  return chooseForRuntimeWeights(problem, target, uses, isPlain);
}

/// The input as the kernel reads it. It reads each element once for each tile
/// of output channels: where there are several, half precisions are converted
/// once.
Buffer *KernelSelector::makeInput(const ConvolutionOp &op,
                                  const ConvolutionCandidate &candidate) {
  ConvolutionProblem problem = getProblem(op);
  bool isHalf = getValueKind(problem.kind) != problem.kind;
  int64_t lanes = target.getComputeLanes(problem.kind);
  if (!isHalf || !candidate.algorithm->takesFloatsForHalf() ||
      !target.isHosted || problem.shape.getGroupOutChannels() <= 2 * lanes)
    return op.input;
  return packer.getFloats(op.input, op.instr);
}

void KernelSelector::replace(const ConvolutionOp &op,
                             const ConvolutionChoice &choice) {
  logChoice(op.instr, choice);
  const ConvolutionCandidate &candidate = choice.candidate;
  PackedFilter packed =
      packer.getPacked(op.getFilterSource(function, target), candidate);
  changed = true;
  replaceByKernel(function, op, candidate,
                  {.input = makeInput(op, candidate),
                   .filter = packed,
                   .bias = op.bias,
                   .fused = op.fused,
                   .epilogue = op.instr.getEpilogueProgram()});
}

void KernelSelector::select(ConvolutionInstr &instr) {
  ConvolutionOp op = describeConvolution(instr);
  replace(op, *chooseFor(op));
}

/// Copies \p operand unless its innermost stride is 1.
void KernelSelector::makeDense(MatMulInstr &instr, unsigned operand) {
  Buffer *buffer = instr.getOperand(operand);
  if (buffer->getInnerStride() == 1)
    return;
  instr.setOperand(operand, packer.getDense(buffer, instr));
  changed = true;
}

void KernelSelector::select(MatMulInstr &instr) {
  Buffer *rhs = instr.getRhs();
  if (!hasPackableRhs(instr)) {
    logChoice(instr, "of matrices, with nothing packed before");
    for (unsigned operand : {MatMulInstr::lhsIdx, MatMulInstr::rhsIdx})
      if (!packsOperand(instr, operand, target))
        makeDense(instr, operand);
    return;
  }
  if (isConstant(*rhs) || !isColumnMajor(*instr.getLhs()))
    makeDense(instr, MatMulInstr::lhsIdx);
  ConvolutionOp op = describeMatMul(function, instr);
  std::optional<ConvolutionChoice> choice = chooseFor(op);
  if (!choice || !choice->candidate.algorithm->takesTransposedInput()) {
    makeDense(instr, MatMulInstr::lhsIdx);
    op.input =
        viewAsImage(function, instr.getLhs(), hasOneRow(*instr.getResult()));
  }
  if (choice)
    replace(op, *choice);
  else
    logChoice(instr, "of matrices, faster than packing the right one");
}

void KernelSelector::visit(Instruction &instr) {
  packer.invalidate(instr);
  if (auto *convolution = llvm::dyn_cast<ConvolutionInstr>(&instr))
    select(*convolution);
  else if (auto *matmul = llvm::dyn_cast<MatMulInstr>(&instr))
    select(*matmul);
}

bool glowish::selectKernels(IRFunction &function,
                            const TargetDescription &target,
                            ConvolutionChooser choose) {
  KernelSelector selector(function, target, choose);
  for (auto it = function.getInstrs().begin();
       it != function.getInstrs().end() && !isCancelled();)
    selector.visit(*it++);
  bool changed = selector.hasChanged();
  changed |= llvm::cantFail(eliminateDeadStores(function, IRPassContext()));
  changed |= llvm::cantFail(insertLifetimes(function, IRPassContext()));
  return changed;
}

//===- Problems -----------------------------------------------------------===//

static ConvolutionProblem getProblem(const ConvolutionInstr &instr) {
  const Buffer *input = instr.getInput();
  return {.shape = ConvolutionShape::get(
              input->getShape(), instr.getResult()->getShape(),
              instr.getFilter()->getShape().slice(1, 2), instr.getStrides(),
              instr.getPads(), instr.getDilations(), instr.getGroup()),
          .kind = input->getType().getKind(),
          .inputStrides = Dims(input->getStrides())};
}

/// The problem of a MatMul after makeDense for its left side.
static ConvolutionProblem getProblem(const MatMulInstr &instr) {
  bool isSingleRow = hasOneRow(*instr.getResult());
  ImageLayout input = getImageLayout(instr.getLhs(), isSingleRow);
  if (input.strides.back() != 1)
    input.strides = getDenseStrides(input.shape);
  ImageLayout result = getImageLayout(instr.getResult(), isSingleRow);
  return {.shape = ConvolutionShape::get(input.shape, result.shape, {1, 1},
                                         {1, 1}, {0, 0, 0, 0}, {1, 1}, 1),
          .kind = instr.getLhs()->getType().getKind(),
          .inputStrides = input.strides};
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
    if (auto *convolution = llvm::dyn_cast<ConvolutionInstr>(&instr)) {
      ConvolutionProblem problem = getProblem(*convolution);
      if (isConstant(*convolution->getFilter()) && !isDepthwise(problem.shape))
        visit(problem, *convolution->getFilter());
    } else if (auto *matmul = llvm::dyn_cast<MatMulInstr>(&instr)) {
      if (isConstant(*matmul->getRhs()) && hasPackableRhs(*matmul))
        visit(getProblem(*matmul), *matmul->getRhs());
    }
  }
}
