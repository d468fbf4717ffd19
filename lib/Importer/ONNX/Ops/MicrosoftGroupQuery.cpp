//===- MicrosoftGroupQuery.cpp - Grouped-query attention of com.microsoft -===//
//
// GroupQueryAttention rotates new queries and keys, appends new keys and values
// to those of the past, and attends causally. Each row of the batch may have a
// past of its own length: input 5, seqlens_k, is the length of the row with its
// new tokens, less 1. The past is at the start of its buffer; elements behind
// it are not read. Source: ONNX Runtime's ContribOperators.md.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Ops/AttentionHeads.h"
#include "glowish/Importer/OperatorNotes.h"
#include <cmath>
#include <limits>

using namespace glowish;

namespace {

/// The inputs of GroupQueryAttention.
enum GroupQueryInput : unsigned {
  queryInput,
  keyInput,
  valueInput,
  pastKeyInput,
  pastValueInput,
  lengthsInput,
  totalInput,
  cosineInput,
  sineInput,
  positionInput,
  biasInput
};

/// Where new tokens are placed.
struct Placement {
  int64_t batch = 0, newTokens = 0;
  int64_t past = 0;  // extent of the past keys
  int64_t total = 0; // extent of the present keys
  /// The length of each row with its new tokens, int32 [batch, 1, 1, 1]; null
  /// if all are past and new tokens.
  NodeValue lengths;
  /// The number of each row's past keys, like `lengths`; null if it is `past`
  /// in all rows.
  NodeValue first;
};

/// Rows of cosines and sines for the new tokens: [batch or 1, 1, new tokens,
/// pairs].
struct Angles {
  NodeValue cosines, sines;
};

} // namespace

//===- Attributes and shapes ----------------------------------------------===//

/// Refuses what needs more than keys, values and a mask.
static llvm::Error checkAttributes(OpContext &op) {
  for (llvm::StringRef name :
       {"smooth_softmax", "qk_output", "kv_cache_bit_width"}) {
    GLOWISH_ASSIGN_OR_RETURN(int64_t number, op.getInt(name, 0));
    // The schema's default of smooth_softmax is -1.
    if (number != 0 && (number != -1 || name != "smooth_softmax"))
      return makeError("attribute '{0}' is {1}; accepted: 0", name, number);
  }
  for (llvm::StringRef name : {"k_quant_type", "v_quant_type"}) {
    GLOWISH_ASSIGN_OR_RETURN(std::string type, op.getString(name, "NONE"));
    if (type != "NONE")
      return makeError("attribute '{0}' is '{1}'; accepted: NONE", name, type);
  }
  return llvm::Error::success();
}

/// Returns the queries, keys and values [batch, length, width]: inputs 0 to 2,
/// or parts of input 0.
static llvm::Expected<Heads> readTokens(OpContext &op, Composer &c,
                                        int64_t numQuery, int64_t numKey) {
  Heads tokens;
  GLOWISH_ASSIGN_OR_RETURN(tokens.query, op.getInput(queryInput));
  DimsRef shape = tokens.query.getShape();
  bool isPacked = !op.hasInput(keyInput) && !op.hasInput(valueInput);
  int64_t numHeads = isPacked ? numQuery + 2 * numKey : numQuery;
  if (shape.size() != 3 || shape[2] % numHeads)
    return makeError("input 0 is {0}; accepted: [batch, length, width] with a "
                     "multiple of {1} as the width",
                     tokens.query.getType().str(), numHeads);
  int64_t size = shape[2] / numHeads;
  if (isPacked) {
    NodeValue all = tokens.query;
    tokens.query = c.slice(all, 2, 0, numQuery * size);
    tokens.key = c.slice(all, 2, numQuery * size, numKey * size);
    tokens.value = c.slice(all, 2, (numQuery + numKey) * size, numKey * size);
    GLOWISH_RETURN_IF_ERROR(c.takeError());
    return tokens;
  }
  GLOWISH_ASSIGN_OR_RETURN(tokens.key, op.getInput(keyInput));
  GLOWISH_ASSIGN_OR_RETURN(tokens.value, op.getInput(valueInput));
  Dims expected = {shape[0], shape[1], numKey * size};
  if (tokens.key.getShape() != DimsRef(expected) ||
      tokens.value.getShape() != DimsRef(expected))
    return makeError("inputs 1 and 2 are {0} and {1}; accepted: [{2}, {3}, "
                     "{4}]",
                     tokens.key.getType().str(), tokens.value.getType().str(),
                     expected[0], expected[1], expected[2]);
  return tokens;
}

