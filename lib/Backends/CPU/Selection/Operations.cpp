//===- Operations.cpp - Counts the arithmetic of kernels ------------------===//

#include "Selection/Operations.h"
#include "Kernels/Math/EmittedScalar.h"
#include "Selection/KernelSelection.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/IR/Cost.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace glowish;

//===- Scalar programs ----------------------------------------------------===//

/// Floating-point operations of \p instr on each lane: two of a multiply-add,
/// one of what computes or selects a number, none of what changes bits.
static unsigned countOnLane(const llvm::Instruction &instr) {
  if (!instr.getType()->isFPOrFPVectorTy() || instr.use_empty())
    return 0;
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instr))
    switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::fmuladd:
      return 2;
    case llvm::Intrinsic::sqrt:
      return 1;
    default:
      return 0;
    }
  switch (instr.getOpcode()) {
  case llvm::Instruction::FAdd:
  case llvm::Instruction::FSub:
  case llvm::Instruction::FMul:
  case llvm::Instruction::FDiv:
  case llvm::Instruction::Select:
    return 1;
  default:
    return 0;
  }
}

unsigned glowish::countEmitted(
    llvm::ArrayRef<ElemKind> kinds, const TargetDescription &target,
    llvm::function_ref<Values(KernelBuilder &, const Values &)> emit) {
  llvm::LLVMContext context;
  llvm::Module module("count", context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {llvm::PointerType::getUnqual(context)},
                                       /*isVarArg=*/false);
  auto *function = llvm::Function::Create(
      type, llvm::GlobalValue::ExternalLinkage, "count", module);
  KernelBuilder b(*function, target);
  Values inputs;
  for (ElemKind kind : kinds)
    inputs.push_back(b.load(kind, function->getArg(0), /*lanes=*/4));
  // Stored, as what has no use does not count.
  for (llvm::Value *value : emit(b, inputs))
    b.CreateStore(value, function->getArg(0));
  unsigned count = 0;
  for (const llvm::Instruction &instr : llvm::instructions(*function))
    count += countOnLane(instr);
  return count;
}

/// The operations of \p program for one element, as the back end emits it.
static unsigned countProgram(const ScalarProgram &program,
                             llvm::ArrayRef<ElemKind> kinds,
                             const TargetDescription &target) {
  return countEmitted(kinds, target, [&](KernelBuilder &b, const Values &in) {
    return Values{emitProgram(b, program, in, kinds)};
  });
}

/// Of the exponential function.
static unsigned countExp(ElemKind kind, const TargetDescription &target) {
  ScalarProgram program;
  program.steps.push_back(
      {.op = ScalarOp::Exp, .args = {0}, .params = {}, .kind = kind});
  return countProgram(program, {kind}, target);
}

/// The kinds of the inputs of an epilogue, or of an element-wise loop.
static llvm::SmallVector<ElemKind, 4> getInputKinds(const Instruction &instr) {
  llvm::SmallVector<ElemKind, 4> kinds;
  int first = instr.getInfo().fusedOperand;
  if (first < 0) {
    first = 1;
  } else if (auto *convolution = llvm::dyn_cast<CPUConvolutionInstr>(&instr)) {
    kinds.push_back(convolution->getAlgorithm().algorithm->getSumKind(
        convolution->getInput()->getType().getKind(),
        convolution->getFilter()->getType().getKind()));
  } else {
    ElemKind kind = instr.getOperand(1)->getType().getKind();
    kinds.push_back(
        isIntegerKind(kind) && getElemSize(kind) < 4 ? ElemKind::Int32 : kind);
  }
  for (unsigned i = first; i < instr.getNumRecordOperands(); ++i)
    kinds.push_back(instr.getOperand(i)->getType().getKind());
  return kinds;
}

//===- Functions of instructions ------------------------------------------===//
//
// countNAME for the instructions with a CountsOperationsOf record.

#define COUNTS_OPERATIONS(NAME)                                                \
  static double count##NAME(const NAME##Instr &instr,                          \
                            const TargetDescription &target);
#define GET_COUNTS_OPERATIONS_LIST
#include "glowish/Backends/CPU/supports.inc"

//===- Convolutions -------------------------------------------------------===//

/// The pairs of an output and a tap that lie in the image, in one dimension.
static int64_t countTapsInside(int64_t outputs, int64_t size, int64_t taps,
                               int64_t stride, int64_t dilation, int64_t pad) {
  int64_t count = 0;
  for (int64_t out = 0; out < outputs; ++out)
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t in = out * stride + tap * dilation - pad;
      count += in >= 0 && in < size;
    }
  return count;
}

