//===- AttentionHeads.cpp - Parts of attention operators ------------------===//

#include "Common/AttentionHeads.h"
#include "Common/EqualExtents.h"
#include <limits>

using namespace glowish;

NodeValue glowish::findNearKeys(NodeBuilder &b, NodeValue keys,
                                NodeValue queries, const KeyWindow &window) {
  NodeValue isBefore, isBehind;
  if (window.right >= 0)
    isBefore = b.lessOrEqual(
        keys, window.right ? b.add(queries, double(window.right)) : queries);
  if (window.left >= 0)
    isBehind = b.greater(keys, b.sub(queries, double(window.left) + 1));
  return isBefore && isBehind ? b.logicalAnd(isBefore, isBehind)
         : isBefore           ? isBefore
                              : isBehind;
}

llvm::Error glowish::checkTokenExtents(NodeValue tokens, unsigned index,
                                       unsigned lengthDim) {
  const Type &type = tokens.getType();
  for (unsigned d = 0; d < type.getRank(); ++d)
    if (d != 0 && d != lengthDim && type.getExtent(d))
      return makeError("the extent of dimension {0} of input {1} is known only "
                       "when the model runs; accepted: such extents of the "
                       "batch and the length",
                       d, index);
  return llvm::Error::success();
}

llvm::Expected<NodeValue> glowish::splitHeads(NodeBuilder &b, NodeValue value,
                                              int64_t heads,
                                              llvm::StringRef name) {
  DimsRef shape = value.getShape();
  if (value.getType().getExtent(2))
    return makeError("attribute '{0}' splits dimension 2 of {1}; accepted: an "
                     "extent that no run decides",
                     name, value.getType().str());
  if (heads < 1 || shape[2] % heads)
    return makeError("attribute '{0}' is {1}; accepted: a divisor of {2}", name,
                     heads, shape[2]);
  NodeValue split =
      b.reshape(value, {shape[0], shape[1], heads, shape[2] / heads});
  return b.finish(b.transpose(split, {0, 2, 1, 3}));
}

NodeValue glowish::joinHeads(NodeBuilder &b, NodeValue value) {
  if (!value)
    return value;
  DimsRef shape = value.getShape();
  return b.reshape(b.transpose(value, {0, 2, 1, 3}),
                   {shape[0], shape[2], shape[1] * shape[3]});
}

llvm::Expected<NodeValue> glowish::repeatHeads(NodeBuilder &b, NodeValue value,
                                               int64_t numQuery) {
  DimsRef shape = value.getShape();
  if (shape[1] < 1 || numQuery % shape[1])
    return makeError("{0} heads of queries share {1} of keys; accepted: a "
                     "divisor",
                     numQuery, shape[1]);
  int64_t share = numQuery / shape[1];
  if (share == 1)
    return value;
  if (value.getType().getExtent(1))
    return makeError("the extent of dimension 1 of {0}, heads that are shared, "
                     "is known only when the model runs; accepted: a constant",
                     value.getType().str());
  NodeValue wide = b.broadcast(b.unsqueeze(value, 2),
                               {shape[0], shape[1], share, shape[2], shape[3]});
  return b.finish(b.reshape(wide, {shape[0], numQuery, shape[2], shape[3]}));
}

/// The softmax of \p score [batch, heads, queries, keys] and \p sink, without
/// the latter's share. In float, as sums of half precision are.
static NodeValue softmaxWithSink(NodeBuilder &b, NodeValue score,
                                 NodeValue sink) {
  if (!score)
    return score;
  ElemKind kind = score.getElemKind();
  ElemKind computed = kind == ElemKind::Double ? kind : ElemKind::Float;
  score = b.cast(score, computed);
  sink = b.cast(sink, computed);
  NodeValue most = b.max(b.reduce(score, "max", {3}, /*keepDims=*/true), sink);
  NodeValue power = b.unary<ExpNode>(b.sub(score, most));
  NodeValue sum = b.add(b.reduce(power, "sum", {3}, /*keepDims=*/true),
                        b.unary<ExpNode>(b.sub(sink, most)));
  return b.cast(b.div(power, sum), kind);
}

NodeValue glowish::makeAdditive(NodeBuilder &b, NodeValue mask, ElemKind kind) {
  if (!mask || mask.getElemKind() != ElemKind::Bool)
    return b.cast(mask, kind);
  constexpr double inf = std::numeric_limits<double>::infinity();
  NodeValue zero = b.scalar(kind, 0);
  return b.select(mask, zero, b.scalar(kind, -inf));
}

NodeValue glowish::safeSoftmax(NodeBuilder &b, NodeValue x, int64_t axis) {
  if (!x)
    return x;
  constexpr double inf = std::numeric_limits<double>::infinity();
  NodeValue largest = b.reduce(x, "max", {axis}, /*keepDims=*/true);
  NodeValue isMasked = b.equal(largest, -inf), zero = b.number(x, 0);
  // Without NaN in between, which no factor 0 would remove from a gradient.
  x = b.select(isMasked, zero, x);
  return x ? b.select(isMasked, zero, b.make<SoftmaxNode>(x, axis)) : x;
}