/// Returns new queries, keys and values as heads.
static llvm::Expected<Heads> readNewHeads(OpContext &op, Composer &c) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t numQuery, op.getInt("num_heads", 0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t numKey, op.getInt("kv_num_heads", 0));
  constexpr int64_t maxHeads = 1 << 20;
  if (numKey < 1 || numQuery < 1 || numQuery > maxHeads || numQuery % numKey)
    return makeError("attributes 'num_heads' and 'kv_num_heads' are {0} and "
                     "{1}; accepted: a multiple and a divisor, up to {2}",
                     numQuery, numKey, maxHeads);
  GLOWISH_ASSIGN_OR_RETURN(Heads heads, readTokens(op, c, numQuery, numKey));
  GLOWISH_ASSIGN_OR_RETURN(heads.query,
                           splitHeads(c, heads.query, numQuery, "num_heads"));
  GLOWISH_ASSIGN_OR_RETURN(heads.key,
                           splitHeads(c, heads.key, numKey, "kv_num_heads"));
  GLOWISH_ASSIGN_OR_RETURN(heads.value,
                           splitHeads(c, heads.value, numKey, "kv_num_heads"));
  return heads;
}

/// Returns the extent of the past in inputs 3 and 4, 0 without them.
static llvm::Expected<int64_t> readPastExtent(OpContext &op, DimsRef key) {
  if (op.hasInput(pastKeyInput) != op.hasInput(pastValueInput))
    return makeError("inputs 3 and 4 are past keys and values; accepted: both "
                     "or none");
  if (!op.hasInput(pastKeyInput))
    return 0;
  GLOWISH_ASSIGN_OR_RETURN(NodeValue pastKey, op.getInput(pastKeyInput));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue pastValue, op.getInput(pastValueInput));
  DimsRef shape = pastKey.getShape();
  if (shape.size() != 4 || pastValue.getShape() != shape ||
      shape[0] != key[0] || shape[1] != key[1] || shape[3] != key[3])
    return makeError("inputs 3 and 4 are {0} and {1}; accepted: [{2}, {3}, "
                     "length, {4}]",
                     pastKey.getType().str(), pastValue.getType().str(), key[0],
                     key[1], key[3]);
  return shape[2];
}

//===- Placement of new tokens --------------------------------------------===//

/// Returns the extent of the present: input 6 if it is a constant, but at least
/// the extent of the past; else past and new tokens.
static llvm::Expected<int64_t> readTotal(OpContext &op, int64_t past,
                                         int64_t newTokens) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue total, op.getInput(totalInput));
  if (!isIntegerKind(total.getElemKind()) ||
      total.getType().getNumElements() != 1)
    return makeError("input 6 is {0}; accepted: one integer",
                     total.getType().str());
  if (!total.getNodeAs<Constant>())
    return past + newTokens;
  GLOWISH_ASSIGN_OR_RETURN(int64_t length, readConstantInt(op, totalInput));
  if (length < newTokens || length > past + newTokens)
    return makeError("input 6, the total length, is {0}; accepted: {1} to {2}, "
                     "as {3} tokens follow up to {4}",
                     length, newTokens, past + newTokens, newTokens, past);
  return std::max(length, past);
}

/// Whether \p lengths are constants, all of them \p length - 1.
static bool areAll(NodeValue lengths, int64_t length) {
  auto *constant = lengths.getNodeAs<Constant>();
  if (!constant)
    return false;
  const Tensor &tensor = constant->getTensor();
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (tensor.getAsDouble(i) != double(length - 1))
      return false;
  return true;
}

