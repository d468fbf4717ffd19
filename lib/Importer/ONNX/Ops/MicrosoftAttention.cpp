//===- MicrosoftAttention.cpp - Attention of com.microsoft ----------------===//
//
// Attention and QAttention project their input to queries, keys and values;
// MultiHeadAttention takes these as inputs. All become an Attention node over
// heads [batch, heads, length, depth]. Source: ONNX Runtime's
// ContribOperators.md.
//
//===----------------------------------------------------------------------===//

#include "Common/AttentionHeads.h"
#include "Common/EqualExtents.h"
#include "ONNX/Extents.h"
#include "ONNX/Quantization.h"
#include "glowish/Importer/OperatorNotes.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

namespace {

/// The index of an input that the operator does not have.
constexpr unsigned noInput = ~0u;

} // namespace

/// Splits \p x [batch, length, heads * depth] into heads.
static llvm::Expected<NodeValue> makeHeads(OpContext &op, NodeValue x,
                                           int64_t heads) {
  return splitHeads(op, x, heads, "num_heads");
}

/// Returns columns \p first ... \p first + \p count - 1 of the last dimension.
static llvm::Expected<NodeValue> takeColumns(OpContext &op, NodeValue x,
                                             int64_t first, int64_t count) {
  DimsRef shape = x.getShape();
  std::vector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  std::vector<int64_t> sizes(shape.begin(), shape.end());
  starts.back() = first;
  sizes.back() = count;
  return op.create<SliceNode>(x, starts, sizes, steps);
}

//===- Masks --------------------------------------------------------------===//

/// Whether each key is within its row, [batch, 1, 1, keys]: before the row's
/// end, the first \p batch elements of \p limits. Of 2 * batch elements, the
/// others are where the rows start. Of 3 * batch + 2, they are where the rows
/// of queries and keys lie in all tokens, which follows from the shapes.
static llvm::Expected<NodeValue> maskByLimits(OpContext &op, NodeValue limits,
                                              int64_t batch, int64_t keys) {
  auto take = [&](int64_t part) {
    return op.reshape(op.slice(limits, 0, part * batch, batch),
                      {batch, 1, 1, 1});
  };
  NodeValue key = op.iota(limits.getElemKind(), 4, 3, keys);
  NodeValue isAttended = op.less(key, take(0));
  if (limits.getShape()[0] == 2 * batch)
    isAttended = op.logicalAnd(isAttended, op.greaterOrEqual(key, take(1)));
  return op.finish(isAttended);
}

/// Reads input \p index, a mask of keys as integers other than 0, as bools that
/// broadcast to the scores. Its shape is [batch, keys], [batch, queries, keys]
/// or [batch, 1, queries, keys], or it has the limits of rows.
static llvm::Expected<NodeValue> readKeyMask(OpContext &op, unsigned index,
                                             const Heads &heads) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue mask, op.getInput(index));
  const Type &query = heads.query.getType();
  int64_t batch = query.getDim(0), queries = query.getDim(2);
  int64_t keys = heads.key.getShape()[2];
  DimsRef shape = mask.getShape();
  if (!isIntegerKind(mask.getElemKind()) &&
      mask.getElemKind() != ElemKind::Bool)
    return op.refuseInput(index, "integers");
  // Parts lie behind the bound of a batch that a run decides.
  bool hasParts =
      shape == DimsRef({2 * batch}) || shape == DimsRef({3 * batch + 2});
  if (shape == DimsRef({batch}) || (hasParts && !query.getExtent(0)))
    return maskByLimits(op, mask, batch, keys);
  Dims broadcast;
  if (shape == DimsRef({batch, keys}))
    broadcast = {batch, 1, 1, keys};
  else if (shape == DimsRef({batch, queries, keys}) ||
           shape == DimsRef({batch, 1, queries, keys}))
    broadcast = {batch, 1, queries, keys};
  else
    return op.refuseInput(
        index,
        llvm::formatv("[{0}], [{3}], [{4}], [{0}, {1}] or [{0}, {2}, {1}]",
                      batch, keys, queries, 2 * batch, 3 * batch + 2));
  GLOWISH_ASSIGN_OR_RETURN(mask, op.reshape(mask, broadcast, ".mask"));
  return op.create<CastNode>(mask, ElemKind::Bool);
}

