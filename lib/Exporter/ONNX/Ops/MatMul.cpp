//===- MatMul.cpp - Export of matmuls and attention -----------------------===//

#include "ONNX/GraphWriter.h"
#include <limits>

using namespace glowish;

/// Writes \p x * \p weights + \p bias, which may be null. Gemm takes matrices
/// as they are stored; ONNX Runtime's is of floats only.
static OnnxValue writeMatMul(GraphWriter &w, NodeValue x, NodeValue weights,
                             NodeValue bias) {
  if (OnnxValue matMul = w.multiplyNBits(x, weights))
    return bias ? w.add(matMul, w.get(bias)) : matMul;
  bool transA = !isIdentity(w.getLayout(x)),
       transB = !isIdentity(w.getLayout(weights));
  bool isGemm = isFloatKind(x.getElemKind()) && x.getShape().size() == 2 &&
                weights.getShape().size() == 2 && (bias || transA || transB);
  if (!isGemm) {
    OnnxValue matMul = w.op("MatMul", {w.get(x), w.get(weights)});
    return bias ? w.add(matMul, w.getBias(bias, x, weights)) : matMul;
  }
  OnnxValue lhs = w.getStored(x), rhs = w.getStored(weights);
  return w.op("Gemm", {lhs, rhs, w.getBias(bias, x, weights)},
              {intAttr("transA", transA), intAttr("transB", transB)});
}

static OnnxValue exportMatMul(GraphWriter &w, const MatMulNode &node) {
  return writeMatMul(w, node.getLhs(), node.getRhs(), NodeValue());
}
static const NodeExporter matMul = exportMatMul;

static OnnxValue exportFullyConnected(GraphWriter &w,
                                      const FullyConnectedNode &node) {
  return writeMatMul(w, node.getInput(), node.getWeights(), node.getBias());
}
static const NodeExporter fullyConnected = exportFullyConnected;

static OnnxValue exportMatMulInteger(GraphWriter &w,
                                     const MatMulIntegerNode &node) {
  return w.op("MatMulInteger", {w.get(node.getLhs()), w.get(node.getRhs()),
                                OnnxValue(), w.get(node.getRhsZeroPoint())});
}
static const NodeExporter matMulInteger = exportMatMulInteger;

static void exportMatMulNBits(GraphWriter &w, const MatMulNBitsNode &node) {
  if (node.getLhsScales())
    return w.fail("it multiplies activations of int8, which no operator does; "
                  "accepted: activations of floats");
  std::optional<LinearQuantization> weights = describeWeights(node);
  if (!weights)
    return w.fail("its weights are computed; accepted: constants");
  NodeValue x = node.getLhs();
  OnnxValue result;
  // Of 8 bits, what needs no other domain is written without it.
  if (weights->needsNewerOpset())
    result = w.multiplyNBits(x, *weights, node, /*isTransposed=*/false);
  if (!result)
    result = w.cast(w.op("MatMul", {w.cast(w.get(x), ElemKind::Float),
                                    w.dequantize(*weights)}),
                    x.getElemKind());
  w.setResult(node, result);
}
static const NodeExporter matMulNBits = exportMatMulNBits;

/// Returns the mask added to the scores [queries, keys]: 0 where query m
/// attends to key n, n <= m + keys - queries, and -infinity elsewhere.
static OnnxValue makeCausalMask(GraphWriter &w, ElemKind kind, int64_t queries,
                                int64_t keys) {
  Tensor mask(Type(kind, {queries, keys}));
  for (int64_t m = 0; m < queries; ++m)
    for (int64_t n = m + keys - queries + 1; n < keys; ++n)
      mask.setFromDouble(m * keys + n,
                         -std::numeric_limits<double>::infinity());
  return w.constant(std::move(mask));
}

static void exportAttention(GraphWriter &w, const AttentionNode &node) {
  ElemKind kind = node.getType().getKind();
  unsigned rank = node.getType().getRank();
  Layout swapped = getIdentityLayout(rank);
  std::swap(swapped[rank - 2], swapped[rank - 1]);
  OnnxValue scores =
      w.op("MatMul", {w.get(node.getQuery()), w.get(node.getKey(), swapped)});
  scores = w.mul(scores, w.number(kind, node.getScale()));
  if (node.getMask())
    scores = w.add(scores, w.get(node.getMask()));
  if (node.getCausal())
    scores = w.add(scores,
                   makeCausalMask(w, kind, node.getQuery().getShape()[rank - 2],
                                  node.getKey().getShape()[rank - 2]));
  OnnxValue weights =
      w.op("Softmax", {scores}, {intAttr("axis", int64_t(rank) - 1)});
  if (node.getMask() && !node.getNanIfMasked()) {
    OnnxValue largest =
        w.reduce("ReduceMax", scores, {int64_t(rank) - 1}, /*keepDims=*/true);
    OnnxValue isMasked =
        w.op("Equal",
             {largest,
              w.numberLike(scores, -std::numeric_limits<double>::infinity())});
    weights = w.select(isMasked, w.numberLike(weights, 0), weights);
  }
  w.setResult(node, w.op("MatMul", {weights, w.get(node.getValue())}));
}
static const NodeExporter attention = exportAttention;

static const NodeRefusal attentionInteger(
    NodeKind::AttentionInteger,
    "the optimizer makes it of QuantizeLinear, DequantizeLinear, MatMul and "
    "Softmax, which can be exported");
