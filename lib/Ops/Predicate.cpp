//===- Predicate.cpp - Which rows of results are needed -------------------===//

#include "glowish/Ops/Predicate.h"
#include "glowish/Support/Error.h"

using namespace glowish;

const OperandInfo &glowish::getPredicateInfo() {
  static const OperandInfo info = {.name = "predicate",
                                   .role = OperandRole::In,
                                   .isOptional = true,
                                   .isStrided = true,
                                   .doc = "whether each row is needed"};
  return info;
}

bool glowish::takesPredicate(const OpInfo &info) {
  return !info.has(OpTrait::HasSideEffects) &&
         !info.has(OpTrait::CallsFunction) && !info.has(OpTrait::Collective) &&
         !info.has(OpTrait::LifetimeMarker);
}

std::optional<unsigned> glowish::countRowDims(DimsRef shape, int64_t count) {
  int64_t rows = 1;
  for (unsigned d = 0; d < shape.size(); ++d) {
    rows *= shape[d];
    if (rows == count)
      return d + 1;
  }
  return std::nullopt;
}

bool glowish::isPredicateOf(const Type &predicate, DimsRef shape) {
  if (predicate.getKind() != ElemKind::Bool || predicate.getRank() > 1)
    return false;
  if (predicate.getRank() == 0)
    return true;
  return countRowDims(shape, predicate.getDim(0)).has_value();
}

llvm::Error glowish::checkPredicate(const OpInfo &info, const Type &predicate,
                                    const TypeList &results) {
  if (!takesPredicate(info))
    return makeError("{0} takes no predicate, as it has effects", info.name);
  for (const Type &result : results)
    if (!isPredicateOf(predicate, result.getShape()))
      return makeError("the predicate of a result {0} is {1}; accepted: "
                       "bool<>, or bool<N> where N is the product of leading "
                       "extents",
                       result.str(), predicate.str());
  return llvm::Error::success();
}
