//===- AttentionHeads.cpp - Parts of attention operators ------------------===//

#include "ONNX/Ops/AttentionHeads.h"
#include <limits>

using namespace glowish;

bool glowish::isFlat(const OpContext &op) {
  return op.hasInput(0) && op.peekInput(0).getShape().size() == 3;
}

llvm::Expected<NodeValue> glowish::splitHeads(Composer &c, NodeValue value,
                                              int64_t heads,
                                              llvm::StringRef name) {
  DimsRef shape = value.getShape();
  if (heads < 1 || shape[2] % heads)
    return makeError("attribute '{0}' is {1}; accepted: a divisor of {2}", name,
                     heads, shape[2]);
  NodeValue split =
      c.reshape(value, {shape[0], shape[1], heads, shape[2] / heads});
  return c.finish(c.transpose(split, {0, 2, 1, 3}));
}

NodeValue glowish::joinHeads(Composer &c, NodeValue value) {
  if (!value)
    return value;
  DimsRef shape = value.getShape();
  return c.reshape(c.transpose(value, {0, 2, 1, 3}),
                   {shape[0], shape[2], shape[1] * shape[3]});
}

llvm::Expected<NodeValue> glowish::repeatHeads(Composer &c, NodeValue value,
                                               int64_t numQuery) {
  DimsRef shape = value.getShape();
  if (shape[1] < 1 || numQuery % shape[1])
    return makeError("{0} heads of queries share {1} of keys; accepted: a "
                     "divisor",
                     numQuery, shape[1]);
  int64_t share = numQuery / shape[1];
  if (share == 1)
    return value;
  NodeValue wide = c.broadcast(c.unsqueeze(value, 2),
                               {shape[0], shape[1], share, shape[2], shape[3]});
  return c.finish(c.reshape(wide, {shape[0], numQuery, shape[2], shape[3]}));
}

/// The softmax of \p score [batch, heads, queries, keys] and \p sink, without
/// the latter's share. In float, as sums of half precision are.
static NodeValue softmaxWithSink(Composer &c, NodeValue score, NodeValue sink) {
  if (!score)
    return score;
  ElemKind kind = score.getElemKind();
  ElemKind computed = kind == ElemKind::Double ? kind : ElemKind::Float;
  score = c.cast(score, computed);
  sink = c.cast(sink, computed);
  NodeValue most = c.max(c.reduce(score, "max", {3}, /*keepDims=*/true), sink);
  NodeValue power = c.unary<ExpNode>(c.sub(score, most));
  NodeValue sum = c.add(c.reduce(power, "sum", {3}, /*keepDims=*/true),
                        c.unary<ExpNode>(c.sub(sink, most)));
  return c.cast(c.div(power, sum), kind);
}

llvm::Expected<std::array<NodeValue, 4>>
glowish::composeScores(Composer &c, const Heads &heads,
                       const Scoring &scoring) {
  std::array<NodeValue, 4> steps;
  NodeValue score =
      c.mul(c.matMul(heads.query, c.transposeLast(heads.key)), scoring.scale);
  steps[0] = score;
  if (scoring.softcap != 0)
    score = c.mul(c.unary<TanhNode>(c.div(score, scoring.softcap)),
                  scoring.softcap);
  steps[1] = score;
  if (scoring.mask)
    score = c.add(score, scoring.mask);
  if (scoring.isCausal && score) {
    NodeValue seen = c.table(ElemKind::Bool, score.getShape().take_back(2),
                             [&](DimsRef index) {
                               return double(index[1] <= index[0] + heads.past);
                             });
    constexpr double inf = std::numeric_limits<double>::infinity();
    score = c.select(seen, score, c.number(score, -inf));
  }
  steps[2] = score;
  if (score)
    score = scoring.sink ? softmaxWithSink(c, score, scoring.sink)
                         : c.make<SoftmaxNode>(score, 3);
  if (scoring.seesKey && score)
    score = c.select(scoring.seesKey, score, c.number(score, 0));
  steps[3] = score;
  GLOWISH_RETURN_IF_ERROR(c.takeError());
  return steps;
}

llvm::Expected<NodeValue> glowish::attend(Composer &c, const Heads &heads,
                                          const Scoring &scoring) {
  int64_t queries = heads.query.getShape()[2], keys = heads.key.getShape()[2];
  // With the node's causal mask, the last query attends to all keys.
  bool isPlain = scoring.softcap == 0 && !scoring.sink &&
                 (!scoring.isCausal || keys - queries == heads.past);
  if (!isPlain) {
    GLOWISH_ASSIGN_OR_RETURN(auto steps, composeScores(c, heads, scoring));
    return c.finish(c.matMul(steps[3], heads.value));
  }
  NodeValue result =
      c.make<AttentionNode>(heads.query, heads.key, heads.value, scoring.mask,
                            scoring.scale, scoring.isCausal);
  if (scoring.seesKey && result)
    result = c.select(scoring.seesKey, result, c.number(result, 0));
  return c.finish(result);
}

NodeValue glowish::rotateHeads(Composer &c, NodeValue heads, NodeValue cosines,
                               NodeValue sines, bool isInterleaved) {
  if (!heads || !cosines || !sines)
    return {};
  DimsRef shape = heads.getShape();
  int64_t half = cosines.getShape()[3], size = 2 * half;
  NodeValue rotated = c.slice(heads, 3, 0, size);
  NodeValue rest = c.slice(heads, 3, size, shape[3] - size);
  // Split the pairs into a dimension of extent 2.
  Dims pairs = {shape[0], shape[1], shape[2], half, half};
  int64_t pairAxis = isInterleaved ? 4 : 3;
  pairs[pairAxis] = 2;
  NodeValue split = c.reshape(rotated, pairs);
  NodeValue x = c.slice(split, pairAxis, 0, 1);
  NodeValue y = c.slice(split, pairAxis, 1, 1);
  NodeValue cosine = c.unsqueeze(cosines, pairAxis);
  NodeValue sine = c.unsqueeze(sines, pairAxis);
  NodeValue parts[] = {c.sub(c.mul(cosine, x), c.mul(sine, y)),
                       c.add(c.mul(sine, x), c.mul(cosine, y))};
  rotated = c.reshape(c.concat(parts, pairAxis),
                      {shape[0], shape[1], shape[2], size});
  return size < shape[3] ? c.concat({rotated, rest}, 3) : rotated;
}
