//===- DynamicAttention.cpp - Attention of dynamic lengths ----------------===//
//
// Keys beyond the actual ones are masked. They and their values are made 0, as
// they may be NaN. What queries beyond the actual ones give is unspecified.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Ops/DynamicAttention.h"
#include "Common/AttentionHeads.h"
#include "ONNX/Ops/Concat.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

bool onnximport::isFlat(const OpContext &op) {
  return op.hasInput(0) && op.peekInput(0).getShape().size() == 3;
}

llvm::Error onnximport::checkTokenExtents(const DynamicValue &tokens,
                                          unsigned index, unsigned lengthDim) {
  for (unsigned d = 0; d < tokens.getRank(); ++d)
    if (d != 0 && d != lengthDim && tokens.isDynamic(d))
      return makeError("the extent of dimension {0} of input {1} is known only "
                       "when the model runs; accepted: such extents of the "
                       "batch and the length",
                       d, index);
  return llvm::Error::success();
}

/// Reads input \p index as heads, of which attribute \p name states the number
/// if they lie side by side.
static llvm::Expected<DynamicValue> readHeads(OpContext &op, unsigned index,
                                              llvm::StringRef name) {
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue tokens, getDynamicInput(op, index));
  unsigned rank = isFlat(op) ? 3 : 4;
  if (tokens.getRank() != rank)
    return makeError("input {0} is {1}; accepted: rank {2}", index,
                     tokens.value.getType().str(), rank);
  GLOWISH_RETURN_IF_ERROR(checkTokenExtents(tokens, index, rank - 2));
  if (!isFlat(op))
    return tokens;
  int64_t numHeads = op.getInt(name, 0);
  DynamicValue heads;
  GLOWISH_ASSIGN_OR_RETURN(heads.value,
                           splitHeads(op, tokens.value, numHeads, name));
  heads.extents = {tokens.getExtent(0), {}, tokens.getExtent(1), {}};
  return heads;
}

llvm::Expected<NodeValue> onnximport::prependPast(OpContext &op, unsigned index,
                                                  DynamicValue &heads) {
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue past, getDynamicInput(op, index));
  if (past.getRank() != 4)
    return makeError("input {0} is {1}; accepted: rank 4", index,
                     past.value.getType().str());
  GLOWISH_RETURN_IF_ERROR(checkTokenExtents(past, index, 2));
  NodeValue length = countAlong(op, past, 2);
  NodeValue parts[] = {op.declare(past.value, past.extents),
                       op.declare(heads.value, heads.extents)};
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_RETURN_IF_ERROR(alignParts(op, parts, 2));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue joined, op.finish(op.concat(parts, 2)));
  heads = {op.dropExtents(joined)};
  for (unsigned d = 0; d < 4; ++d)
    if (joined.getType().getExtent(d))
      heads.setExtent(d, op.getLength(joined, d));
  return length;
}

static llvm::Expected<DynamicHeads> readAllHeads(OpContext &op) {
  DynamicHeads heads;
  GLOWISH_ASSIGN_OR_RETURN(heads.query, readHeads(op, 0, "q_num_heads"));
  GLOWISH_ASSIGN_OR_RETURN(heads.key, readHeads(op, 1, "kv_num_heads"));
  GLOWISH_ASSIGN_OR_RETURN(heads.value, readHeads(op, 2, "kv_num_heads"));
  if (!isFlat(op)) {
    for (llvm::StringRef name : {"q_num_heads", "kv_num_heads"})
      op.getInt(name, 0);
  }
  if (op.hasInput(4) != op.hasInput(5))
    return makeError("inputs 4 and 5 are past keys and values; accepted: both "
                     "or none");
  if (op.hasInput(4)) {
    GLOWISH_ASSIGN_OR_RETURN(heads.pastLength, prependPast(op, 4, heads.key));
    GLOWISH_RETURN_IF_ERROR(prependPast(op, 5, heads.value).takeError());
  }
  GLOWISH_RETURN_IF_ERROR(unify(op, heads.key, 2, heads.value, 2));
  GLOWISH_RETURN_IF_ERROR(unify(op, heads.query, 0, heads.key, 0));
  GLOWISH_RETURN_IF_ERROR(unify(op, heads.query, 0, heads.value, 0));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return heads;
}

/// Crops dimension \p dim of \p mask to \p extent, or fills it up with
/// \p filler; one that broadcasts stays as it is.
static void fitMask(OpContext &op, NodeValue &mask, unsigned dim,
                    int64_t extent, double filler) {
  if (!mask || mask.getShape()[dim] == 1)
    return;
  int64_t own = mask.getShape()[dim];
  if (own > extent)
    mask = op.slice(mask, dim, 0, extent);
  if (own >= extent)
    return;
  size_t rank = mask.getShape().size();
  std::vector<int64_t> pads(2 * rank, 0);
  pads[rank + dim] = extent - own;
  mask = op.pad(mask, pads, filler);
}

