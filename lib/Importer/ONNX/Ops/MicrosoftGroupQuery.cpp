//===- MicrosoftGroupQuery.cpp - Grouped-query attention of com.microsoft -===//
//
// GroupQueryAttention rotates new queries and keys, appends new keys and values
// to those of the past, and attends causally. Each row of the batch may have a
// past of its own length: input 5, seqlens_k, is the length of the row with its
// new tokens, less 1. The past is at the start of its buffer; elements behind
// it are not read. Source: ONNX Runtime's ContribOperators.md.
//
//===----------------------------------------------------------------------===//

#include "Common/AttentionHeads.h"
#include "Common/EqualExtents.h"
#include "Common/Normalization.h"
#include "ONNX/Extents.h"
#include "ONNX/Ops/MicrosoftRotary.h"
#include "glowish/Importer/OperatorNotes.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

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
  biasInput,
  sinkInput,
  keyScaleInput,
  valueScaleInput,
  queryNormInput,
  keyNormInput
};

/// Where new tokens are placed.
struct Placement {
  int64_t batch = 0, newTokens = 0;
  Extent past;       // extent of the past keys
  int64_t total = 0; // extent of the present keys; a bound if a run decides it
  /// The length of each row with its new tokens, int32 [batch, 1, 1, 1]; null
  /// if all are past and new tokens.
  NodeValue lengths;
  /// The number of each row's past keys, like `lengths`; null if it is `past`
  /// in all rows.
  NodeValue first;
};

} // namespace

//===- Attributes and shapes ----------------------------------------------===//

/// Refuses what needs more than keys, values and a mask.
static llvm::Error checkAttributes(OpContext &op) {
  for (llvm::StringRef name :
       {"qk_output", "kv_cache_bit_width", "sliding_window_cache"}) {
    int64_t number = op.getInt(name, 0);
    if (number != 0)
      return makeError("attribute '{0}' is {1}; accepted: 0", name, number);
  }
  for (llvm::StringRef name : {"k_quant_type", "v_quant_type"}) {
    std::string type = op.getString(name, "NONE");
    if (type != "NONE")
      return makeError("attribute '{0}' is '{1}'; accepted: NONE", name, type);
  }
  for (unsigned index : {keyScaleInput, valueScaleInput})
    if (op.hasInput(index))
      return makeError("input {0} is a scale of quantized keys or values; "
                       "accepted: none",
                       index);
  return llvm::Error::success();
}

/// Returns the keys that a query attends to.
static llvm::Expected<KeyWindow> readWindow(OpContext &op) {
  int64_t size = op.getInt("local_window_size", -1);
  if (size < -1 || size == 0)
    return makeError("attribute 'local_window_size' is {0}; accepted: -1 or a "
                     "positive number",
                     size);
  int64_t causal = op.getInt("causal", 1);
  if (causal < 0 || causal > 1 || (causal == 0 && size != -1))
    return makeError("attribute 'causal' is {0}, and 'local_window_size' {1}; "
                     "accepted: 1, and 0 with -1",
                     causal, size);
  return KeyWindow{.left = size > 0 ? size - 1 : -1, .right = causal - 1};
}

/// Returns input \p index, of which runs may decide the batch and the length,
/// dimension \p lengthDim.
static llvm::Expected<NodeValue> readChecked(OpContext &op, unsigned index,
                                             unsigned lengthDim) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue tokens, op.getInput(index));
  GLOWISH_RETURN_IF_ERROR(checkTokenExtents(tokens, index, lengthDim));
  return tokens;
}