static llvm::Expected<Placement> readPlacement(OpContext &op, Composer &c,
                                               const Heads &heads) {
  DimsRef key = heads.key.getShape();
  Placement place;
  place.batch = key[0];
  place.newTokens = key[2];
  GLOWISH_ASSIGN_OR_RETURN(place.past, readPastExtent(op, key));
  GLOWISH_ASSIGN_OR_RETURN(place.total,
                           readTotal(op, place.past, place.newTokens));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue lengths, op.getInput(lengthsInput));
  if (!isIntegerKind(lengths.getElemKind()) ||
      lengths.getType().getNumElements() != place.batch)
    return makeError("input 5 is {0}; accepted: int32<{1}>",
                     lengths.getType().str(), place.batch);
  bool isSingle = place.past == 0 && place.newTokens == 1;
  if (isSingle || (place.total == place.past + place.newTokens &&
                   areAll(lengths, place.total)))
    return place;
  lengths = c.cast(c.reshape(lengths, {place.batch, 1, 1, 1}), ElemKind::Int32);
  place.lengths = c.add(lengths, 1);
  if (place.past > 0) {
    // Rows of a first prompt may be shorter than it: padding follows.
    NodeValue first = c.max(c.sub(place.lengths, double(place.newTokens)), 0);
    place.first = c.min(first, double(place.total - place.newTokens));
  }
  GLOWISH_RETURN_IF_ERROR(c.takeError());
  return place;
}

/// Returns \p fresh [batch, heads, new tokens, size] behind the past, which is
/// input \p pastIndex; zeros follow.
static NodeValue append(OpContext &op, Composer &c, unsigned pastIndex,
                        NodeValue fresh, const Placement &place) {
  NodeValue past = op.getOptionalInput(pastIndex);
  if (place.past == 0)
    return fresh;
  if (!place.first)
    return c.concat({past, fresh}, 2);
  NodeValue position = c.iota(ElemKind::Int32, 4, 2, place.total);
  NodeValue offset = c.sub(position, place.first); // in the new tokens
  if (place.newTokens > 1) {
    // Gather from tokens of all rows, [batch * new tokens, heads, size].
    DimsRef shape = fresh.getShape();
    NodeValue tokens = c.reshape(c.transpose(fresh, {0, 2, 1, 3}),
                                 {shape[0] * shape[2], shape[1], shape[3]});
    NodeValue start =
        c.mul(c.iota(ElemKind::Int32, 4, 0, shape[0]), double(shape[2]));
    NodeValue last = c.number(position, double(shape[2] - 1));
    NodeValue index = c.add(start, c.min(c.max(offset, 0), last));
    index = c.reshape(index, {shape[0], place.total});
    fresh = c.transpose(c.gather(tokens, index, 0), {0, 2, 1, 3});
  }
  std::vector<int64_t> pads(8, 0);
  pads[6] = place.total - place.past;
  if (pads[6])
    past = c.pad(past, pads, 0);
  NodeValue isNew = c.logicalAnd(c.greaterOrEqual(offset, 0),
                                 c.less(offset, double(place.newTokens)));
  if (c.hasFailed())
    return {};
  return c.select(c.less(offset, 0), past,
                  c.select(isNew, fresh, c.number(fresh, 0)));
}

//===- Rotary embedding ---------------------------------------------------===//

/// Checks that inputs \p cosine and \p cosine + 1 are matrices with the cosines
/// and sines of up to \p maxPairs pairs.
static llvm::Error checkCaches(OpContext &op, unsigned cosine,
                               int64_t maxPairs) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue cosines, op.getInput(cosine));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue sines, op.getInput(cosine + 1));
  DimsRef shape = cosines.getShape();
  if (shape.size() != 2 || shape[1] > maxPairs || sines.getShape() != shape)
    return makeError("inputs {0} and {1} are {2} and {3}; accepted: [length, "
                     "up to {4}]",
                     cosine, cosine + 1, cosines.getType().str(),
                     sines.getType().str(), maxPairs);
  return llvm::Error::success();
}

