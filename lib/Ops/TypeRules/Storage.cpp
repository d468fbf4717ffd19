//===- Storage.cpp - Types of saves, splats, copies and fills -------------===//

#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::typerules;
using llvm::Twine;

llvm::Expected<TypeList> glowish::inferSave(const OpView &view) {
  SaveView op(view);
  if (op.getInput() != op.getOutput())
    return op.operandError(op.outputIdx,
                           "expected the input's type " + op.getInput().str());
  return TypeList();
}

llvm::Expected<TypeList> glowish::inferDeclareExtents(const OpView &view) {
  DeclareExtentsView op(view);
  Type bounds = op.getInput().withoutExtents();
  if (op.getResultType().size() != 1 ||
      op.getResultType().front().withoutExtents() != bounds)
    return op.attrError("resultType",
                        "expected one type, that of the input but for the "
                        "extents: " +
                            bounds.str());
  const Type &type = op.getResultType().front();
  unsigned numCounts = op.getNumInputs() - 1;
  GLOWISH_RETURN_IF_ERROR(checkLength(op, "dims", op.getDims(), numCounts));
  for (unsigned i = 0; i < numCounts; ++i) {
    GLOWISH_RETURN_IF_ERROR(checkIs(op, i + 1, ElemKind::Int64, {}));
    GLOWISH_RETURN_IF_ERROR(
        checkAxis(op, "dims", op.getDims()[i], op.inputIdx));
    const Extent *extent = type.getExtent(op.getDims()[i]);
    if (!extent || extent->getSymbol().empty())
      return op.attrError("dims", "the extent of dimension " +
                                      Twine(op.getDims()[i]) + " of " +
                                      type.str() + " is no symbol");
  }
  return TypeList{bounds};
}

llvm::Expected<TypeList> glowish::inferSplat(const OpView &view) {
  SplatView op(view);
  if (isQuantizedKind(op.getElemKind()))
    return op.attrError("elemKind",
                        getElemKindName(op.getElemKind()) +
                            " is quantized, and there are no scales");
  GLOWISH_RETURN_IF_ERROR(
      checkRepresentable(op, "value", op.getValue(), op.getElemKind()));
  if (llvm::Error refused = checkShape(op.getElemKind(), op.getShape()))
    return op.attrError("shape", llvm::toString(std::move(refused)));
  return makeResult(op.getElemKind(), op.getShape());
}

llvm::Expected<TypeList> glowish::inferLifetime(const OpView &op) {
  return TypeList{op.getOutput(0)};
}

llvm::Expected<TypeList> glowish::inferCopy(const OpView &view) {
  return makeResult(CopyView(view).getInput());
}

llvm::Expected<TypeList> glowish::inferFill(const OpView &view) {
  FillView op(view);
  const Type &result = op.getResult();
  GLOWISH_RETURN_IF_ERROR(
      checkRepresentable(op, "value", op.getValue(), result.getKind()));
  return makeResult(result);
}