/// Returns the additive mask for the scores of \p heads: the mask in input
/// \p maskIndex and the bias in input \p biasIndex, or null.
static llvm::Expected<NodeValue> readMask(OpContext &op, unsigned maskIndex,
                                          unsigned biasIndex,
                                          const Heads &heads) {
  ElemKind kind = heads.query.getElemKind();
  NodeValue bias = op.input(biasIndex);
  if (!op.hasInput(maskIndex))
    return bias;
  GLOWISH_ASSIGN_OR_RETURN(NodeValue isAttended,
                           readKeyMask(op, maskIndex, heads));
  double filter = op.getFloat("mask_filter_value", -10000);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue mask,
                           op.create<SelectNode>(isAttended, op.scalar(kind, 0),
                                                 op.scalar(kind, filter)));
  if (!bias)
    return mask;
  return op.create<AddNode>(mask, bias);
}

//===- Attention ----------------------------------------------------------===//

/// Sets output 0 to the attention of \p heads, and output 3, where the operator
/// has it, to the scores before the softmax.
static llvm::Error attendTo(OpContext &op, const Heads &heads,
                            unsigned maskIndex, unsigned biasIndex) {
  const Type &query = heads.query.getType();
  Scoring scoring;
  GLOWISH_ASSIGN_OR_RETURN(scoring.mask,
                           readMask(op, maskIndex, biasIndex, heads));
  scoring.scale = op.getFloat("scale", 0);
  if (scoring.scale == 0)
    scoring.scale =
        1 / std::sqrt(double(std::max<int64_t>(query.getDim(3), 1)));
  int64_t causal = op.getInt("unidirectional", 0);
  // A single query attends to all keys, as in ONNX Runtime.
  scoring.isCausal = causal && query.getDim(2) > 1;
  std::optional<Extent> fresh =
      subtract(heads.key.getType().getLength(2), heads.past);
  if (scoring.isCausal && !(fresh && areEqual(op, query.getLength(2), *fresh)))
    return makeError("attribute 'unidirectional' is {0}, and {1} queries come "
                     "with {2} keys; accepted: as many",
                     causal, query.getLength(2).str(),
                     fresh ? fresh->str() : "other");
  if (!op.wantsOutput(3)) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue result, attend(op, heads, scoring));
    return op.setOutput(0, joinHeads(op, result));
  }
  if (causal)
    return makeError("output 3, the scores, is used, and attribute "
                     "'unidirectional' is {0}; accepted: 0",
                     causal);
  GLOWISH_ASSIGN_OR_RETURN(auto steps, composeScores(op, heads, scoring));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(3, steps[2]));
  return op.setOutput(0, joinHeads(op, op.matMul(steps[3], heads.value)));
}

namespace {

/// Keys and values with their past, [batch, heads, length, depth].
struct Present {
  NodeValue key, value;
};

} // namespace

/// Reads how many elements of a buffer of \p length are the past, input
/// \p index. \p fresh elements follow.
static llvm::Expected<int64_t> readPastLength(OpContext &op, unsigned index,
                                              int64_t length, int64_t fresh) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue past, op.getInput(index));
  if (!past.getNodeAs<Constant>())
    return makeError("input {0}, the length of the past in a buffer, is "
                     "computed when the model runs; accepted: a constant",
                     index);
  GLOWISH_ASSIGN_OR_RETURN(int64_t used, op.getConstantInt(index));
  if (used < 0 || used > length - fresh)
    return makeError("input {0}, the length of the past, is {1}; accepted: 0 "
                     "to {2}, as {3} tokens follow in a buffer of {4}",
                     index, used, length - fresh, fresh, length);
  return used;
}