/// Returns the rows of inputs \p cosine and \p cosine + 1 at \p positions
/// [batch or 1, length].
static Angles gatherAngles(OpContext &op, Composer &c, unsigned cosine,
                           NodeValue positions) {
  auto gather = [&](unsigned index) {
    return c.unsqueeze(c.gather(op.getOptionalInput(index), positions, 0), 1);
  };
  return {gather(cosine), gather(cosine + 1)};
}

/// Returns the angles of the new tokens, at the positions in input 9 or behind
/// the past.
static llvm::Expected<Angles> readAngles(OpContext &op, Composer &c,
                                         const Placement &place,
                                         int64_t headSize) {
  GLOWISH_RETURN_IF_ERROR(checkCaches(op, cosineInput, headSize / 2));
  int64_t rows = op.peekInput(cosineInput).getShape()[0];
  int64_t needed = place.first ? place.newTokens : place.total;
  if (rows < needed)
    return makeError("inputs 7 and 8 have {0} rows; accepted: at least {1}",
                     rows, needed);
  NodeValue positions = op.getOptionalInput(positionInput);
  if (positions &&
      positions.getShape() != DimsRef({place.batch, place.newTokens}))
    return makeError("input 9 is {0}; accepted: [{1}, {2}]",
                     positions.getType().str(), place.batch, place.newTokens);
  if (!positions) {
    NodeValue token = c.iota(ElemKind::Int32, 2, 1, place.newTokens);
    positions = place.first
                    ? c.add(token, c.reshape(place.first, {place.batch, 1}))
                    : c.add(token, double(place.past));
  }
  return gatherAngles(op, c, cosineInput, positions);
}

//===- GroupQueryAttention ------------------------------------------------===//

/// Returns input 10, a bias of scores [batch or 1, heads or 1, queries, keys],
/// with zeros for keys behind it.
static llvm::Expected<NodeValue> readBias(OpContext &op, Composer &c,
                                          DimsRef scores) {
  NodeValue bias = op.getOptionalInput(biasInput);
  if (!bias)
    return bias;
  DimsRef shape = bias.getShape();
  if (shape.size() != 4 || (shape[0] != 1 && shape[0] != scores[0]) ||
      (shape[1] != 1 && shape[1] != scores[1]) || shape[2] != scores[2] ||
      shape[3] > scores[3])
    return makeError("input 10 is {0}; accepted: [{1} or 1, {2} or 1, {3}, up "
                     "to {4}]",
                     bias.getType().str(), scores[0], scores[1], scores[2],
                     scores[3]);
  std::vector<int64_t> pads(8, 0);
  pads.back() = scores[3] - shape[3];
  return pads.back() ? c.finish(c.pad(bias, pads, 0)) : bias;
}

/// Sets the masks of \p scoring: all but the last \p window keys (unless that
/// is -1) up to each query, and the keys behind the rows' lengths, are left
/// out.
static void addMasks(Composer &c, const Placement &place, int64_t window,
                     ElemKind kind, Scoring &scoring) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  bool hasWindow = window > 0 && window < place.total;
  // A single query is the last one, which attends to all keys.
  scoring.isCausal = !place.first && place.newTokens > 1;
  if (!place.lengths) {
    if (hasWindow)
      scoring.mask =
          c.table(kind, {place.newTokens, place.total}, [&](DimsRef index) {
            return index[1] > index[0] + place.past - window ? 0 : -inf;
          });
    return;
  }
  NodeValue key = c.iota(ElemKind::Int32, 4, 3, place.total);
  NodeValue query = c.iota(ElemKind::Int32, 4, 2, place.newTokens);
  if (place.first)
    query = c.add(query, place.first);
  NodeValue isSeen = c.less(key, place.lengths);
  if (place.first && place.newTokens > 1)
    isSeen = c.logicalAnd(isSeen, c.lessOrEqual(key, query));
  if (hasWindow) {
    NodeValue before = c.sub(query, double(window));
    isSeen = c.logicalAnd(isSeen, c.greater(key, before));
    // The window of a query in the padding may be behind the row's length.
    if (place.newTokens > 1)
      scoring.seesKey = c.greater(place.lengths, c.add(before, 1));
  }
  scoring.mask = c.select(isSeen, c.scalar(kind, 0), c.scalar(kind, -inf));
}

