//===- External.cpp - Types of external operators -------------------------===//

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
