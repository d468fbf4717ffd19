//===- Attention.cpp - Types of attention ---------------------------------===//

#include "glowish/Ops/TypeRuleHelpers.h"

using namespace glowish;
using namespace glowish::typerules;
using llvm::Twine;

llvm::Expected<TypeList> glowish::inferAttention(const OpView &view) {
  AttentionView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.queryIdx));
  GLOWISH_RETURN_IF_ERROR(checkMinRank(op, op.queryIdx, 2));
  DimsRef query = op.getQuery().getShape();
  size_t leading = query.size() - 2;
  for (unsigned i : {op.keyIdx, op.valueIdx}) {
    GLOWISH_RETURN_IF_ERROR(checkSameKind(op, i, op.queryIdx));
    GLOWISH_RETURN_IF_ERROR(checkRank(op, i, query.size()));
    if (op.getInput(i).getShape().take_front(leading) !=
        query.take_front(leading))
      return op.operandError(i, "expected the leading dimensions of query");
  }
  DimsRef key = op.getKey().getShape(), value = op.getValue().getShape();
  int64_t queries = query[leading], keys = key[leading];
  if (key.back() != query.back())
    return op.operandError(op.keyIdx, "expected " + Twine(query.back()) +
                                          " columns, as many as query has");
  if (keys == 0)
    return op.operandError(op.keyIdx, "there is no softmax of nothing");
  if (value[leading] != keys)
    return op.operandError(op.valueIdx, "expected " + Twine(keys) +
                                            " rows, as many as key has");
  if (op.getCausal() && keys < queries)
    return op.attrError("causal", "there are fewer keys than queries, " +
                                      Twine(keys) + " and " + Twine(queries));
  Dims result(query.drop_back());
  if (op.hasMask()) {
    result.push_back(keys);
    GLOWISH_RETURN_IF_ERROR(checkSameKind(op, op.maskIdx, op.queryIdx));
    GLOWISH_RETURN_IF_ERROR(checkBroadcastsTo(op, op.maskIdx, result));
    result.pop_back();
  }
  result.push_back(value.back());
  return makeResult(op.getQuery().getKind(), result);
}
