//===- Attention.cpp - Attention and rotary embeddings --------------------===//

#include "Common/AttentionHeads.h"
#include "Common/EqualExtents.h"
#include "ONNX/Extents.h"
#include "ONNX/ModelFile.h"
#include "glowish/Importer/OperatorNotes.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

//===- Attention ----------------------------------------------------------===//

/// Whether input 0 has heads side by side: [batch, length, heads * size].
static bool isFlat(const OpContext &op) {
  return op.hasInput(0) && op.peekInput(0).getShape().size() == 3;
}

/// Reads input \p index, queries, keys or values, as heads, of which attribute
/// \p name states the number if they lie side by side.
static llvm::Expected<NodeValue> readTokens(OpContext &op, unsigned index,
                                            llvm::StringRef name) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue tokens, op.getInput(index));
  int64_t numHeads = op.getInt(name, 0);
  GLOWISH_RETURN_IF_ERROR(checkTokenExtents(tokens, index, isFlat(op) ? 1 : 2));
  return isFlat(op) ? splitHeads(op, tokens, numHeads, name) : tokens;
}

/// Reads input \p index, past keys or values.
static llvm::Expected<NodeValue> readPast(OpContext &op, unsigned index) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue past, op.getInput(index));
  if (past.getShape().size() != 4)
    return op.refuseInput(index, "rank 4");
  GLOWISH_RETURN_IF_ERROR(checkTokenExtents(past, index, 2));
  return past;
}

/// Puts the past in inputs 4 and 5 in front of the keys and values of \p heads.
static llvm::Error prependPast(OpContext &op, Heads &heads) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue pastKey, readPast(op, 4));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue pastValue, readPast(op, 5));
  NodeValue values[] = {heads.query, heads.key, heads.value, pastKey,
                        pastValue};
  GLOWISH_RETURN_IF_ERROR(alignBroadcast(op, values, /*numInner=*/3));
  heads.past = pastKey.getType().getLength(2);
  heads.query = values[0];
  heads.key = op.concat({values[3], values[1]}, 2);
  heads.value = op.concat({values[4], values[2]}, 2);
  return op.takeError();
}

static llvm::Expected<Heads> readHeads(OpContext &op) {
  std::array<NodeValue, 3> inputs;
  for (unsigned i = 0; i < 3; ++i) {
    GLOWISH_ASSIGN_OR_RETURN(inputs[i], op.getInput(i));
  }
  unsigned rank = inputs[0].getShape().size();
  if ((rank != 3 && rank != 4) || inputs[1].getShape().size() != rank ||
      inputs[2].getShape().size() != rank)
    return makeError("inputs are {0}, {1}, {2}; accepted: all of rank 3 or 4",
                     inputs[0].getType().str(), inputs[1].getType().str(),
                     inputs[2].getType().str());
  Heads heads;
  GLOWISH_ASSIGN_OR_RETURN(heads.query, readTokens(op, 0, "q_num_heads"));
  GLOWISH_ASSIGN_OR_RETURN(heads.key, readTokens(op, 1, "kv_num_heads"));
  GLOWISH_ASSIGN_OR_RETURN(heads.value, readTokens(op, 2, "kv_num_heads"));
  if (op.hasInput(4) != op.hasInput(5))
    return makeError("inputs 4 and 5 are past keys and values; accepted: both "
                     "or none");
  if (op.hasInput(4))
    GLOWISH_RETURN_IF_ERROR(prependPast(op, heads));
  NodeValue values[] = {heads.query, heads.key, heads.value};
  GLOWISH_RETURN_IF_ERROR(alignBroadcast(op, values, /*numInner=*/3));
  GLOWISH_RETURN_IF_ERROR(align(op, values[1], 2, values[2], 2));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return Heads{values[0], values[1], values[2], heads.past};
}

/// Gives dimension \p dim of \p mask, unless it broadcasts, the bound that
/// dimension 2 of \p heads has: \p filler stands beyond its own extent. Keeps
/// it if both have the same extent.
static void fitMask(OpContext &op, NodeValue &mask, unsigned dim,
                    NodeValue heads, double filler) {
  if (op.hasFailed() || mask.getShape()[dim] == 1)
    return;
  int64_t size = mask.getShape()[dim], bound = heads.getShape()[2];
  if (size == bound &&
      areEqual(op, mask.getType().getLength(dim), heads.getType().getLength(2)))
    return;
  mask = op.fillOutside(mask, {dim}, filler);
  mask = op.crop(mask, dim, std::min(size, bound), std::nullopt);
  std::vector<int64_t> pads(2 * mask.getShape().size(), 0);
  pads[mask.getShape().size() + dim] = std::max<int64_t>(bound - size, 0);
  mask = op.pad(mask, pads, filler);
}