static llvm::Expected<Scoring> readScoring(OpContext &op, Composer &c,
                                           const Heads &heads,
                                           const Placement &place) {
  Scoring scoring;
  DimsRef query = heads.query.getShape();
  GLOWISH_ASSIGN_OR_RETURN(scoring.scale, op.getFloat("scale", 0));
  if (scoring.scale == 0)
    scoring.scale = 1 / std::sqrt(double(std::max<int64_t>(query[3], 1)));
  GLOWISH_ASSIGN_OR_RETURN(scoring.softcap, op.getFloat("softcap", 0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t window, op.getInt("local_window_size", -1));
  if (window < -1 || window == 0)
    return makeError("attribute 'local_window_size' is {0}; accepted: -1 or a "
                     "positive number",
                     window);
  addMasks(c, place, window, heads.query.getElemKind(), scoring);
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue bias,
      readBias(op, c, {query[0], query[1], query[2], place.total}));
  if (bias)
    scoring.mask = scoring.mask ? c.add(scoring.mask, bias) : bias;
  GLOWISH_RETURN_IF_ERROR(c.takeError());
  return scoring;
}

/// Returns the attention of \p heads, whose keys and values groups of queries
/// share, as [batch, query heads, length, size].
static llvm::Expected<NodeValue> attendInGroups(Composer &c, Heads heads,
                                                Scoring scoring) {
  Dims query(heads.query.getShape());
  int64_t numKey = heads.key.getShape()[1], share = query[1] / numKey;
  if (query[2] != 1 || share == 1) {
    GLOWISH_ASSIGN_OR_RETURN(heads.key, repeatHeads(c, heads.key, query[1]));
    GLOWISH_ASSIGN_OR_RETURN(heads.value,
                             repeatHeads(c, heads.value, query[1]));
    return attend(c, heads, scoring);
  }
  // The single queries of a group are the rows of a matrix: keys and values
  // need not be repeated.
  heads.query = c.reshape(heads.query, {query[0], numKey, share, query[3]});
  if (scoring.mask && scoring.mask.getShape().size() == 4) {
    DimsRef mask = scoring.mask.getShape();
    if (mask[1] != 1)
      scoring.mask = c.reshape(scoring.mask, {mask[0], numKey, share, mask[3]});
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, attend(c, heads, scoring));
  return c.finish(c.reshape(result, query));
}

static llvm::Error importGroupQueryAttention(OpContext &op) {
  GLOWISH_RETURN_IF_ERROR(checkAttributes(op));
  Composer c(op);
  GLOWISH_ASSIGN_OR_RETURN(Heads heads, readNewHeads(op, c));
  GLOWISH_ASSIGN_OR_RETURN(Placement place, readPlacement(op, c, heads));
  GLOWISH_ASSIGN_OR_RETURN(int64_t isRotary, op.getInt("do_rotary", 0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t interleaved,
                           op.getInt("rotary_interleaved", 0));
  if (isRotary) {
    GLOWISH_ASSIGN_OR_RETURN(
        Angles angles, readAngles(op, c, place, heads.query.getShape().back()));
    for (NodeValue *rotated : {&heads.query, &heads.key}) {
      GLOWISH_ASSIGN_OR_RETURN(
          *rotated, c.finish(rotateHeads(c, *rotated, angles.cosines,
                                         angles.sines, interleaved != 0)));
    }
  } else {
    for (unsigned index : {cosineInput, sineInput, positionInput})
      op.ignoreInput(index);
  }
  heads.past = place.past;
  heads.key = append(op, c, pastKeyInput, heads.key, place);
  heads.value = append(op, c, pastValueInput, heads.value, place);
  GLOWISH_RETURN_IF_ERROR(c.takeError());
  NodeValue presentKey = heads.key, presentValue = heads.value;
  GLOWISH_ASSIGN_OR_RETURN(Scoring scoring, readScoring(op, c, heads, place));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, attendInGroups(c, heads, scoring));
  GLOWISH_RETURN_IF_ERROR(c.setOutput(0, joinHeads(c, result)));
  GLOWISH_RETURN_IF_ERROR(c.setOutput(1, presentKey));
  return c.setOutput(2, presentValue);
}

