//===- EncoderLayer.cpp - Attention and layers as one operator ------------===//
//
// What torch.nn.MultiheadAttention and TransformerEncoderLayer execute as one
// operator without gradients.
//
//===----------------------------------------------------------------------===//

#include "Aten/AtenOp.h"
#include "Common/AttentionHeads.h"
#include <cmath>

using namespace glowish;
using namespace glowish::aten;

/// The product of \p x and \p weight, [output, input], and the bias.
static NodeValue project(AtenOp &op, NodeValue x, NodeValue weight,
                         NodeValue bias) {
  return op.add(op.matMul(x, op.transposeLast(weight)), bias);
}

/// The rows of query, key or value, by their \p number, of what all three
/// share.
static NodeValue takePart(AtenOp &op, llvm::StringRef argument,
                          int64_t number) {
  NodeValue all = op.tensor(argument);
  if (!all)
    return all;
  int64_t size = all.getShape()[0] / 3;
  return op.slice(all, 0, number * size, size);
}

/// The mask, of bools that tell what is left out, as numbers to add to the
/// scores [batch, heads, queries, keys].
static llvm::Expected<NodeValue> readMask(AtenOp &op) {
  NodeValue mask = op.tensor("mask");
  if (!mask)
    return mask;
  if (mask.getElemKind() != ElemKind::Bool)
    return op.refuse("mask", "bools");
  // One of keys has a row for each sequence, another one for each query.
  constexpr int64_t ofKeys = 1;
  bool isOfKeys =
      op.get("mask_type").is<int64_t>() && op.integer("mask_type") == ofKeys;
  DimsRef shape = mask.getShape();
  if (isOfKeys && shape.size() == 2)
    mask = op.reshape(mask, {shape[0], 1, 1, shape[1]});
  return op.select(mask, op.scalar(ElemKind::Float, -INFINITY),
                   op.scalar(ElemKind::Float, 0));
}

/// The result of attention, and the weights of keys.
static llvm::Expected<std::pair<NodeValue, NodeValue>>
makeAttention(AtenOp &op, NodeValue query, NodeValue key, NodeValue value,
              int64_t numHeads, bool needsWeights) {
  std::array<NodeValue, 3> parts = {query, key, value};
  for (auto [i, part] : llvm::enumerate(parts)) {
    NodeValue own = project(op, part, takePart(op, "qkv_weight", int64_t(i)),
                            takePart(op, "qkv_bias", int64_t(i)));
    GLOWISH_RETURN_IF_ERROR(op.takeError());
    GLOWISH_ASSIGN_OR_RETURN(part, splitHeads(op, own, numHeads, "num_head"));
  }
  Heads heads{.query = parts[0], .key = parts[1], .value = parts[2]};
  Scoring scoring;
  scoring.scale = 1 / std::sqrt(double(parts[0].getShape().back()));
  GLOWISH_ASSIGN_OR_RETURN(scoring.mask, readMask(op));
  NodeValue weights;
  if (needsWeights) {
    GLOWISH_ASSIGN_OR_RETURN(auto scores, composeScores(op, heads, scoring));
    weights = scores.back();
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue mixed, attend(op, heads, scoring));
  return std::pair(project(op, joinHeads(op, mixed), op.tensor("proj_weight"),
                           op.tensor("proj_bias")),
                   weights);
}

static llvm::Error importNativeAttention(AtenOp &op) {
  if (op.getRank("query") != 3)
    return op.refuse("query", "rank 3");
  bool needsWeights = op.flag("need_weights");
  GLOWISH_ASSIGN_OR_RETURN(auto results,
                           makeAttention(op, op.tensor("query"),
                                         op.tensor("key"), op.tensor("value"),
                                         op.integer("num_head"), needsWeights));
  NodeValue weights = results.second;
  if (needsWeights && op.flag("average_attn_weights"))
    weights = op.reduce(weights, "mean", {1}, /*keepDims=*/false);
  if (needsWeights)
    GLOWISH_RETURN_IF_ERROR(op.setResult(weights, 1));
  return op.setResult(results.first);
}
static AtenOperators attention(
    {{importNativeAttention,
      {"_native_multi_head_attention(Tensor query, Tensor key, Tensor value, "
       "int embed_dim, int num_head, Tensor qkv_weight, Tensor qkv_bias, "
       "Tensor proj_weight, Tensor proj_bias, Tensor? mask=None, bool "
       "need_weights=True, bool average_attn_weights=True, int? "
       "mask_type=None) -> (Tensor, Tensor)"}}},
    AtenOrder::Unknown);

static NodeValue normalize(AtenOp &op, NodeValue x, llvm::StringRef number) {
  if (!x)
    return x;
  return op.make<LayerNormalizationNode>(
      x, op.tensor(("norm_weight_" + number).str()),
      op.tensor(("norm_bias_" + number).str()),
      int64_t(x.getShape().size()) - 1, op.number("eps", 1e-5),
      /*subtractMean=*/true);
}

static llvm::Error importEncoderLayer(AtenOp &op) {
  if (op.getRank("src") != 3)
    return op.refuse("src", "rank 3");
  bool isNormFirst = op.flag("norm_first");
  NodeValue x = op.tensor("src");
  NodeValue input = isNormFirst ? normalize(op, x, "1") : x;
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(auto attention,
                           makeAttention(op, input, input, input,
                                         op.integer("num_heads"),
                                         /*needsWeights=*/false));
  x = op.add(x, attention.first);
  if (!isNormFirst)
    x = normalize(op, x, "1");
  NodeValue inner = project(op, isNormFirst ? normalize(op, x, "2") : x,
                            op.tensor("ffn_weight_1"), op.tensor("ffn_bias_1"));
  inner = op.flag("use_gelu") ? op.unary<GeluNode>(inner)
                              : op.unary<ReluNode>(inner);
  x = op.add(x, project(op, inner, op.tensor("ffn_weight_2"),
                        op.tensor("ffn_bias_2")));
  return op.setResult(isNormFirst ? x : normalize(op, x, "2"));
}
static AtenOperators encoderLayer(
    {{importEncoderLayer,
      {"_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int "
       "num_heads, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, "
       "Tensor proj_bias, bool use_gelu, bool norm_first, float eps, Tensor "
       "norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor "
       "norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor "
       "ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? "
       "mask_type=None) -> Tensor"}}},
    AtenOrder::Unknown);