/// Returns an additive mask for the scores [..., queries, keys] of \p heads, or
/// null: bools become 0 and -infinity, and keys beyond the mask's extent get
/// -infinity.
static llvm::Expected<NodeValue> readMask(OpContext &op, Heads &heads) {
  NodeValue mask = op.input(3);
  if (!mask)
    return mask;
  constexpr double inf = std::numeric_limits<double>::infinity();
  NodeValue values[] = {makeAdditive(op, mask, heads.query.getElemKind()),
                        heads.query, heads.key, heads.value};
  GLOWISH_RETURN_IF_ERROR(alignBroadcast(op, values, /*numInner=*/2));
  mask = values[0];
  heads = {values[1], values[2], values[3], heads.past};
  unsigned rank = mask.getShape().size();
  auto isOpen = [&](NodeValue tokens, unsigned fromEnd) {
    return mask.getType().getExtent(rank - fromEnd) ||
           tokens.getType().getExtent(2);
  };
  // Nodes refuse other masks than those of all keys, or too many of them.
  if (rank >= 2 && isOpen(heads.query, 2))
    fitMask(op, mask, rank - 2, heads.query, 0);
  if (rank >= 1 && (isOpen(heads.key, 1) ||
                    mask.getShape().back() < heads.key.getShape()[2]))
    fitMask(op, mask, rank - 1, heads.key, -inf);
  return op.finish(mask);
}

/// Returns the keys that a query attends to, by the window of Attention-25 and
/// the attribute `is_causal`.
static llvm::Expected<KeyWindow> readKeyWindow(OpContext &op) {
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

/// Reads input 6, the number of keys of each sample that are not padding, as
/// [batch, 1, 1, 1]; null without it.
static llvm::Expected<NodeValue> readLengths(OpContext &op, int64_t batch) {
  if (!op.hasInput(6) || op.getOpset() < 24)
    return NodeValue();
  GLOWISH_ASSIGN_OR_RETURN(NodeValue lengths, op.getInput(6));
  if (lengths.getType().withoutExtents() != Type(ElemKind::Int64, {batch}))
    return op.refuseInput(
        6, llvm::formatv("int64<{0}>, one element per sample", batch));
  return op.finish(op.reshape(lengths, {batch, 1, 1, 1}));
}

/// Adds a mask of the padding and of the keys outside of \p window to that of
/// \p scoring. Without a past, the last query is that of the last key which is
/// not padding.
static llvm::Error maskKeys(OpContext &op, const Heads &heads,
                            const KeyWindow &window, Scoring &scoring) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue lengths,
                           readLengths(op, heads.query.getShape()[0]));
  // The node has a causal mask of its own.
  scoring.isCausal = !lengths && window.left < 0 && window.right == 0;
  if (scoring.isCausal || (!lengths && !window.isLimited()))
    return llvm::Error::success();
  int64_t queries = heads.query.getShape()[2], keys = heads.key.getShape()[2];
  NodeValue key = op.iota(ElemKind::Int64, 4, 3, keys), seen;
  if (window.isLimited()) {
    NodeValue query = op.iota(ElemKind::Int64, 4, 2, queries);
    query = lengths && !op.hasInput(4)
                ? op.add(query, op.sub(lengths, op.getLength(heads.query, 2)))
                : op.add(query, op.compute(heads.past));
    seen = findNearKeys(op, key, query, window);
  }
  if (lengths) {
    NodeValue isKey = op.less(key, lengths);
    seen = seen ? op.logicalAnd(isKey, seen) : isKey;
  }
  NodeValue mask = makeAdditive(op, seen, heads.query.getElemKind());
  scoring.mask = scoring.mask ? op.add(scoring.mask, mask) : mask;
  return op.finish(scoring.mask).takeError();
}

static llvm::Expected<Scoring> readScoring(OpContext &op, Heads &heads) {
  Scoring scoring;
  double size = double(heads.query.getShape()[3]);
  scoring.scale = op.getFloat("scale", 1 / std::sqrt(size));
  scoring.softcap = op.getFloat("softcap", 0);
  GLOWISH_ASSIGN_OR_RETURN(KeyWindow window, readKeyWindow(op));
  GLOWISH_ASSIGN_OR_RETURN(scoring.mask, readMask(op, heads));
  GLOWISH_RETURN_IF_ERROR(maskKeys(op, heads, window, scoring));
  return scoring;
}

