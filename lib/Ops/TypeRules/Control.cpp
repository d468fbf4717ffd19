//===- Control.cpp - Types of branches and loops --------------------------===//

#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::typerules;

static std::string formatTypes(llvm::ArrayRef<Type> types) {
  std::string text = "(";
  for (const Type &type : types)
    text += (text.size() > 1 ? ", " : "") + type.str();
  return text + ")";
}

/// The parameters of the body \p name are \p expected.
static llvm::Error checkParameters(const OpView &op, llvm::StringRef name,
                                   const Body &body,
                                   llvm::ArrayRef<Type> expected) {
  TypeList types = body.getParameterTypes();
  if (llvm::ArrayRef<Type>(types) == expected)
    return llvm::Error::success();
  return op.attrError(name, "the parameters are " + formatTypes(types) +
                                "; accepted: " + formatTypes(expected));
}

llvm::Expected<TypeList> glowish::inferIf(const OpView &view) {
  IfView op(view);
  GLOWISH_RETURN_IF_ERROR(checkIs(op, op.conditionIdx, ElemKind::Bool, {}));
  TypeList captures;
  for (unsigned i = 0; i < op.getNumCaptures(); ++i)
    captures.push_back(op.getCaptures(i));
  GLOWISH_RETURN_IF_ERROR(
      checkParameters(op, "thenBody", *op.getThenBody(), captures));
  GLOWISH_RETURN_IF_ERROR(
      checkParameters(op, "elseBody", *op.getElseBody(), captures));
  TypeList results = op.getThenBody()->getResultTypes();
  TypeList others = op.getElseBody()->getResultTypes();
  if (results.empty())
    return op.attrError("thenBody", "it has no results");
  if (results != others)
    return op.attrError("elseBody",
                        "the results are " + formatTypes(others) +
                            "; those of 'thenBody': " + formatTypes(results));
  return results;
}

llvm::Expected<TypeList> glowish::inferLoop(const OpView &view) {
  LoopView op(view);
  GLOWISH_RETURN_IF_ERROR(checkIs(op, op.tripCountIdx, ElemKind::Int64, {}));
  GLOWISH_RETURN_IF_ERROR(checkIs(op, op.conditionIdx, ElemKind::Bool, {}));
  int64_t numStates = op.getNumStates(), maxTripCount = op.getMaxTripCount();
  if (numStates < 0 || numStates > int64_t(op.getNumValues()))
    return op.attrError("numStates", llvm::Twine(numStates) + " of " +
                                         llvm::Twine(op.getNumValues()) +
                                         " values");
  if (maxTripCount < 0)
    return op.attrError("maxTripCount",
                        llvm::Twine(maxTripCount) + " is negative");
  TypeList parameters = {Type(ElemKind::Int64, {}), Type(ElemKind::Bool, {})};
  for (unsigned i = 0; i < op.getNumValues(); ++i)
    parameters.push_back(op.getValues(i));
  GLOWISH_RETURN_IF_ERROR(
      checkParameters(op, "body", *op.getBody(), parameters));

  TypeList ends = op.getBody()->getResultTypes();
  llvm::ArrayRef<Type> states =
      llvm::ArrayRef<Type>(parameters).slice(1, numStates + 1);
  if (ends.size() < states.size() ||
      llvm::ArrayRef<Type>(ends).take_front(states.size()) != states)
    return op.attrError("body", "the results are " + formatTypes(ends) +
                                    "; accepted are first the condition and "
                                    "the states: " +
                                    formatTypes(states));
  TypeList results(states.begin() + 1, states.end());
  for (const Type &element : llvm::drop_begin(ends, states.size())) {
    Dims shape = {maxTripCount};
    llvm::append_range(shape, element.getShape());
    if (element.isQuantized() && element.getQuantParams().axis >= 0)
      return op.attrError("body", "a scan has one scale for each element of " +
                                      element.str() + "; accepted: one");
    GLOWISH_RETURN_IF_ERROR(checkShape(element.getKind(), shape));
    results.push_back(element.withShape(shape));
  }
  results.push_back(Type(ElemKind::Int64, {}));
  return results;
}