/// Returns the queries, keys and values [batch, length, width]: inputs 0 to 2,
/// or parts of input 0.
static llvm::Expected<Heads> readTokens(OpContext &op, int64_t numQuery,
                                        int64_t numKey) {
  Heads tokens;
  GLOWISH_ASSIGN_OR_RETURN(tokens.query, readChecked(op, queryInput, 1));
  DimsRef shape = tokens.query.getShape();
  bool isPacked = !op.hasInput(keyInput) && !op.hasInput(valueInput);
  int64_t numHeads = isPacked ? numQuery + 2 * numKey : numQuery;
  if (shape.size() != 3 || shape[2] % numHeads)
    return op.refuseInput(
        0, llvm::formatv(
               "[batch, length, width] with a multiple of {0} as the width",
               numHeads));
  int64_t size = shape[2] / numHeads;
  if (isPacked) {
    NodeValue all = tokens.query;
    tokens.query = op.slice(all, 2, 0, numQuery * size);
    tokens.key = op.slice(all, 2, numQuery * size, numKey * size);
    tokens.value = op.slice(all, 2, (numQuery + numKey) * size, numKey * size);
    GLOWISH_RETURN_IF_ERROR(op.takeError());
    return tokens;
  }
  GLOWISH_ASSIGN_OR_RETURN(tokens.key, readChecked(op, keyInput, 1));
  GLOWISH_ASSIGN_OR_RETURN(tokens.value, readChecked(op, valueInput, 1));
  Dims expected = {shape[0], shape[1], numKey * size};
  const Type &query = tokens.query.getType();
  for (NodeValue part : {tokens.key, tokens.value})
    if (part.getShape() != DimsRef(expected) ||
        !areEqual(op, part.getType().getLength(1), query.getLength(1)))
      return makeError("inputs 1 and 2 are {0} and {1}; accepted: [{2}, {3}, "
                       "{4}]",
                       tokens.key.getType().str(), tokens.value.getType().str(),
                       query.getLength(0).str(), query.getLength(1).str(),
                       expected[2]);
  return tokens;
}

/// Normalizes \p heads, queries and keys, where inputs 14 and 15 have weights.
static llvm::Error normalizeHeads(OpContext &op, Heads &heads) {
  NodeValue weights[] = {op.input(queryNormInput), op.input(keyNormInput)};
  double epsilon = op.getFloat("qk_norm_epsilon", 1e-6);
  if (!weights[0] && !weights[1])
    return llvm::Error::success();
  Type expected(heads.query.getElemKind(), {heads.query.getShape()[3]});
  NodeValue *parts[] = {&heads.query, &heads.key};
  for (unsigned i = 0; i < 2; ++i) {
    if (!weights[i] || weights[i].getType() != expected)
      return makeError("input {0} is {1}; accepted: {2}, or neither of inputs "
                       "14 and 15",
                       queryNormInput + i,
                       weights[i] ? weights[i].getType().str() : "absent",
                       expected.str());
    *parts[i] = makeLayerNorm(op, {.x = *parts[i],
                                   .scale = weights[i],
                                   .bias = {},
                                   .axis = 3,
                                   .epsilon = epsilon,
                                   .subtractMean = false});
    GLOWISH_RETURN_IF_ERROR(op.takeError());
  }
  return llvm::Error::success();
}

/// Returns new queries, keys and values as heads.
static llvm::Expected<Heads> readNewHeads(OpContext &op) {
  int64_t numQuery = op.getInt("num_heads", 0);
  int64_t numKey = op.getInt("kv_num_heads", 0);
  constexpr int64_t maxHeads = 1 << 20;
  if (numKey < 1 || numQuery < 1 || numQuery > maxHeads || numQuery % numKey)
    return makeError("attributes 'num_heads' and 'kv_num_heads' are {0} and "
                     "{1}; accepted: a multiple and a divisor, up to {2}",
                     numQuery, numKey, maxHeads);
  GLOWISH_ASSIGN_OR_RETURN(Heads heads, readTokens(op, numQuery, numKey));
  GLOWISH_ASSIGN_OR_RETURN(heads.query,
                           splitHeads(op, heads.query, numQuery, "num_heads"));
  GLOWISH_ASSIGN_OR_RETURN(heads.key,
                           splitHeads(op, heads.key, numKey, "kv_num_heads"));
  GLOWISH_ASSIGN_OR_RETURN(heads.value,
                           splitHeads(op, heads.value, numKey, "kv_num_heads"));
  GLOWISH_RETURN_IF_ERROR(normalizeHeads(op, heads));
  return heads;
}