/// Sets output 3 to the scores selected by `qk_matmul_output_mode`: 0 scaled
/// matmul, 1 after the softcap, 2 after the masks, 3 after the softmax. Returns
/// the attention.
static llvm::Expected<NodeValue>
attendWithScores(OpContext &op, const Heads &heads, const Scoring &scoring) {
  int64_t mode = op.getInt("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    return makeError("attribute 'qk_matmul_output_mode' is {0}; accepted: 0 to "
                     "3",
                     mode);
  GLOWISH_ASSIGN_OR_RETURN(auto steps, composeScores(op, heads, scoring));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(3, steps[mode]));
  return op.finish(op.matMul(steps[3], heads.value));
}

static llvm::Error importAttention(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(Heads heads, readHeads(op));
  // Half-precision sums are accumulated in float.
  op.ignoreAttrs({"softmax_precision", "qk_matmul_output_mode"});
  NodeValue presentKey = heads.key, presentValue = heads.value;
  int64_t numQuery = heads.query.getShape()[1];
  GLOWISH_ASSIGN_OR_RETURN(heads.key, repeatHeads(op, heads.key, numQuery));
  GLOWISH_ASSIGN_OR_RETURN(heads.value, repeatHeads(op, heads.value, numQuery));
  GLOWISH_ASSIGN_OR_RETURN(Scoring scoring, readScoring(op, heads));
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue result, op.wantsOutput(3) ? attendWithScores(op, heads, scoring)
                                          : attend(op, heads, scoring));
  if (isFlat(op))
    result = joinHeads(op, result);
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, result));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(1, presentKey));
  return op.setOutput(2, presentValue);
}

//===- Linear attention ---------------------------------------------------===//

namespace {
/// The operands of one time step, or of all: [batch, heads, length, size]; null
/// if the update rule does not use them.
struct LinearOperands {
  NodeValue query, key, value, decay, beta;
};
} // namespace

/// Reads input \p index [batch, length, heads * size] as float heads.
static llvm::Expected<NodeValue> readLinearInput(OpContext &op, unsigned index,
                                                 int64_t heads) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(index));
  DimsRef shape = value.getShape();
  if (shape.size() != 3 || heads < 1 || shape[2] % heads)
    return op.refuseInput(
        index,
        llvm::formatv(
            "[batch, length, size] with a multiple of {0} as the size", heads));
  if (value.getType().getExtent(1))
    return makeError("input {0} is {1}, and each of its steps is unrolled; "
                     "accepted: a length that no run decides",
                     index, value.getType().str());
  return splitHeads(op, op.cast(value, ElemKind::Float), heads, "kv_num_heads");
}

/// Returns \p state [batch, heads, keys, values] after one time step: it
/// decays, and the value is added for the key or (delta rule) replaces the
/// value that the state returns for the key.
static NodeValue advance(OpContext &op, NodeValue state,
                         const LinearOperands &step) {
  if (step.decay)
    state = op.mul(state, op.transposeLast(op.unary<ExpNode>(step.decay)));
  NodeValue written = step.value;
  if (step.beta)
    written = op.mul(step.beta, op.sub(written, op.matMul(step.key, state)));
  return op.add(state, op.mul(op.transposeLast(step.key), written));
}

/// Each time step is unrolled.
static constexpr int64_t maxSteps = 4096;

