//===- ConvolutionOp.cpp - Convolutions, and matmuls as such --------------===//

#include "Selection/ConvolutionOp.h"
#include "Instrs.h"
#include "Kernels/MatMul/MatMul.h"
#include "Selection/ByteOperands.h"
#include "glowish/IR/LoopBounds.h"

using namespace glowish;

//===- Descriptions -------------------------------------------------------===//

/// Describes a Convolution or ConvolutionInteger, without zero points.
template <typename Instr> static ConvolutionOp describe(const Instr &instr) {
  Buffer *filter = instr.getFilter();
  DimsRef extents = filter->getShape(), s = filter->getStrides();
  return {.instr = instr,
          .result = instr.getResult(),
          .input = instr.getInput(),
          .filter = filter,
          .bias = instr.getBias(),
          .fused = instr.getFused(),
          .kernels = {extents[1], extents[2]},
          .strides = instr.getStrides(),
          .pads = instr.getPads(),
          .dilations = instr.getDilations(),
          .group = instr.getGroup(),
          .filterStrides = {extents[0] / instr.getGroup() * s[0], s[1], s[2],
                            s[3], s[0]}};
}

/// Describes a MatMul or MatMulInteger of which the right side is one matrix;
/// none if it is not.
template <typename Instr>
static std::optional<ConvolutionOp> describeMatMul(const Instr &instr) {
  Buffer *rhs = instr.getRhs();
  if (rhs->getType().getRank() != 2 || instr.getLhs()->getType().getRank() > 4)
    return std::nullopt;
  DimsRef s = rhs->getStrides();
  return ConvolutionOp{.instr = instr,
                       .result = instr.getResult(),
                       .input = instr.getLhs(),
                       .filter = rhs,
                       .fused = instr.getFused(),
                       .filterStrides = {0, 0, 0, s[0], s[1]},
                       .outputDim = 1,
                       .isMatMul = true,
                       .hasOneRow = hasOneRow(*instr.getResult())};
}

/// Returns whether the right side can be packed. If it is not constant, copying
/// its elements must be fast.
static bool isPackable(const MatMulInstr &instr) {
  const Buffer &rhs = *instr.getRhs();
  ElemKind kind = rhs.getType().getKind();
  // The kernels of packed weights sum all of them.
  return !hasBoundedDepth(instr) &&
         (isConstant(rhs)
              ? isFloatKind(kind)
              : kind == ElemKind::Float || kind == ElemKind::Double);
}

/// Completes the description of an instruction of bytes; none where its weights
/// are computed.
static std::optional<ConvolutionOp>
addZeroPoints(std::optional<ConvolutionOp> op, Buffer *zeroPoint,
              Buffer *filterZeroPoint) {
  if (!op || !isConstant(*op->filter) ||
      (filterZeroPoint && !isConstant(*filterZeroPoint)))
    return std::nullopt;
  op->isOfBytes = true;
  op->zeroPoint = zeroPoint;
  op->filterZeroPoint = filterZeroPoint;
  return op;
}

static std::optional<ConvolutionOp> describeOfBytes(const Instruction &instr) {
  if (auto *convolution = llvm::dyn_cast<ConvolutionIntegerInstr>(&instr))
    return addZeroPoints(describe(*convolution), convolution->getZeroPoint(),
                         convolution->getFilterZeroPoint());
  if (auto *matmul = llvm::dyn_cast<MatMulIntegerInstr>(&instr))
    return addZeroPoints(describeMatMul(*matmul), /*zeroPoint=*/nullptr,
                         matmul->getRhsZeroPoint());
  return std::nullopt;
}

std::optional<ConvolutionOp>
glowish::describeConvolution(const Instruction &instr) {
  if (auto *convolution = llvm::dyn_cast<ConvolutionInstr>(&instr))
    return describe(*convolution);
  if (auto *matmul = llvm::dyn_cast<MatMulInstr>(&instr))
    return isPackable(*matmul) ? describeMatMul(*matmul) : std::nullopt;
  return describeOfBytes(instr);
}

//===- Problems -----------------------------------------------------------===//

/// Returns whether \p buffer is a matrix in column-major order.
static bool isColumnMajor(const Buffer &buffer) {
  DimsRef strides = buffer.getStrides();
  return strides.size() == 2 && strides[0] == 1 && strides[1] != 1;
}

bool ConvolutionOp::copiesInput() const {
  return isMatMul && !isOfBytes && input->getInnerStride() != 1 &&
         (isConstant(*filter) || !isColumnMajor(*input));
}

ConvolutionProblem ConvolutionOp::getProblem() const {
  ImageLayout image = getImage(input);
  bool mayNeedFewer =
      !isMatMul && llvm::any_of(instr.getLoopBounds(), [](const auto &bound) {
        return bound.operand == 0 && bound.dim == 0;
      });
  return {.shape = getShape(),
          .kind = input->getType().getKind(),
          .inputStrides =
              copiesInput() ? getDenseStrides(image.shape) : image.strides,
          .isOfBytes = isOfBytes,
          .hasWideFilter = isOfBytes && hasWideDifferences(*this),
          .mostImages = mayNeedFewer ? image.shape[0] : 0};
}

//===- Replacements -------------------------------------------------------===//

void glowish::replaceByKernel(IRFunction &function, Instruction &instr,
                              const ConvolutionOp &op,
                              const ConvolutionCandidate &candidate,
                              ConvolutionInputs inputs) {
  llvm::SmallVector<Buffer *, 4> fused;
  for (Buffer *buffer : inputs.fused)
    fused.push_back(op.viewImage(function, buffer));
  function.replace(&instr, CPUConvolutionInstr::draft(
                               op.viewImage(function, op.result), inputs.input,
                               inputs.filter.filter, inputs.filter.scales,
                               inputs.bias, inputs.zeroPoint, op.kernels,
                               op.strides, op.pads, op.dilations, op.group,
                               candidate, fused, std::move(inputs.epilogue)));
}

void glowish::limitToNeededRows(InstrDraft &draft, const ConvolutionOp &op) {
  ConvolutionShape shape = op.getShape();
  Dims input = op.getImage(op.input).shape,
       result = op.getImage(op.result).shape;
  bool isPointwise =
      shape.kernelH == 1 && shape.kernelW == 1 &&
      DimsRef(input).take_front(3) == DimsRef(result).take_front(3);
  // A pixel takes others of its image.
  for (const LoopBound &bound : getResultBounds(op.instr, result))
    if (bound.dim < (isPointwise ? 3 : 1))
      draft.bounds.push_back(bound);
  if (!isPointwise)
    return;
  DimsRef made = draft.operands[0]->getShape();
  draft.predicate = getPredicateFor(op.instr, result);
  if (draft.predicate && !isPredicateOf(draft.predicate->getType(), made))
    draft.predicate = nullptr;
}