/// Returns the type of the past keys in input 3, to which input 4 has the
/// values; one of no length without them.
static llvm::Expected<Type> readPastType(OpContext &op, const Type &fresh) {
  DimsRef key = fresh.getShape();
  if (op.hasInput(pastKeyInput) != op.hasInput(pastValueInput))
    return makeError("inputs 3 and 4 are past keys and values; accepted: both "
                     "or none");
  if (!op.hasInput(pastKeyInput))
    return fresh.withShape({key[0], key[1], 0, key[3]});
  GLOWISH_ASSIGN_OR_RETURN(NodeValue pastKey, readChecked(op, pastKeyInput, 2));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue pastValue,
                           readChecked(op, pastValueInput, 2));
  DimsRef shape = pastKey.getShape();
  if (shape.size() != 4 || pastValue.getShape() != shape ||
      shape[0] != key[0] || shape[1] != key[1] || shape[3] != key[3])
    return makeError("inputs 3 and 4 are {0} and {1}; accepted: [{2}, {3}, "
                     "length, {4}]",
                     pastKey.getType().str(), pastValue.getType().str(), key[0],
                     key[1], key[3]);
  return pastKey.getType();
}

//===- Placement of new tokens --------------------------------------------===//

/// Returns the extent of the present: input 6 if it is a constant, but at least
/// the extent of the past; else past and new tokens.
static llvm::Expected<int64_t> readTotal(OpContext &op, int64_t past,
                                         int64_t newTokens) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue total, op.getInput(totalInput));
  if (!isIntegerKind(total.getElemKind()) ||
      total.getType().getNumElements() != 1)
    return op.refuseInput(6, "one integer");
  if (!total.getNodeAs<Constant>())
    return past + newTokens;
  GLOWISH_ASSIGN_OR_RETURN(int64_t length, op.getConstantInt(totalInput));
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

/// Sets the lengths of the rows in \p place, where they are not all tokens.
static llvm::Error readLengths(OpContext &op, Placement &place,
                               int64_t maxPast) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue lengths, op.getInput(lengthsInput));
  if (!isIntegerKind(lengths.getElemKind()) ||
      lengths.getType().getNumElements() != place.batch)
    return op.refuseInput(5, llvm::formatv("int32<{0}>", place.batch));
  bool isSingle = maxPast == 0 && place.newTokens == 1;
  if (isSingle || (place.total == maxPast + place.newTokens &&
                   areAll(lengths, place.total)))
    return llvm::Error::success();
  lengths =
      op.cast(op.reshape(lengths, {place.batch, 1, 1, 1}), ElemKind::Int32);
  place.lengths = op.add(lengths, 1);
  if (maxPast > 0) {
    // Rows of a first prompt may be shorter than it: padding follows.
    NodeValue first = op.max(op.sub(place.lengths, double(place.newTokens)), 0);
    place.first = op.min(first, double(place.total - place.newTokens));
  }
  return op.takeError();
}

static llvm::Expected<Placement> readPlacement(OpContext &op,
                                               const Heads &heads) {
  const Type &key = heads.key.getType();
  Placement place;
  place.batch = key.getDim(0);
  place.newTokens = key.getDim(2);
  GLOWISH_ASSIGN_OR_RETURN(Type past, readPastType(op, key));
  place.past = past.getLength(2);
  place.total = past.getDim(2) + place.newTokens;
  if (!key.getExtent(2) && !past.getExtent(2)) {
    GLOWISH_ASSIGN_OR_RETURN(place.total,
                             readTotal(op, past.getDim(2), place.newTokens));
    GLOWISH_RETURN_IF_ERROR(readLengths(op, place, past.getDim(2)));
    return place;
  }
  // All tokens of the only row count: inputs 5 and 6 have nothing to add.
  if (place.batch != 1)
    return makeError("the batch is {0}, and lengths are known only when the "
                     "model runs; accepted: 1",
                     place.batch);
  op.ignoreInput(lengthsInput);
  op.ignoreInput(totalInput);
  return place;
}