/// Puts the keys and values of \p heads behind \p past, which may be null, and
/// returns the operator's outputs. Where input \p lengthIndex is present, the
/// past is in a buffer, of which the outputs keep the rest.
static llvm::Expected<Present>
appendToPast(OpContext &op, Heads &heads, Present past, unsigned lengthIndex) {
  bool isBuffer = op.hasInput(lengthIndex);
  if (isBuffer && !past.key)
    return makeError("input {0} is the length of the past; accepted: none, as "
                     "there is no past",
                     lengthIndex);
  if (!past.key)
    return Present{heads.key, heads.value};
  for (NodeValue part : {past.key, past.value})
    if (part.getShape().size() != 4)
      return makeError("the past is {0}; accepted: [batch, heads, length, "
                       "depth]",
                       part.getType().str());
  int64_t length = past.key.getShape()[2], used = 0;
  heads.past = past.key.getType().getLength(2);
  if (isBuffer) {
    if (past.key.getType().getExtent(2) || heads.key.getType().getExtent(2))
      return makeError("a buffer of the past is {0}, and new keys are {1}; "
                       "accepted: lengths that no run decides",
                       past.key.getType().str(), heads.key.getType().str());
    if (past.value.getShape()[2] != length)
      return makeError("buffers of the past are {0} and {1}; accepted: one "
                       "length",
                       past.key.getType().str(), past.value.getType().str());
    GLOWISH_ASSIGN_OR_RETURN(
        used, readPastLength(op, lengthIndex, length, heads.key.getShape()[2]));
    heads.past = used;
  }
  auto append = [&](NodeValue old, NodeValue &fresh) {
    int64_t end = used + fresh.getShape()[2];
    if (!isBuffer)
      return fresh = op.concat({old, fresh}, 2);
    fresh = op.concat({op.slice(old, 2, 0, used), fresh}, 2);
    return op.concat({fresh, op.slice(old, 2, end, length - end)}, 2);
  };
  Present present;
  present.key = append(past.key, heads.key);
  present.value = append(past.value, heads.value);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return present;
}

/// Returns part \p number of \p past [2, batch, heads, length, depth].
static llvm::Expected<NodeValue> takePast(OpContext &op, NodeValue past,
                                          int64_t number) {
  DimsRef shape = past.getShape();
  if (shape.size() != 5 || shape[0] != 2)
    return makeError("the past is {0}; accepted: [2, batch, heads, length, "
                     "depth]",
                     past.getType().str());
  return op.finish(
      op.reshape(op.slice(past, 0, number, 1), shape.drop_front()));
}

/// Checks that inputs 0 and 1 are tokens and a matrix.
static llvm::Error checkProjection(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue weights, op.getInput(1));
  if (x.getShape().size() != 3 || weights.getShape().size() != 2)
    return makeError("inputs 0 and 1 are {0} and {1}; accepted: [batch, "
                     "length, width] and [width, 3 * width]",
                     x.getType().str(), weights.getType().str());
  return llvm::Error::success();
}

/// Projects input 0 by the concatenated weights of queries, keys and values.
static llvm::Expected<NodeValue> project(OpContext &op) {
  GLOWISH_RETURN_IF_ERROR(checkProjection(op));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue weights, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(x, op.create<MatMulNode>(x, weights));
  if (NodeValue bias = op.input(2))
    return op.create<AddNode>(x, bias);
  return x;
}

/// Splits \p x [batch, length, width], projections to queries, keys and values
/// of \p sizes columns.
static llvm::Expected<Heads> splitProjection(OpContext &op, NodeValue x,
                                             llvm::ArrayRef<int64_t> sizes) {
  int64_t numHeads = op.getInt("num_heads", 0);
  int64_t width = x.getShape()[2];
  if (sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] < 0 ||
      sizes[2] < 0 || sizes[2] > width || sizes[0] != (width - sizes[2]) / 2)
    return makeError("queries, keys and values don't fit {0}",
                     x.getType().str());
  Heads heads;
  int64_t first = 0;
  for (auto [part, size] :
       {std::pair(&heads.query, sizes[0]), std::pair(&heads.key, sizes[1]),
        std::pair(&heads.value, sizes[2])}) {
    GLOWISH_ASSIGN_OR_RETURN(*part, takeColumns(op, x, first, size));
    GLOWISH_ASSIGN_OR_RETURN(*part, makeHeads(op, *part, numHeads));
    first += size;
  }
  return heads;
}

/// Returns \p width in thirds.
static std::vector<int64_t> splitEvenly(int64_t width) {
  return {width / 3, width / 3, width - width / 3 * 2};
}

