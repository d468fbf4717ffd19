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

/// Checks the counts of a node that states extents.
static llvm::Error checkCounts(const OpView &view) {
  // The views of all these have the same operands and attributes.
  DeclareExtentsView op(view);
  const Type &type = op.getResultType().front();
  unsigned numCounts = op.getNumInputs() - 1;
  GLOWISH_RETURN_IF_ERROR(checkLength(op, "dims", op.getDims(), numCounts));
  for (unsigned i = 0; i < numCounts; ++i) {
    GLOWISH_RETURN_IF_ERROR(checkIs(op, i + 1, ElemKind::Int64, {}));
    int64_t dim = op.getDims()[i];
    if (dim < 0 || dim >= int64_t(type.getRank()))
      return op.attrError("dims",
                          Twine(dim) + " is no dimension of " + type.str());
    const Extent *extent = type.getExtent(unsigned(dim));
    if (!extent || extent->getSymbol().empty())
      return op.attrError("dims", "the extent of dimension " + Twine(dim) +
                                      " of " + type.str() + " is no symbol");
  }
  return llvm::Error::success();
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
  GLOWISH_RETURN_IF_ERROR(checkCounts(op));
  return TypeList{bounds};
}

llvm::Expected<TypeList> glowish::inferRepack(const OpView &view) {
  RepackView op(view);
  llvm::ArrayRef<Type> types = op.getResultType();
  if (types.size() != 1 ||
      types.front().withShape({}) != op.getInput().withShape({}))
    return op.attrError("resultType",
                        "expected one type, of the kind of the input, " +
                            op.getInput().str());
  GLOWISH_RETURN_IF_ERROR(checkCounts(op));
  return TypeList{types.front().withoutExtents()};
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