/// Returns \p fresh [batch, heads, new tokens, size] behind the past, which is
/// input \p pastIndex; zeros follow. Null where \p op has failed.
static NodeValue append(OpContext &op, unsigned pastIndex, NodeValue fresh,
                        const Placement &place) {
  NodeValue past = op.input(pastIndex);
  // The other one may have failed.
  if (op.hasFailed())
    return {};
  if (place.past == 0)
    return fresh;
  if (!place.first)
    return op.concat({past, fresh}, 2);
  NodeValue position = op.iota(ElemKind::Int32, 4, 2, place.total);
  NodeValue offset = op.sub(position, place.first); // in the new tokens
  if (place.newTokens > 1) {
    // Gather from tokens of all rows, [batch * new tokens, heads, size].
    DimsRef shape = fresh.getShape();
    NodeValue tokens = op.reshape(op.transpose(fresh, {0, 2, 1, 3}),
                                  {shape[0] * shape[2], shape[1], shape[3]});
    NodeValue start =
        op.mul(op.iota(ElemKind::Int32, 4, 0, shape[0]), double(shape[2]));
    NodeValue last = op.number(position, double(shape[2] - 1));
    NodeValue index = op.add(start, op.min(op.max(offset, 0), last));
    index = op.reshape(index, {shape[0], place.total});
    fresh = op.transpose(op.gather(tokens, index, 0), {0, 2, 1, 3});
  }
  std::vector<int64_t> pads(8, 0);
  pads[6] = place.total - past.getShape()[2];
  past = op.pad(past, pads, 0);
  NodeValue isNew = op.logicalAnd(op.greaterOrEqual(offset, 0),
                                  op.less(offset, double(place.newTokens)));
  if (op.hasFailed())
    return {};
  return op.select(op.less(offset, 0), past,
                   op.select(isNew, fresh, op.number(fresh, 0)));
}

//===- Rotary embedding ---------------------------------------------------===//

/// Returns the number of past keys, where it is the same in all rows, as int32.
static NodeValue getPast(OpContext &op, const Placement &place) {
  return op.cast(op.compute(place.past), ElemKind::Int32);
}

/// Returns the angles of the new tokens, at the positions in input 9 or behind
/// the past.
static llvm::Expected<Angles> readAngles(OpContext &op, const Placement &place,
                                         int64_t headSize) {
  GLOWISH_RETURN_IF_ERROR(checkCaches(op, cosineInput, headSize / 2));
  int64_t rows = op.peekInput(cosineInput).getShape()[0];
  int64_t needed = place.first ? place.newTokens : place.total;
  if (rows < needed)
    return makeError("inputs 7 and 8 have {0} rows; accepted: at least {1}",
                     rows, needed);
  NodeValue positions = op.input(positionInput);
  if (positions &&
      positions.getShape() != DimsRef({place.batch, place.newTokens}))
    return op.refuseInput(
        9, llvm::formatv("[{0}, {1}]", place.batch, place.newTokens));
  if (!positions) {
    NodeValue token = op.iota(ElemKind::Int32, 2, 1, place.newTokens);
    positions = place.first
                    ? op.add(token, op.reshape(place.first, {place.batch, 1}))
                    : op.add(token, getPast(op, place));
  }
  return gatherAngles(op, cosineInput, positions);
}

//===- GroupQueryAttention ------------------------------------------------===//