static OnnxOperator groupQueryAttentionOp("GroupQueryAttention", 1,
                                          importGroupQueryAttention,
                                          microsoftDomain);
static OnnxOperatorNotes groupQueryAttentionNotes(
    "GroupQueryAttention",
    {.limit = "no `smooth_softmax`, `head_sink`, `qk_output` and quantized "
              "keys and values"},
    microsoftDomain);

//===- RotaryEmbedding ----------------------------------------------------===//

/// Returns input 0 as heads: [batch, heads, length, size] or [batch, length,
/// heads * size], where the heads have twice as many elements as the cosines
/// unless an attribute states their number.
static llvm::Expected<NodeValue> readRotated(OpContext &op, Composer &c,
                                             int64_t pairs) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t numHeads, op.getInt("num_heads", 0));
  DimsRef shape = input.getShape();
  if (shape.size() == 4)
    return input;
  if (shape.size() != 3)
    return makeError("input 0 is {0}; accepted: rank 3 or 4",
                     input.getType().str());
  if (numHeads == 0 && pairs > 0)
    numHeads = shape[2] / (2 * pairs);
  return splitHeads(c, input, numHeads, "num_heads");
}

/// Returns input 1: a position for each token, or that of each row's first.
static llvm::Expected<NodeValue> readPositions(OpContext &op, Composer &c,
                                               DimsRef heads) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue positions, op.getInput(1));
  if (positions.getShape() == DimsRef({1})) {
    NodeValue token = c.iota(positions.getElemKind(), 2, 1, heads[2]);
    return c.finish(c.add(token, c.reshape(positions, {1, 1})));
  }
  if (positions.getShape() != DimsRef({heads[0], heads[2]}))
    return makeError("input 1 is {0}; accepted: [1] or [{1}, {2}]",
                     positions.getType().str(), heads[0], heads[2]);
  return positions;
}

static llvm::Error importMicrosoftRotary(OpContext &op) {
  // ONNX Runtime reads the attribute, but does not use it.
  op.ignoreAttrs({"scale"});
  GLOWISH_ASSIGN_OR_RETURN(int64_t packed, op.getInt("is_packed_batching", 0));
  if (packed != 0)
    return makeError("attribute 'is_packed_batching' is {0}; accepted: 0",
                     packed);
  GLOWISH_ASSIGN_OR_RETURN(int64_t interleaved, op.getInt("interleaved", 0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t size, op.getInt("rotary_embedding_dim", 0));
  GLOWISH_RETURN_IF_ERROR(
      checkCaches(op, 2, std::numeric_limits<int64_t>::max()));
  Composer c(op);
  int64_t pairs = op.peekInput(2).getShape()[1];
  GLOWISH_ASSIGN_OR_RETURN(NodeValue heads, readRotated(op, c, pairs));
  DimsRef shape = heads.getShape();
  if (2 * pairs != (size ? size : shape[3]) || 2 * pairs > shape[3])
    return makeError("inputs 2 and 3 have {0} columns; accepted: half of {1}",
                     pairs, size ? size : shape[3]);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue positions, readPositions(op, c, shape));
  Angles angles = gatherAngles(op, c, 2, positions);
  NodeValue result =
      rotateHeads(c, heads, angles.cosines, angles.sines, interleaved != 0);
  bool isFlat = op.peekInput(0).getShape().size() == 3;
  return c.setOutput(0, isFlat ? joinHeads(c, result) : result);
}

static OnnxOperator microsoftRotaryOp("RotaryEmbedding", 1,
                                      importMicrosoftRotary, microsoftDomain);
static OnnxOperatorNotes microsoftRotaryNotes("RotaryEmbedding",
                                              {.limit = "no "
                                                        "`is_packed_batching`"},
                                              microsoftDomain);