/// Checks the attributes of Attention and QAttention that need more than
/// projections, masks and a past. Input \p lengthIndex is the length of the
/// past in a buffer.
static llvm::Error checkAttributes(OpContext &op, unsigned lengthIndex) {
  int64_t isRotary = op.getInt("do_rotary", 0);
  if (isRotary)
    return makeError("attribute 'do_rotary' is {0}; accepted: 0", isRotary);
  // Of a rotary embedding.
  op.ignoreAttrs({"rotary_embedding_dim"});
  int64_t isShared = op.getInt("past_present_share_buffer", 0);
  if (lengthIndex == noInput && isShared)
    return makeError("attribute 'past_present_share_buffer' is {0}; accepted: "
                     "0",
                     isShared);
  if ((isShared != 0) != op.hasInput(lengthIndex))
    return makeError("attribute 'past_present_share_buffer' is {0}, and input "
                     "{1}, the length of the past, is {2}; accepted: 1 with "
                     "that input, and 0 without it",
                     isShared, lengthIndex,
                     op.hasInput(lengthIndex) ? "present" : "absent");
  return llvm::Error::success();
}

/// Sets output 0 to the attention of \p heads and of the past in input
/// \p pastIndex, and output 1 to keys and values with their past. Input
/// \p lengthIndex: see appendToPast().
static llvm::Error attendWithPast(OpContext &op, Heads heads,
                                  unsigned pastIndex, unsigned maskIndex,
                                  unsigned biasIndex, unsigned lengthIndex) {
  Present past;
  if (NodeValue both = op.input(pastIndex)) {
    GLOWISH_ASSIGN_OR_RETURN(past.key, takePast(op, both, 0));
    GLOWISH_ASSIGN_OR_RETURN(past.value, takePast(op, both, 1));
  }
  GLOWISH_ASSIGN_OR_RETURN(Present present,
                           appendToPast(op, heads, past, lengthIndex));
  GLOWISH_RETURN_IF_ERROR(attendTo(op, heads, maskIndex, biasIndex));
  if (!op.wantsOutput(1))
    return llvm::Error::success();
  return op.setOutput(1, op.concat({op.unsqueeze(present.key, 0),
                                    op.unsqueeze(present.value, 0)},
                                   0));
}

static llvm::Error importAttention(OpContext &op) {
  constexpr unsigned lengthIndex = 6;
  GLOWISH_RETURN_IF_ERROR(checkAttributes(op, lengthIndex));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, project(op));
  std::vector<int64_t> sizes =
      op.getInts("qkv_hidden_sizes", splitEvenly(x.getShape()[2]));
  GLOWISH_ASSIGN_OR_RETURN(Heads heads, splitProjection(op, x, sizes));
  return attendWithPast(op, heads, /*pastIndex=*/4, /*maskIndex=*/3,
                        /*biasIndex=*/5, lengthIndex);
}

/// The projection is one of quantized tokens and weights; all else is float.
static llvm::Error importQAttention(OpContext &op) {
  GLOWISH_RETURN_IF_ERROR(checkAttributes(op, noInput));
  GLOWISH_RETURN_IF_ERROR(checkProjection(op));
  GLOWISH_ASSIGN_OR_RETURN(Quantized tokens, readQuantized(op, 0, 3, 6));
  GLOWISH_ASSIGN_OR_RETURN(Quantized weights, readColumns(op, 1, 4, 7));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue bias, op.getInput(2));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x,
                           makeFloatMatMul(op, tokens, weights, bias));
  GLOWISH_ASSIGN_OR_RETURN(
      Heads heads, splitProjection(op, x, splitEvenly(x.getShape()[2])));
  return attendWithPast(op, heads, /*pastIndex=*/8, /*maskIndex=*/5, noInput,
                        noInput);
}

/// Returns part \p number of input \p index, which has \p count parts of each
/// head, [batch, length, heads, count, size], as [batch, length, heads * size].
static llvm::Expected<NodeValue> takePacked(OpContext &op, unsigned index,
                                            int64_t numHeads, int64_t count,
                                            int64_t number) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue packed, op.getInput(index));
  DimsRef shape = packed.getShape();
  if (shape.size() != 5 || shape[2] != numHeads || shape[3] != count)
    return op.refuseInput(
        index,
        llvm::formatv(
            "[batch, length, {0}, {1}, size], as attribute 'num_heads' is {0}",
            numHeads, count));
  return op.finish(op.reshape(op.slice(packed, 3, number, 1),
                              {shape[0], shape[1], numHeads * shape[4]}));
}