static double countCPUConvolution(const CPUConvolutionInstr &instr,
                                  const TargetDescription &target) {
  ConvolutionShape shape = getConvolutionShape(instr);
  const ConvolutionCandidate &candidate = instr.getAlgorithm();
  if (auto transformed = candidate.algorithm->countOperations(
          shape, candidate.parameters, target))
    return *transformed;
  int64_t rows = countTapsInside(shape.outHeight, shape.height, shape.kernelH,
                                 shape.strideH, shape.dilationH, shape.padTop);
  int64_t columns =
      countTapsInside(shape.outWidth, shape.width, shape.kernelW, shape.strideW,
                      shape.dilationW, shape.padLeft);
  return 2.0 * double(shape.batch * rows * columns) *
         double(shape.getGroupChannels()) * double(shape.outChannels);
}

//===- Others -------------------------------------------------------------===//

static double getNumElements(const Buffer *buffer) {
  return double(buffer->getType().getNumElements());
}

static double countElementWiseLoop(const ElementWiseLoopInstr &instr,
                                   const TargetDescription &target) {
  return getNumElements(instr.getResult()) *
         countProgram(instr.getProgram(), getInputKinds(instr), target);
}

/// One for each query and key.
template <typename InstrT> static double countScores(const InstrT &instr) {
  const Buffer *result = instr.getResult();
  double queries = getNumElements(result) / double(result->getShape().back());
  return queries * double(instr.getKey()->getShape().drop_back().back());
}

/// With the softmax of the scores.
static double countAttention(const AttentionInstr &instr,
                             const TargetDescription &target) {
  return getCost(instr).flops +
         countScores(instr) *
             (4 + countExp(instr.getResult()->getType().getKind(), target));
}

/// With the softmax of the scores, whose weights are rounded.
static double countAttentionInteger(const AttentionIntegerInstr &instr,
                                    const TargetDescription &target) {
  return getCost(instr).flops +
         countScores(instr) * (8 + countExp(ElemKind::Float, target));
}

template <typename Pool> static double countWindows(const Pool &instr) {
  return getNumElements(instr.getResult()) * double(instr.getKernels()[0]) *
         double(instr.getKernels()[1]);
}

static double countMaxPool(const MaxPoolInstr &instr,
                           const TargetDescription &) {
  return countWindows(instr);
}

static double countAvgPool(const AvgPoolInstr &instr,
                           const TargetDescription &) {
  return countWindows(instr);
}

static double countReduce(const ReduceInstr &instr, const TargetDescription &) {
  return getNumElements(instr.getInput());
}

static double countReduceInteger(const ReduceIntegerInstr &instr,
                                 const TargetDescription &) {
  return getNumElements(instr.getInput());
}

/// The maximum, its difference, the sum, and the factor.
static double countSoftmax(const SoftmaxInstr &instr,
                           const TargetDescription &target) {
  const Buffer *result = instr.getResult();
  return getNumElements(result) *
         (4 + countExp(result->getType().getKind(), target));
}

/// The sum for the mean; the difference from it and its square, added.
static double countCPUGroupStatistics(const CPUGroupStatisticsInstr &instr,
                                      const TargetDescription &) {
  return getNumElements(instr.getInput()) * 4;
}

/// The difference from the mean times a factor, and plus the bias.
static double
countCPUGroupNormalization(const CPUGroupNormalizationInstr &instr,
                           const TargetDescription &) {
  return getNumElements(instr.getResult()) * 3;
}

/// The two above.
static double countGroupNormalization(const GroupNormalizationInstr &instr,
                                      const TargetDescription &) {
  return getNumElements(instr.getResult()) * 7;
}

static double countLayerNormalization(const LayerNormalizationInstr &instr,
                                      const TargetDescription &) {
  return getNumElements(instr.getResult()) * 7;
}

double CPUBackend::countOperations(const Instruction &instr) const {
  const Buffer *result = instr.getNumOperands() ? instr.getOperand(0) : nullptr;
  if (!result || result->getType().getNumElements() == 0)
    return 0;
  double count = getCost(instr).flops;
#define COUNTS_OPERATIONS(NAME)                                                \
  if (auto *own = llvm::dyn_cast<NAME##Instr>(&instr))                         \
    count = count##NAME(*own, getTarget());
#define GET_COUNTS_OPERATIONS_LIST
#include "glowish/Backends/CPU/supports.inc"
  if (instr.getInfo().hasEpilogue())
    count += getNumElements(result) * countProgram(instr.getEpilogueProgram(),
                                                   getInputKinds(instr),
                                                   getTarget());
  return count;
}
