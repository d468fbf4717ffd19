//===- KernelSelection.cpp - Selects kernels of convolutions --------------===//

#include "Selection/KernelSelection.h"
#include "Kernels/MatMul/MatMul.h"
#include "glowish/IR/Passes.h"

using namespace glowish;

ConvolutionCandidate glowish::getCandidate(const CPUConvolutionInstr &instr) {
  auto candidate = ConvolutionCandidate::parse(instr.getAlgorithm());
  assert(candidate && "the type rule checks the algorithm");
  return *candidate;
}

//===- Matmuls ------------------------------------------------------------===//

namespace {
/// Extents and strides of rank 4.
struct ImageLayout {
  Dims shape, strides;
};
} // namespace

/// Whether each matrix of the left side of \p instr has one row. A tile is made
/// of consecutive pixels (rows), and would have one otherwise.
static bool hasOneRow(const MatMulInstr &instr) {
  return instr.getResult()->getShape().drop_back().back() == 1;
}

/// A buffer of rank 2 to 4 as one of rank 4, with leading dimensions of extent
/// 1. \p isSingleRow: each matrix is one row; the rows of the batch become the
/// pixels of one image row.
static ImageLayout getImageLayout(const Buffer *buffer, bool isSingleRow) {
  unsigned rank = buffer->getType().getRank();
  Dims shape(4 - rank, 1), strides(4 - rank, 0);
  llvm::append_range(shape, buffer->getShape());
  llvm::append_range(strides, buffer->getStrides());
  if (isSingleRow)
    for (Dims *dims : {&shape, &strides})
      std::rotate(dims->begin(), dims->begin() + 2, dims->begin() + 3);
  return {shape, strides};
}

/// Whether the right side is one matrix for all of the left one, so that it can
/// be packed. If it is not constant, copying its elements must be fast.
static bool hasPackableRhs(const MatMulInstr &instr) {
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

/// A Convolution, or a MatMul as one.
struct ConvolutionOp {
  Instruction &instr;
  Buffer *result, *input, *filter, *bias;
  llvm::SmallVector<Buffer *, 4> fused;
  std::vector<int64_t> kernels, strides, pads, dilations;
  int64_t group;
  const ScalarProgram &epilogue;
  /// Strides of the filter's element (group, kh, kw, c, n).
  Dims filterStrides;

  ConvolutionProblem getProblem() const {
    return {.shape =
                ConvolutionShape::get(input->getShape(), result->getShape(),
                                      kernels, strides, pads, dilations, group),
            .kind = input->getType().getKind(),
            .inputStrides = Dims(input->getStrides())};
  }
};

class KernelSelector {
public:
  KernelSelector(IRFunction &function, const TargetDescription &target,
                 ConvolutionChooser choose)
      : function(function), target(target), choose(choose), packer(function) {}
  void visit(Instruction &instr);

private:
  void select(ConvolutionInstr &instr);
  void select(MatMulInstr &instr);
  std::optional<ConvolutionCandidate> chooseFor(const ConvolutionOp &op);
  void replace(const ConvolutionOp &op, const ConvolutionCandidate &candidate);
  Buffer *viewAsImage(Buffer *buffer, bool isSingleRow);
  void makeDense(MatMulInstr &instr, unsigned operand);

  IRFunction &function;
  const TargetDescription &target;
  ConvolutionChooser choose;
  FilterPacker packer;
  /// The initial numbers of uses of filters that are not constants.
  llvm::DenseMap<const Buffer *, int64_t> numUses;
};

} // namespace

/// Null where a MatMul reads the right side without packing.
std::optional<ConvolutionCandidate>
KernelSelector::chooseFor(const ConvolutionOp &op) {
  ConvolutionProblem problem = op.getProblem();
  if (isConstant(*op.filter))
    return choose(problem, *op.filter);
  auto users = int64_t(op.filter->getUsers().size());
  int64_t uses = numUses.try_emplace(op.filter, users).first->second;
  bool isPlain =
      llvm::isa<MatMulInstr>(op.instr) && op.filter->getInnerStride() == 1;
  return chooseForRuntimeWeights(problem, target, uses, isPlain);
}

void KernelSelector::replace(const ConvolutionOp &op,
                             const ConvolutionCandidate &candidate) {
  PackedFilter packed = packer.getPacked({.function = function,
                                          .target = target,
                                          .shape = op.getProblem().shape,
                                          .filter = op.filter,
                                          .strides = op.filterStrides,
                                          .before = op.instr},
                                         candidate);
  auto draft = CPUConvolutionInstr::draft(
      op.result, op.input, packed.filter, packed.scales, op.bias, op.kernels,
      op.strides, op.pads, op.dilations, op.group, candidate.str(), op.fused,
      op.epilogue);
  function.create(op.instr.getName(), std::move(draft), &op.instr);
  function.erase(&op.instr);
}

