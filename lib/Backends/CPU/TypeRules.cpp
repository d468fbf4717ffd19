//===- TypeRules.cpp - Type rules of the CPU back end's instructions ------===//

#include "Instrs.h"
#include "Kernels/NBits/NBitsLayout.h"
#include "Selection/ConvolutionAlgorithm.h"
#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::typerules;

llvm::Expected<TypeList> glowish::inferCPUConvolution(const OpView &view) {
  CPUConvolutionView op(view);
  // The back end makes it from a Convolution that has been checked: here only
  // what the kernel relies on.
  if (op.getInput().getRank() != 4 || op.getResult().getRank() != 4)
    return op.operandError(op.inputIdx, "accepted: images [N, H, W, C]");
  if (op.getKernels().size() != 2 || op.getStrides().size() != 2 ||
      op.getPads().size() != 4 || op.getDilations().size() != 2)
    return op.attrError("kernels", "window attributes have 2 values, pads 4");
  const ConvolutionAlgorithm &algorithm = *op.getAlgorithm().algorithm;
  ElemKind kind = op.getInput().getKind();
  if (!algorithm.takesPackedKind(op.getFilter().getKind(), kind))
    return op.operandError(op.filterIdx,
                           "accepted: the kind that the algorithm packs");
  if (op.hasScales() != algorithm.hasScales())
    return op.operandError(op.scalesIdx, "present for int8-slices only");
  if (op.hasScales())
    GLOWISH_RETURN_IF_ERROR(checkIs(op, op.scalesIdx, ElemKind::Float,
                                    {op.getResult().getShape().back()}));
  if (op.hasZeroPoint() && (algorithm.getZeroPointUse() ==
                                ConvolutionAlgorithm::ZeroPointUse::None ||
                            op.getZeroPoint().getKind() != kind ||
                            op.getZeroPoint().getNumElements() != 1))
    return op.operandError(op.zeroPointIdx,
                           "accepted: one of the input's kind, where the "
                           "algorithm takes it");
  return TypeList{op.getResult().withKind(
      algorithm.getSumKind(kind, op.getFilter().getKind()))};
}

llvm::Expected<TypeList> glowish::inferCPUMatMulNBits(const OpView &view) {
  CPUMatMulNBitsView op(view);
  // The back end makes it from a MatMulNBits that has been checked.
  if (op.getLhs().getRank() < 2 || op.getResult().getRank() < 2)
    return op.operandError(op.lhsIdx, "accepted: at least rank 2");
  if (op.getBlock() < 1)
    return op.attrError("block", "accepted: at least 1");
  NBitsLayout layout = {.depth = op.getLhs().getShape().back(),
                        .columns = op.getResult().getShape().back(),
                        .block = op.getBlock(),
                        .kind = op.getWeightKind(),
                        .isForIntegers = op.hasLhsScales()};
  GLOWISH_RETURN_IF_ERROR(
      checkIs(op, op.weightsIdx, ElemKind::Int8, {layout.getWeightBytes()}));
  GLOWISH_RETURN_IF_ERROR(
      checkIs(op, op.scalesIdx, ElemKind::Float, {layout.getNumParameters()}));
  if (op.hasZeroPoints())
    GLOWISH_RETURN_IF_ERROR(checkIs(op, op.zeroPointsIdx, ElemKind::Int8,
                                    {layout.getNumParameters()}));
  Dims shape(op.getLhs().getShape());
  if (op.hasLhsScales()) {
    shape.back() = layout.getNumBlocks();
    GLOWISH_RETURN_IF_ERROR(
        checkIs(op, op.lhsScalesIdx, ElemKind::Float, shape));
  }
  shape.back() = layout.columns;
  return makeResult(op.hasLhsScales() ? ElemKind::Float : op.getLhs().getKind(),
                    shape);
}

llvm::Expected<TypeList> glowish::inferCPUSliceWeights(const OpView &view) {
  CPUSliceWeightsView op(view);
  if (op.getWeights().getKind() != ElemKind::Float ||
      op.getWeights().getRank() != 4)
    return op.operandError(op.weightsIdx, "accepted: float [KH, KW, C, OC]");
  // How many slices the kernel reads is the back end's business.
  return TypeList{Type(ElemKind::Int8, op.getSlices().getShape()),
                  Type(ElemKind::Float, {op.getWeights().getShape().back()})};
}

/// The type of the statistics of \p input in \p parts parts.
static Type getStatisticsType(const Type &input, int64_t parts) {
  bool isDouble = input.getKind() == ElemKind::Double;
  return Type(isDouble ? ElemKind::Double : ElemKind::Float,
              {input.getDim(0), parts, 2, input.getShape().back()});
}

llvm::Expected<TypeList> glowish::inferCPUGroupStatistics(const OpView &view) {
  CPUGroupStatisticsView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkMinRank(op, op.inputIdx, 2));
  // How many parts there are is the back end's business.
  const Type &result = op.getResult();
  return TypeList{getStatisticsType(
      op.getInput(), result.getRank() == 4 ? result.getDim(1) : 1)};
}

llvm::Expected<TypeList>
glowish::inferCPUGroupNormalization(const OpView &view) {
  CPUGroupNormalizationView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkMinRank(op, op.inputIdx, 2));
  const Type &input = op.getInput(), &statistics = op.getStatistics();
  if (statistics.getRank() != 4 || statistics.getDim(1) < 1 ||
      statistics != getStatisticsType(input, statistics.getDim(1)))
    return op.operandError(op.statisticsIdx, "accepted: [N, parts, 2, C]");
  int64_t channels = input.getShape().back();
  if (op.getGroups() < 1 || channels % op.getGroups())
    return op.attrError("groups", "expected a divisor of the channels");
  if (op.hasScale())
    GLOWISH_RETURN_IF_ERROR(
        checkIs(op, op.scaleIdx, input.getKind(), {channels}));
  if (op.hasBias())
    GLOWISH_RETURN_IF_ERROR(
        checkIs(op, op.biasIdx, input.getKind(), {channels}));
  return makeResult(input);
}