/// Reads input 3 as an additive mask of the kind and, in its last two
/// dimensions, the largest extents of the scores; null if there is none.
static llvm::Expected<NodeValue> readMask(OpContext &op,
                                          const DynamicHeads &heads) {
  if (!op.hasInput(3))
    return NodeValue();
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue given, getDynamicInput(op, 3));
  ElemKind kind = heads.query.value.getElemKind();
  constexpr double inf = std::numeric_limits<double>::infinity();
  NodeValue mask = makeAdditive(op, given.value, kind);
  unsigned rank = given.getRank();
  if (rank >= 1)
    fitMask(op, mask, rank - 1, heads.key.getShape()[2], -inf);
  if (rank >= 2)
    fitMask(op, mask, rank - 2, heads.query.getShape()[2], 0);
  return op.finish(mask);
}

static llvm::Expected<Scoring> readScoring(OpContext &op,
                                           const DynamicHeads &heads) {
  Scoring scoring;
  double size = double(heads.query.getShape()[3]);
  scoring.scale = op.getFloat("scale", 1 / std::sqrt(size));
  scoring.softcap = op.getFloat("softcap", 0);
  GLOWISH_ASSIGN_OR_RETURN(scoring.mask, readMask(op, heads));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return scoring;
}

llvm::Expected<KeyWindow> onnximport::readKeyWindow(OpContext &op) {
  KeyWindow window;
  if (op.getOpset() >= 25) {
    window.left = op.getInt("left_window_size", -1);
    window.right = op.getInt("right_window_size", -1);
  }
  if (window.left < -1 || window.right < -1)
    return makeError("attributes 'left_window_size' and 'right_window_size' "
                     "are {0} and {1}; accepted: -1 (not limited) or more",
                     window.left, window.right);
  int64_t isCausal = op.getInt("is_causal", 0);
  if (isCausal)
    window.right = 0;
  return window;
}

NodeValue onnximport::findNearKeys(OpContext &op, NodeValue keys,
                                   NodeValue queries, const KeyWindow &window) {
  NodeValue isBefore, isBehind;
  if (window.right >= 0)
    isBefore = op.lessOrEqual(
        keys, window.right ? op.add(queries, double(window.right)) : queries);
  if (window.left >= 0)
    isBehind = op.greater(keys, op.sub(queries, double(window.left) + 1));
  return isBefore && isBehind ? op.logicalAnd(isBefore, isBehind)
         : isBefore           ? isBefore
                              : isBehind;
}

NodeValue onnximport::findSeenKeys(OpContext &op, const DynamicHeads &heads,
                                   KeyWindow window) {
  if (window.left >= heads.key.getShape()[2] - 1)
    window.left = -1;
  NodeValue key = numberAlong(op, heads.key, 2);
  key = op.reshape(key, {1, 1, 1, heads.key.getShape()[2]});
  NodeValue seen;
  if (heads.key.isDynamic(2))
    seen = op.less(key, heads.key.getExtent(2));
  if (!window.isLimited())
    return seen;
  NodeValue query = numberAlong(op, heads.query, 2);
  if (heads.pastLength)
    query = op.add(query, heads.pastLength);
  NodeValue isNear = findNearKeys(op, key, query, window);
  return seen ? op.logicalAnd(seen, isNear) : isNear;
}

llvm::Expected<DynamicValue>
onnximport::attendDynamic(OpContext &op, const DynamicHeads &heads,
                          Scoring scoring, NodeValue seen) {
  ElemKind kind = heads.query.value.getElemKind();
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (seen)
    scoring.mask =
        op.select(seen, scoring.mask ? scoring.mask : op.scalar(kind, 0),
                  op.scalar(kind, -inf));
  int64_t numQuery = heads.query.getShape()[1];
  Heads plain = {heads.query.value, fillOutside(op, heads.key, {2}, 0),
                 fillOutside(op, heads.value, {2}, 0)};
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(plain.key, repeatHeads(op, plain.key, numQuery));
  GLOWISH_ASSIGN_OR_RETURN(plain.value, repeatHeads(op, plain.value, numQuery));
  DynamicValue result;
  GLOWISH_ASSIGN_OR_RETURN(result.value, attend(op, plain, scoring));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  result.extents = {heads.query.getExtent(0), {}, heads.query.getExtent(2), {}};
  return result;
}

llvm::Error onnximport::importDynamicAttention(OpContext &op) {
  if (op.wantsOutput(3))
    return makeError("output 3 is used, and extents are known only when the "
                     "model runs; accepted: constant ones");
  // Half-precision sums are accumulated in float.
  op.ignoreAttrs({"softmax_precision", "qk_matmul_output_mode"});
  GLOWISH_ASSIGN_OR_RETURN(DynamicHeads heads, readAllHeads(op));
  GLOWISH_ASSIGN_OR_RETURN(Scoring scoring, readScoring(op, heads));
  GLOWISH_ASSIGN_OR_RETURN(KeyWindow window, readKeyWindow(op));
  NodeValue seen = findSeenKeys(op, heads, window);
  GLOWISH_ASSIGN_OR_RETURN(DynamicValue result,
                           attendDynamic(op, heads, scoring, seen));
  if (isFlat(op)) {
    result.value = joinHeads(op, result.value);
    result.extents = {result.getExtent(0), heads.query.getExtent(2), {}};
  }
  GLOWISH_RETURN_IF_ERROR(setDynamicOutput(op, 0, result));
  GLOWISH_RETURN_IF_ERROR(setDynamicOutput(op, 1, heads.key));
  return setDynamicOutput(op, 2, heads.value);
}