void KernelSelector::select(ConvolutionInstr &instr) {
  DimsRef filter = instr.getFilter()->getShape();
  int64_t outPerGroup = filter[0] / instr.getGroup();
  DimsRef s = instr.getFilter()->getStrides();
  ConvolutionOp op = {
      .instr = instr,
      .result = instr.getResult(),
      .input = instr.getInput(),
      .filter = instr.getFilter(),
      .bias = instr.getBias(),
      .fused = instr.getFused(),
      .kernels = {filter[1], filter[2]},
      .strides = instr.getStrides().vec(),
      .pads = instr.getPads().vec(),
      .dilations = instr.getDilations().vec(),
      .group = instr.getGroup(),
      .epilogue = instr.getEpilogue(),
      .filterStrides = {outPerGroup * s[0], s[1], s[2], s[3], s[0]}};
  replace(op, *chooseFor(op));
}

/// \p buffer as a view of rank 4.
Buffer *KernelSelector::viewAsImage(Buffer *buffer, bool isSingleRow) {
  if (buffer->getType().getRank() == 4 && !isSingleRow)
    return buffer;
  auto [shape, strides] = getImageLayout(buffer, isSingleRow);
  return function.createView(buffer->getName(), buffer,
                             buffer->getType().withShape(shape),
                             buffer->getOffset(), strides);
}

/// Copies \p operand unless its innermost stride is 1.
void KernelSelector::makeDense(MatMulInstr &instr, unsigned operand) {
  Buffer *buffer = instr.getOperand(operand);
  if (buffer->getInnerStride() != 1)
    instr.setOperand(operand, packer.getDense(buffer, instr));
}

void KernelSelector::select(MatMulInstr &instr) {
  Buffer *rhs = instr.getRhs();
  if (!hasPackableRhs(instr)) {
    for (unsigned operand : {MatMulInstr::lhsIdx, MatMulInstr::rhsIdx})
      if (!packsOperand(instr, operand, target))
        makeDense(instr, operand);
    return;
  }
  if (isConstant(*rhs) || !isColumnMajor(*instr.getLhs()))
    makeDense(instr, MatMulInstr::lhsIdx);
  DimsRef strides = rhs->getStrides();
  bool isSingleRow = hasOneRow(instr);
  llvm::SmallVector<Buffer *, 4> fused;
  for (Buffer *buffer : instr.getFused())
    fused.push_back(viewAsImage(buffer, isSingleRow));
  ConvolutionOp op = {.instr = instr,
                      .result = viewAsImage(instr.getResult(), isSingleRow),
                      .input = viewAsImage(instr.getLhs(), isSingleRow),
                      .filter = rhs,
                      .bias = nullptr,
                      .fused = fused,
                      .kernels = {1, 1},
                      .strides = {1, 1},
                      .pads = {0, 0, 0, 0},
                      .dilations = {1, 1},
                      .group = 1,
                      .epilogue = instr.getEpilogue(),
                      .filterStrides = {0, 0, 0, strides[0], strides[1]}};
  std::optional<ConvolutionCandidate> candidate = chooseFor(op);
  if (!candidate || !candidate->algorithm->takesTransposedInput()) {
    makeDense(instr, MatMulInstr::lhsIdx);
    op.input = viewAsImage(instr.getLhs(), isSingleRow);
  }
  if (candidate)
    replace(op, *candidate);
}

void KernelSelector::visit(Instruction &instr) {
  packer.invalidate(instr);
  if (auto *convolution = llvm::dyn_cast<ConvolutionInstr>(&instr))
    select(*convolution);
  else if (auto *matmul = llvm::dyn_cast<MatMulInstr>(&instr))
    select(*matmul);
}

void glowish::selectKernels(IRFunction &function,
                            const TargetDescription &target,
                            ConvolutionChooser choose) {
  KernelSelector selector(function, target, choose);
  for (auto it = function.getInstrs().begin();
       it != function.getInstrs().end();)
    selector.visit(*it++);
  llvm::cantFail(eliminateDeadStores(function, IRPassContext()));
  llvm::cantFail(insertLifetimes(function, IRPassContext()));
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
  bool isSingleRow = hasOneRow(instr);
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