/// Returns which keys each query attends to under a causal mask, [queries,
/// keys].
static NodeValue makeCausalMask(NodeBuilder &b, const Heads &heads) {
  int64_t queries = heads.query.getShape()[2], keys = heads.key.getShape()[2];
  if (std::optional<int64_t> past = heads.past.getConstant())
    return b.table(ElemKind::Bool, {queries, keys}, [&](DimsRef index) {
      return double(index[1] <= index[0] + *past);
    });
  NodeValue own =
      b.add(b.iota(ElemKind::Int64, 2, 0, queries), b.compute(heads.past));
  return b.lessOrEqual(b.iota(ElemKind::Int64, 2, 1, keys), own);
}

llvm::Expected<std::array<NodeValue, 4>>
glowish::composeScores(NodeBuilder &b, const Heads &heads,
                       const Scoring &scoring) {
  std::array<NodeValue, 4> steps;
  NodeValue score =
      b.mul(b.matMul(heads.query, b.transposeLast(heads.key)), scoring.scale);
  steps[0] = score;
  if (scoring.softcap != 0)
    score = b.mul(b.unary<TanhNode>(b.div(score, scoring.softcap)),
                  scoring.softcap);
  steps[1] = score;
  if (scoring.mask)
    score = b.add(score, scoring.mask);
  if (scoring.isCausal && score) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    score = b.select(makeCausalMask(b, heads), score, b.number(score, -inf));
  }
  steps[2] = score;
  if (score)
    // Without a mask each query has a key.
    score = scoring.sink   ? softmaxWithSink(b, score, scoring.sink)
            : scoring.mask ? safeSoftmax(b, score, 3)
                           : b.make<SoftmaxNode>(score, 3);
  steps[3] = score;
  GLOWISH_RETURN_IF_ERROR(b.takeError());
  return steps;
}

llvm::Expected<NodeValue> glowish::attend(NodeBuilder &b, const Heads &heads,
                                          Scoring scoring) {
  const Type &query = heads.query.getType(), &key = heads.key.getType();
  bool hasSteps = scoring.softcap != 0 || scoring.sink;
  // With the node's causal mask, the last query attends to all keys.
  std::optional<Extent> past = subtract(key.getLength(2), query.getLength(2));
  bool isPlain = !scoring.isCausal || (past && areEqual(b, *past, heads.past));
  if (!isPlain && !hasSteps && (query.getExtent(2) || key.getExtent(2))) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    NodeValue own = scoring.mask ? scoring.mask : b.number(heads.query, 0);
    scoring.mask = b.select(makeCausalMask(b, heads), own, b.number(own, -inf));
    GLOWISH_RETURN_IF_ERROR(b.takeError());
    scoring.isCausal = false;
    isPlain = true;
  }
  if (hasSteps || !isPlain) {
    GLOWISH_ASSIGN_OR_RETURN(auto steps, composeScores(b, heads, scoring));
    return b.finish(b.matMul(steps[3], heads.value));
  }
  return b.finish(b.make<AttentionNode>(heads.query, heads.key, heads.value,
                                        scoring.mask, scoring.scale,
                                        scoring.isCausal));
}

NodeValue glowish::rotateHeads(NodeBuilder &b, NodeValue heads,
                               NodeValue cosines, NodeValue sines,
                               bool isInterleaved) {
  if (!heads || !cosines || !sines)
    return {};
  DimsRef shape = heads.getShape();
  int64_t half = cosines.getShape()[3], size = 2 * half;
  NodeValue rotated = b.slice(heads, 3, 0, size);
  NodeValue rest = b.slice(heads, 3, size, shape[3] - size);
  // Split the pairs into a dimension of extent 2.
  Dims pairs = {shape[0], shape[1], shape[2], half, half};
  int64_t pairAxis = isInterleaved ? 4 : 3;
  pairs[pairAxis] = 2;
  NodeValue split = b.reshape(rotated, pairs);
  NodeValue x = b.slice(split, pairAxis, 0, 1);
  NodeValue y = b.slice(split, pairAxis, 1, 1);
  NodeValue cosine = b.unsqueeze(cosines, pairAxis);
  NodeValue sine = b.unsqueeze(sines, pairAxis);
  NodeValue parts[] = {b.sub(b.mul(cosine, x), b.mul(sine, y)),
                       b.add(b.mul(sine, x), b.mul(cosine, y))};
  rotated = b.reshape(b.concat(parts, pairAxis),
                      {shape[0], shape[1], shape[2], size});
  return size < shape[3] ? b.concat({rotated, rest}, 3) : rotated;
}