/// Returns input 10, a bias of the scores of \p heads [batch or 1, heads or 1,
/// queries, keys], with zeros for keys behind it.
static llvm::Expected<NodeValue> readBias(OpContext &op, const Heads &heads) {
  NodeValue bias = op.input(biasInput);
  if (!bias)
    return bias;
  const Type &type = bias.getType(), &query = heads.query.getType(),
             &key = heads.key.getType();
  DimsRef shape = type.getShape();
  bool fits = shape.size() == 4 &&
              (shape[0] == 1 || shape[0] == query.getDim(0)) &&
              (shape[1] == 1 || shape[1] == query.getDim(1)) &&
              areEqual(op, type.getLength(2), query.getLength(2)) &&
              shape[2] == query.getDim(2) && shape[3] <= key.getDim(2);
  if (fits && (type.getExtent(3) || key.getExtent(2)))
    fits = areEqual(op, type.getLength(3), key.getLength(2)) &&
           shape[3] == key.getDim(2);
  if (!fits)
    return makeError("input 10 is {0}; accepted: [{1} or 1, {2} or 1, {3}, up "
                     "to {4}]",
                     type.str(), query.getLength(0).str(), query.getDim(1),
                     query.getLength(2).str(), key.getLength(2).str());
  std::vector<int64_t> pads(8, 0);
  pads.back() = key.getDim(2) - shape[3];
  return op.finish(op.pad(bias, pads, 0));
}

/// Sets the masks of \p scoring: the keys outside of \p window around each
/// query, and those behind the rows' lengths, are left out.
static void addMasks(OpContext &op, const Placement &place,
                     const KeyWindow &window, ElemKind kind, Scoring &scoring) {
  bool hasWindow = window.left >= 0 && window.left < place.total - 1;
  // A single query is the last one, which attends to all keys.
  bool isCausal = window.right == 0 && place.newTokens > 1;
  scoring.isCausal = isCausal && !place.first;
  if (!place.lengths && !hasWindow)
    return;
  NodeValue key = op.iota(ElemKind::Int32, 4, 3, place.total);
  NodeValue query = op.iota(ElemKind::Int32, 4, 2, place.newTokens);
  if (place.first)
    query = op.add(query, place.first);
  else if (place.past != 0)
    query = op.add(query, getPast(op, place));
  NodeValue isSeen;
  if (place.lengths)
    isSeen = op.less(key, place.lengths);
  auto limit = [&](const KeyWindow &part) {
    NodeValue isNear = findNearKeys(op, key, query, part);
    isSeen = isSeen ? op.logicalAnd(isSeen, isNear) : isNear;
  };
  if (isCausal && place.first)
    limit({.right = 0});
  if (hasWindow)
    limit({.left = window.left});
  scoring.mask = makeAdditive(op, isSeen, kind);
}

/// Returns what makes the attention weights of a query sum to less than 1: the
/// score in input 11 of each head's further key, [1, heads, 1, 1]; without it 0
/// if attribute `smooth_softmax` is 1, and else null.
static llvm::Expected<NodeValue> readSink(OpContext &op, NodeValue queries) {
  int64_t isSmooth = op.getInt("smooth_softmax", -1);
  if (isSmooth < -1 || isSmooth > 1)
    return makeError("attribute 'smooth_softmax' is {0}; accepted: -1, 0, 1",
                     isSmooth);
  NodeValue sink = op.input(sinkInput);
  int64_t numHeads = queries.getShape()[1];
  ElemKind kind = queries.getElemKind();
  if (!sink)
    return isSmooth == 1 ? op.finish(op.splat(kind, {1, numHeads, 1, 1}, 0))
                         : sink;
  if (sink.getType() != Type(kind, {numHeads}))
    return op.refuseInput(11, Type(kind, {numHeads}).str());
  return op.finish(op.reshape(sink, {1, numHeads, 1, 1}));
}