/// Returns queries, keys and values: inputs 0 to 2, or, where the last of these
/// are absent, parts of the input in front of them.
static llvm::Expected<Heads> readProjections(OpContext &op, int64_t numHeads) {
  Heads parts;
  NodeValue *values[] = {&parts.query, &parts.key, &parts.value};
  unsigned last = !op.hasInput(1) ? 0 : !op.hasInput(2) ? 1 : 2;
  for (unsigned i = 0; i < 3; ++i) {
    bool isPacked = last < 2 && i >= last;
    GLOWISH_ASSIGN_OR_RETURN(
        *values[i], isPacked
                        ? takePacked(op, last, numHeads, 3 - last, i - last)
                        : op.getInput(i));
  }
  return parts;
}

/// Returns \p x, the part \p index of queries, keys and values, as heads, with
/// the columns of \p bias from \p first on added. Keys and values may be in
/// heads already.
static llvm::Expected<NodeValue> splitPart(OpContext &op, NodeValue x,
                                           unsigned index, int64_t numHeads,
                                           NodeValue bias, int64_t &first) {
  if (x.getShape().size() == 4)
    return x;
  if (x.getShape().size() != 3)
    return op.refuseInput(index, "[batch, length, width]");
  if (bias) {
    int64_t width = x.getShape()[2];
    GLOWISH_ASSIGN_OR_RETURN(NodeValue own,
                             takeColumns(op, bias, first, width));
    GLOWISH_ASSIGN_OR_RETURN(x, op.create<AddNode>(x, own));
    first += width;
  }
  return makeHeads(op, x, numHeads);
}

/// Reads inputs 0 to 2 with the bias in input 3.
static llvm::Expected<Heads> readHeads(OpContext &op) {
  int64_t numHeads = op.getInt("num_heads", 0);
  NodeValue bias = op.input(3);
  int64_t first = 0;
  GLOWISH_ASSIGN_OR_RETURN(Heads heads, readProjections(op, numHeads));
  for (auto [i, part] :
       llvm::enumerate(std::array{&heads.query, &heads.key, &heads.value})) {
    GLOWISH_ASSIGN_OR_RETURN(*part,
                             splitPart(op, *part, i, numHeads, bias, first));
  }
  if (bias && bias.getType().getNumElements() != first)
    return makeError("input 3, the bias, is {0}; accepted: [{1}], one element "
                     "for each column of inputs 0 to 2 that are not in heads",
                     bias.getType().str(), first);
  return heads;
}

static llvm::Error importMultiHeadAttention(OpContext &op) {
  constexpr unsigned lengthIndex = 8, beamsIndex = 9;
  if (op.hasInput(6) != op.hasInput(7))
    return makeError("inputs 6 and 7 are past keys and values; accepted: both "
                     "or none");
  if (op.hasInput(beamsIndex))
    return makeError("input {0} says which beam a token comes from; accepted: "
                     "none",
                     beamsIndex);
  GLOWISH_ASSIGN_OR_RETURN(Heads heads, readHeads(op));
  Present past{op.input(6), op.input(7)};
  GLOWISH_ASSIGN_OR_RETURN(Present present,
                           appendToPast(op, heads, past, lengthIndex));
  GLOWISH_RETURN_IF_ERROR(
      attendTo(op, heads, /*maskIndex=*/4, /*biasIndex=*/5));
  if (op.wantsOutput(1))
    GLOWISH_RETURN_IF_ERROR(op.setOutput(1, present.key));
  if (op.wantsOutput(2))
    return op.setOutput(2, present.value);
  return llvm::Error::success();
}

static OnnxOperator attentionOp("Attention", 1, withExtents<importAttention>,
                                microsoftDomain);
static OnnxOperator qAttentionOp("QAttention", 1, withExtents<importQAttention>,
                                 microsoftDomain);
static OnnxOperator multiHeadAttentionOp("MultiHeadAttention", 1,
                                         withExtents<importMultiHeadAttention>,
                                         microsoftDomain);
static OnnxOperatorNotes
    multiHeadAttentionNotes("MultiHeadAttention",
                            {.limit = "no `cache_indirection`; "
                                      "`past_sequence_length` is a constant"},
                            microsoftDomain);
static OnnxOperatorNotes
    microsoftAttentionNotes("Attention",
                            {.limit = "no `do_rotary`; `past_sequence_length` "
                                      "is a constant"},
                            microsoftDomain);
