//===- Indexing.cpp - Types of scatters and sorted indices ----------------===//

#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::typerules;

llvm::Expected<TypeList> glowish::inferScatter(const OpView &view) {
  ScatterView op(view);
  const Type &input = op.getInput(), &indices = op.getIndices();
  GLOWISH_RETURN_IF_ERROR(checkNotPerAxis(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.inputIdx, 2));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.indicesIdx, 1));
  if (op.getMode() != "replace")
    GLOWISH_RETURN_IF_ERROR(checkNumber(op, op.inputIdx));
  if (indices.getKind() != ElemKind::Int32 &&
      indices.getKind() != ElemKind::Int64)
    return op.operandError(op.indicesIdx, "expected int32 or int64");
  if (op.getUpdates() != input.withShape({indices.getDim(0), input.getDim(1)}))
    return op.operandError(
        op.updatesIdx,
        "expected " +
            input.withShape({indices.getDim(0), input.getDim(1)}).str());
  return makeResult(input);
}

llvm::Expected<TypeList> glowish::inferDynamicUpdateSlice(const OpView &view) {
  DynamicUpdateSliceView op(view);
  const Type &input = op.getInput(), &update = op.getUpdate();
  const Type &start = op.getStart();
  GLOWISH_RETURN_IF_ERROR(checkNotPerAxis(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkAxis(op, "axis", op.getAxis(), op.inputIdx));
  Dims shape(input.getShape());
  if (update.getRank() == input.getRank())
    shape[op.getAxis()] =
        std::min(shape[op.getAxis()], update.getDim(op.getAxis()));
  if (update != input.withShape(shape))
    return op.operandError(op.updateIdx, "expected at most " + input.str() +
                                             ", and less along dimension " +
                                             llvm::Twine(op.getAxis()) +
                                             " only");
  if ((start.getKind() != ElemKind::Int32 &&
       start.getKind() != ElemKind::Int64) ||
      start.getNumElements() != 1)
    return op.operandError(op.startIdx, "expected int32 or int64, one element");
  return makeResult(input);
}

/// The same operands, but no result of its own.
llvm::Expected<TypeList> glowish::inferInsertSlice(const OpView &view) {
  GLOWISH_RETURN_IF_ERROR(inferDynamicUpdateSlice(view).takeError());
  return TypeList();
}

llvm::Expected<TypeList> glowish::inferTopK(const OpView &view) {
  TopKView op(view);
  const Type &input = op.getInput();
  GLOWISH_RETURN_IF_ERROR(checkNumber(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkMinRank(op, op.inputIdx, 1));
  if (op.getCount() < 0 || op.getCount() > input.getShape().back())
    return op.attrError("count", llvm::Twine(op.getCount()) + " of extent " +
                                     llvm::Twine(input.getShape().back()));
  Dims shape(input.getShape());
  shape.back() = op.getCount();
  return makeResult(ElemKind::Int64, shape);
}

llvm::Expected<TypeList> glowish::inferNonMaxSuppression(const OpView &view) {
  NonMaxSuppressionView op(view);
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.boxesIdx, 3));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.candidatesIdx, 3));
  DimsRef boxes = op.getBoxes().getShape();
  DimsRef candidates = op.getCandidates().getShape();
  GLOWISH_RETURN_IF_ERROR(
      checkIs(op, op.boxesIdx, ElemKind::Float, {candidates[0], boxes[1], 4}));
  GLOWISH_RETURN_IF_ERROR(
      checkIs(op, op.candidatesIdx, ElemKind::Int64, candidates));
  GLOWISH_RETURN_IF_ERROR(checkIs(op, op.thresholdIdx, ElemKind::Float, {}));
  if (op.getCount() < 0)
    return op.attrError("count", llvm::Twine(op.getCount()) + " is negative");
  return makeResult(ElemKind::Int64,
                    {candidates[0], candidates[1], op.getCount()});
}

llvm::Expected<TypeList> glowish::inferBitCast(const OpView &view) {
  BitCastView op(view);
  const Type &input = op.getInput();
  // An element under 8 bits cannot have all values of a byte.
  if (isQuantizedKind(op.getTo()) || op.getTo() == ElemKind::Bool ||
      getElemBits(op.getTo()) != 8 * getElemSize(input.getKind()))
    return op.attrError("to", getElemKindName(op.getTo()) +
                                  " cannot have the bits of " +
                                  getElemKindName(input.getKind()));
  return makeResult(op.getTo(), input.getShape());
}