/// Unrolled, like recurrent operators.
static llvm::Error importLinearAttention(OpContext &op) {
  int64_t numQuery = op.getInt("q_num_heads", 0);
  int64_t numKey = op.getInt("kv_num_heads", 0);
  std::string rule = op.getString("update_rule", "gated_delta");
  double scale = op.getFloat("scale", 0);
  // A hint for the implementation.
  op.ignoreAttrs({"chunk_size"});
  if (rule != "linear" && rule != "gated" && rule != "delta" &&
      rule != "gated_delta")
    return makeError("attribute 'update_rule' is '{0}'; accepted: linear, "
                     "gated, delta, gated_delta",
                     rule);
  LinearOperands all;
  GLOWISH_ASSIGN_OR_RETURN(all.query, readLinearInput(op, 0, numQuery));
  GLOWISH_ASSIGN_OR_RETURN(all.key, readLinearInput(op, 1, numKey));
  GLOWISH_ASSIGN_OR_RETURN(all.value, readLinearInput(op, 2, numKey));
  if (llvm::StringRef(rule).starts_with("gated")) {
    GLOWISH_ASSIGN_OR_RETURN(all.decay, readLinearInput(op, 4, numKey));
  }
  if (llvm::StringRef(rule).ends_with("delta")) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue beta, op.getInput(5));
    bool isShared = !beta.getShape().empty() && beta.getShape().back() == 1;
    GLOWISH_ASSIGN_OR_RETURN(all.beta,
                             readLinearInput(op, 5, isShared ? 1 : numKey));
  }
  DimsRef query = all.query.getShape();
  if (query[2] > maxSteps)
    return makeError("the sequence has {0} steps; accepted: up to {1}",
                     query[2], maxSteps);
  int64_t batch = query[0], length = query[2], size = query[3];
  int64_t values = all.value.getShape()[3];
  GLOWISH_ASSIGN_OR_RETURN(NodeValue first, op.getInput(0));
  ElemKind kind = first.getElemKind(), stateKind = kind;
  Dims stateShape = {batch, numKey, size, values};
  NodeValue state = op.splat(ElemKind::Float, stateShape, 0);
  if (op.hasInput(3)) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue past, op.getInput(3));
    if (past.getShape() != DimsRef(stateShape))
      return op.refuseInput(
          3, llvm::formatv("[{0}, {1}, {2}, {3}], a matrix for each head",
                           batch, numKey, size, values));
    stateKind = past.getElemKind();
    state = op.cast(past, ElemKind::Float);
  }
  if (scale == 0)
    scale = 1 / std::sqrt(double(size));
  std::vector<NodeValue> outputs;
  for (int64_t t = 0; t < length; ++t) {
    auto at = [&](NodeValue value) {
      return value ? op.slice(value, 2, t, 1) : value;
    };
    state =
        advance(op, state,
                {{}, at(all.key), at(all.value), at(all.decay), at(all.beta)});
    if (op.hasFailed())
      break;
    GLOWISH_ASSIGN_OR_RETURN(NodeValue shared,
                             repeatHeads(op, state, numQuery));
    outputs.push_back(op.mul(op.matMul(at(all.query), shared), scale));
  }
  NodeValue result = joinHeads(op, op.concat(outputs, 2));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, op.cast(result, kind)));
  return op.setOutput(1, op.cast(state, stateKind));
}

/// Causal depthwise convolution along the last dimension. The last elements of
/// its input are the state for the next call.
static llvm::Error importCausalConvWithState(OpContext &op, NodeValue input,
                                             NodeValue weight) {
  NodeValue bias = op.input(2), past = op.input(3);
  std::string activation = op.getString("activation", "none");
  DimsRef shape = input.getShape(), kernel = weight.getShape();
  if (shape.size() != 3 || kernel.size() != 3 || kernel[0] != shape[1] ||
      kernel[1] != 1 || kernel[2] < 1)
    return makeError("inputs are {0} and {1}; accepted: [batch, channels, "
                     "length] and [channels, 1, length]",
                     input.getType().str(), weight.getType().str());
  bool isSilu = activation == "silu" || activation == "swish";
  if (!isSilu && activation != "none" && !activation.empty())
    return makeError("attribute 'activation' is '{0}'; accepted: none, silu, "
                     "swish",
                     activation);
  int64_t before = kernel[2] - 1;
  if (!past)
    past = op.splat(input.getElemKind(), {shape[0], shape[1], before}, 0);
  NodeValue padded = before ? op.concat({past, input}, 2) : input;
  NodeValue line = op.transpose(
      op.reshape(padded, {shape[0], shape[1], 1, before + shape[2]}),
      {0, 2, 3, 1});
  NodeValue filter = op.transpose(
      op.reshape(weight, {kernel[0], 1, 1, kernel[2]}), {0, 2, 3, 1});
  if (op.hasFailed())
    return op.setOutput(0, line);
  NodeValue result = op.make<ConvolutionNode>(
      line, filter, bias, std::vector<int64_t>{1, 1},
      std::vector<int64_t>{0, 0, 0, 0}, std::vector<int64_t>{1, 1}, shape[1]);
  if (isSilu)
    result = op.unary<SiluNode>(result);
  result = op.reshape(op.transpose(result, {0, 3, 1, 2}), shape);
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, result));
  if (!input.getType().getExtent(2))
    return op.setOutput(1, op.slice(padded, 2, shape[2], before));
  NodeValue last =
      op.add(op.iota(ElemKind::Int64, 1, 0, before), op.getLength(input, 2));
  return op.setOutput(1, op.gather(padded, last, 2));
}