static llvm::Expected<Scoring> readScoring(OpContext &op, const Heads &heads,
                                           const Placement &place) {
  Scoring scoring;
  int64_t size = heads.query.getShape()[3];
  scoring.scale = op.getFloat("scale", 0);
  if (scoring.scale == 0)
    scoring.scale = 1 / std::sqrt(double(std::max<int64_t>(size, 1)));
  scoring.softcap = op.getFloat("softcap", 0);
  GLOWISH_ASSIGN_OR_RETURN(scoring.sink, readSink(op, heads.query));
  GLOWISH_ASSIGN_OR_RETURN(KeyWindow window, readWindow(op));
  addMasks(op, place, window, heads.query.getElemKind(), scoring);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue bias, readBias(op, heads));
  if (bias)
    scoring.mask = scoring.mask ? op.add(scoring.mask, bias) : bias;
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return scoring;
}

/// Returns the attention of \p heads, whose keys and values groups of queries
/// share, as [batch, query heads, length, size].
static llvm::Expected<NodeValue> attendInGroups(OpContext &op, Heads heads,
                                                Scoring scoring) {
  Dims query(heads.query.getShape());
  int64_t numKey = heads.key.getShape()[1], share = query[1] / numKey;
  if (query[2] != 1 || share == 1) {
    GLOWISH_ASSIGN_OR_RETURN(heads.key, repeatHeads(op, heads.key, query[1]));
    GLOWISH_ASSIGN_OR_RETURN(heads.value,
                             repeatHeads(op, heads.value, query[1]));
    return attend(op, heads, scoring);
  }
  // The single queries of a group are the rows of a matrix: keys and values
  // need not be repeated.
  heads.query = op.reshape(heads.query, {query[0], numKey, share, query[3]});
  if (scoring.mask && scoring.mask.getShape().size() == 4) {
    DimsRef mask = scoring.mask.getShape();
    if (mask[1] != 1)
      scoring.mask =
          op.reshape(scoring.mask, {mask[0], numKey, share, mask[3]});
  }
  scoring.sink = op.reshape(scoring.sink, {1, numKey, share, 1});
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, attend(op, heads, scoring));
  return op.finish(op.reshape(result, query));
}

/// Rotates the new queries and keys of \p heads if the node has angles.
static llvm::Error rotate(OpContext &op, Heads &heads, const Placement &place) {
  bool isInterleaved = op.getInt("rotary_interleaved", 0) != 0;
  if (!op.getInt("do_rotary", 0)) {
    for (unsigned index : {cosineInput, sineInput, positionInput})
      op.ignoreInput(index);
    return llvm::Error::success();
  }
  GLOWISH_ASSIGN_OR_RETURN(
      Angles angles, readAngles(op, place, heads.query.getShape().back()));
  for (NodeValue *rotated : {&heads.query, &heads.key})
    *rotated =
        rotateHeads(op, *rotated, angles.cosines, angles.sines, isInterleaved);
  return op.takeError();
}

static llvm::Error importGroupQueryAttention(OpContext &op) {
  GLOWISH_RETURN_IF_ERROR(checkAttributes(op));
  GLOWISH_ASSIGN_OR_RETURN(Heads heads, readNewHeads(op));
  GLOWISH_ASSIGN_OR_RETURN(Placement place, readPlacement(op, heads));
  GLOWISH_RETURN_IF_ERROR(rotate(op, heads, place));
  heads.past = place.past;
  heads.key = append(op, pastKeyInput, heads.key, place);
  heads.value = append(op, pastValueInput, heads.value, place);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  NodeValue presentKey = heads.key, presentValue = heads.value;
  GLOWISH_ASSIGN_OR_RETURN(Scoring scoring, readScoring(op, heads, place));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result,
                           attendInGroups(op, heads, scoring));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, joinHeads(op, result)));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(1, presentKey));
  return op.setOutput(2, presentValue);
}

static OnnxOperator
    groupQueryAttentionOp("GroupQueryAttention", 1,
                          withExtents<importGroupQueryAttention>,
                          microsoftDomain);
static OnnxOperatorNotes groupQueryAttentionNotes(
    "GroupQueryAttention",
    {.limit = "no `qk_output`, `sliding_window_cache` and quantized keys and "
              "values; where lengths are known only when the model runs, a "
              "batch of 1, and all tokens count, whatever `seqlens_k` says"},
    microsoftDomain);
