//===- ElementWise.cpp - Types of element-wise operators ------------------===//

#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::typerules;

/// The result's kind of a node that computes \p info from arguments of
/// \p kind.
static llvm::Expected<ElemKind>
getResultKind(const OpView &op, const ScalarOpInfo &info, ElemKind kind) {
  switch (info.result) {
  case ScalarOpInfo::Result::Same:
    return kind;
  case ScalarOpInfo::Result::Bool:
    return ElemKind::Bool;
  case ScalarOpInfo::Result::To: {
    ElemKind to = op.getAttr<ElemKind>(op.getInfo().findAttr("to"));
    if (isQuantizedKind(to))
      return op.attrError("to", getElemKindName(to) +
                                    " is quantized, and there are no scales");
    return to;
  }
  }
  llvm_unreachable("not a result rule");
}

/// Checks the attribute `table` for elements of \p kind.
static llvm::Error checkTable(const OpView &op, const ScalarOpInfo &info,
                              ElemKind kind) {
  const auto &numbers =
      op.getAttr<std::vector<int64_t>>(op.getInfo().findAttr("table"));
  llvm::SmallVector<double> table(numbers.begin(), numbers.end());
  if (llvm::Error refused = info.checkTable(table, kind))
    return op.attrError("table", llvm::toString(std::move(refused)));
  return llvm::Error::success();
}

llvm::Expected<TypeList> glowish::inferElementWise(const OpView &op) {
  std::optional<ScalarOp> scalarOp = op.getInfo().scalarOp;
  assert(scalarOp && "an element-wise operator");
  const ScalarOpInfo &info = getScalarOpInfo(*scalarOp);
  unsigned first = info.firstIsBool ? 1 : 0;
  if (info.firstIsBool && op.getInput(0).getKind() != ElemKind::Bool)
    return op.operandError(0, "expected kind bool");
  llvm::SmallVector<DimsRef, 3> shapes;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    shapes.push_back(op.getInput(i).getShape());
    if (i < first)
      continue;
    if (!info.accepts(op.getInput(i).getKind()))
      return op.operandError(i, "expected " + info.describeKinds());
    GLOWISH_RETURN_IF_ERROR(checkSameKind(op, i, first));
  }
  if (info.tableSize)
    GLOWISH_RETURN_IF_ERROR(checkTable(op, info, op.getInput(first).getKind()));
  GLOWISH_ASSIGN_OR_RETURN(Dims shape, broadcastShapes(shapes));
  GLOWISH_ASSIGN_OR_RETURN(
      ElemKind kind, getResultKind(op, info, op.getInput(first).getKind()));
  return makeResult(kind, shape);
}

llvm::Expected<TypeList> glowish::inferElementWiseLoop(const OpView &view) {
  ElementWiseLoopView op(view);
  DimsRef shape = op.getResult().getShape();
  llvm::SmallVector<ElemKind, 4> kinds;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    if (op.getInputs(i).getShape() != shape)
      return op.operandError(i, "expected the result's shape " +
                                    formatShape(shape));
    kinds.push_back(op.getInputs(i).getKind());
  }
  llvm::Expected<ElemKind> kind = op.getProgram().check(kinds);
  if (!kind)
    return op.attrError("program", llvm::toString(kind.takeError()));
  return makeResult(*kind, shape);
}