//===- Rotary embedding ---------------------------------------------------===//

/// Aligns dimensions 0 and 1 of \p value, the batch and the length, unless they
/// broadcast, with 0 and \p lengthDim of \p tokens.
static llvm::Error alignTokens(OpContext &op, NodeValue &value,
                               NodeValue &tokens, unsigned lengthDim) {
  for (auto [dim, own] : {std::pair(0u, 0u), std::pair(1u, lengthDim)})
    if (value && value.getShape()[dim] != 1)
      GLOWISH_RETURN_IF_ERROR(align(op, value, dim, tokens, own));
  return op.takeError();
}

/// Reads input \p index, cosines or sines, as [batch, 1, length, half]: the
/// rows at \p positions, or one row per position. Their length becomes that of
/// dimension \p lengthDim of \p tokens.
static llvm::Expected<NodeValue> readCache(OpContext &op, unsigned index,
                                           int64_t half, NodeValue positions,
                                           NodeValue &tokens,
                                           unsigned lengthDim) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue cache, op.getInput(index));
  if (positions)
    cache = op.gather(cache, positions, 0);
  else if (cache.getShape().size() == 3)
    GLOWISH_RETURN_IF_ERROR(alignTokens(op, cache, tokens, lengthDim));
  if (!op.hasFailed() &&
      (cache.getShape().size() != 3 || cache.getShape()[2] < half))
    return makeError("input {0} gives {1}; accepted: [batch, length, {2}]",
                     index, cache.getType().str(), half);
  return op.finish(op.unsqueeze(op.slice(cache, 2, 0, half), 1));
}

/// Rotates pairs of elements, (i, i + half) or adjacent ones, by the angles.
static llvm::Error importRotaryEmbedding(OpContext &op, NodeValue tokens) {
  int64_t interleaved = op.getInt("interleaved", 0);
  int64_t numHeads = op.getInt("num_heads", 0);
  int64_t size = op.getInt("rotary_embedding_dim", 0);
  if (!isFlat(op) && tokens.getShape().size() != 4)
    return op.refuseInput(0, "rank 3 or 4");
  unsigned lengthDim = isFlat(op) ? 1 : 2;
  GLOWISH_RETURN_IF_ERROR(checkTokenExtents(tokens, 0, lengthDim));
  NodeValue positions = op.input(3);
  if (positions && positions.getShape().size() == 2)
    GLOWISH_RETURN_IF_ERROR(alignTokens(op, positions, tokens, lengthDim));
  int64_t width = tokens.getShape().back();
  int64_t headSize = isFlat(op) && numHeads > 0 ? width / numHeads : width;
  size = size ? size : headSize;
  if (size < 0 || size > headSize || size % 2)
    return makeError("attribute 'rotary_embedding_dim' is {0}; accepted: an "
                     "even number up to {1}",
                     size, headSize);
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue cosines,
      readCache(op, 1, size / 2, positions, tokens, lengthDim));
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue sines,
      readCache(op, 2, size / 2, positions, tokens, lengthDim));
  NodeValue heads = tokens;
  if (isFlat(op)) {
    GLOWISH_ASSIGN_OR_RETURN(heads,
                             splitHeads(op, heads, numHeads, "num_heads"));
  }
  NodeValue result = rotateHeads(op, heads, cosines, sines, interleaved != 0);
  if (isFlat(op))
    result = joinHeads(op, result);
  return op.setOutput(0, result);
}

static OnnxOperator attentionOp("Attention", 23, withExtents<importAttention>);
// FlexAttention without subgraphs; others have been expanded.
static OnnxOperator flexAttentionOp("FlexAttention", 1,
                                    withExtents<importAttention>,
                                    "ai.onnx.preview");
static OnnxOperator linearAttentionOp("LinearAttention", 26,
                                      withExtents<importLinearAttention>);
static OnnxOperatorNotes
    linearAttentionNotes("LinearAttention",
                         {.limit = "unrolled: at most 4096 steps"});
static OnnxOperator
    causalConvWithStateOp("CausalConvWithState", 26,
                          withExtents<importCausalConvWithState>);
static OnnxOperator rotaryEmbeddingOp("RotaryEmbedding", 23,
                                      withExtents<importRotaryEmbedding>);
