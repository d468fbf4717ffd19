//===- Attention.cpp - Types of attention ---------------------------------===//

#include "glowish/Base/ElemRange.h"
#include "glowish/Ops/TypeRuleHelpers.h"
#include <cmath>

using namespace glowish;
using namespace glowish::typerules;
using llvm::Twine;

/// The result, of \p kind, of an attention whose element kinds are right.
template <typename View>
static llvm::Expected<TypeList> inferAttentionOf(const View &op,
                                                 ElemKind kind) {
  GLOWISH_RETURN_IF_ERROR(checkMinRank(op, op.queryIdx, 2));
  DimsRef query = op.getQuery().getShape();
  size_t leading = query.size() - 2;
  for (unsigned i : {op.keyIdx, op.valueIdx}) {
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
    GLOWISH_RETURN_IF_ERROR(checkBroadcastsTo(op, op.maskIdx, result));
    result.pop_back();
  }
  result.push_back(value.back());
  return makeResult(kind, result);
}

llvm::Expected<TypeList> glowish::inferAttention(const OpView &view) {
  AttentionView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.queryIdx));
  for (unsigned i : {op.keyIdx, op.valueIdx, op.maskIdx})
    GLOWISH_RETURN_IF_ERROR(checkSameKind(op, i, op.queryIdx));
  return inferAttentionOf(op, op.getQuery().getKind());
}

/// Whether integers of 8 bits of \p kind can have \p zeroPoint.
static bool hasZeroPoint(ElemKind kind, int64_t zeroPoint) {
  return getFiniteRange(kind).contains(double(zeroPoint));
}

llvm::Expected<TypeList> glowish::inferAttentionInteger(const OpView &view) {
  AttentionIntegerView op(view);
  for (unsigned i : {op.queryIdx, op.keyIdx, op.valueIdx})
    GLOWISH_RETURN_IF_ERROR(checkBytes(op, i));
  if (op.hasMask() && op.getMask().getKind() != ElemKind::Float)
    return op.operandError(op.maskIdx, "expected kind float");
  if (!hasZeroPoint(op.getQuery().getKind(), op.getQueryZeroPoint()))
    return op.attrError("queryZeroPoint", "query's kind does not have it");
  if (!hasZeroPoint(op.getValue().getKind(), op.getValueZeroPoint()))
    return op.attrError("valueZeroPoint", "value's kind does not have it");
  if (!std::isfinite(float(op.getScale())))
    return op.attrError("scale", "expected a finite float");
  // Its reciprocal is finite, too.
  if (!(op.getWeightScale() >= 0x1p-126 && op.getWeightScale() <= 0x1p126))
    return op.attrError("weightScale", "expected from 2^-126 to 2^126");
  if (op.getMaxWeight() < 1 || op.getMaxWeight() > 255)
    return op.attrError("maxWeight", "expected from 1 to 255");
  return inferAttentionOf(op, ElemKind::Int32);
}
