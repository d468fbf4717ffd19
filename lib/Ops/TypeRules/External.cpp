//===- External.cpp - Types of what calls functions -----------------------===//

#include "glowish/Ops/TextForm.h"
#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::typerules;

llvm::Expected<TypeList> glowish::inferExternalCall(const OpView &view) {
  ExternalCallView op(view);
  if (!isIdentifier(op.getFunction()))
    return op.attrError("function",
                        "'" + op.getFunction() + "' is not a name in C");
  for (unsigned i = 0; i < op.getNumInputs(); ++i)
    if (op.getInputs(i).isQuantized())
      return op.operandError(i, "accepted: kinds that are not quantized");
  llvm::ArrayRef<Type> results = op.getResultTypes();
  if (results.empty())
    return op.attrError("resultTypes", "there is none");
  for (const Type &type : results)
    if (type.isQuantized())
      return op.attrError("resultTypes",
                          type.str() +
                              "; accepted: kinds that are not quantized");
  llvm::ArrayRef<int64_t> absent = op.getAbsent();
  int64_t numInputs = op.getNumInputs() + absent.size();
  for (auto [i, position] : llvm::enumerate(absent))
    if (position < (i ? absent[i - 1] + 1 : 0) || position >= numInputs)
      return op.attrError("absent", "the positions must be in ascending order "
                                    "and below the number of inputs, " +
                                        llvm::Twine(numInputs));
  return TypeList(results);
}

static llvm::Error checkAveraged(const OpView &op) {
  const Type &type = op.getInput(0);
  if (type.getKind() == ElemKind::Float || type.getKind() == ElemKind::Double)
    return llvm::Error::success();
  return op.operandError(0, "expected float or double");
}

llvm::Expected<TypeList> glowish::inferAllReduce(const OpView &view) {
  GLOWISH_RETURN_IF_ERROR(checkAveraged(view));
  return makeResult(AllReduceView(view).getInput());
}

llvm::Expected<TypeList> glowish::inferAllReduceBuffer(const OpView &op) {
  GLOWISH_RETURN_IF_ERROR(checkAveraged(op));
  return TypeList();
}
