//===- MatMul.cpp - Export of matmuls and attention -----------------------===//

#include "ONNX/GraphWriter.h"
#include <limits>

using namespace glowish;

static void exportMatMul(GraphWriter &w, const MatMulNode &node) {
  OnnxValue result =
      w.multiplyNBits(node.getLhs(), node.getRhs(), /*isTransposed=*/false);
  if (!result)
    result = w.op("MatMul", {w.get(node.getLhs()), w.get(node.getRhs())});
  w.setResult(node, result);
}
static const NodeExporter matMul(NodeKind::MatMul, exportMatMul);

static void exportMatMulInteger(GraphWriter &w, const MatMulIntegerNode &node) {
  w.setResult(node, w.op("MatMulInteger",
                         {w.get(node.getLhs()), w.get(node.getRhs()),
                          OnnxValue(), w.get(node.getRhsZeroPoint())}));
}
static const NodeExporter matMulInteger(NodeKind::MatMulInteger,
                                        exportMatMulInteger);

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
static const NodeExporter matMulNBits(NodeKind::MatMulNBits, exportMatMulNBits);

/// \p factor is an integer where \p value is.
static OnnxValue scale(GraphWriter &w, const OnnxValue &value, double factor) {
  return factor == 1 ? value : w.mul(value, w.numberLike(value, factor));
}

/// ONNX Runtime's Gemm supports floats only.
static void writeIntegerGemm(GraphWriter &w, const GemmNode &node) {
  const Layout identity = {0, 1}, transposed = {1, 0};
  OnnxValue a =
      w.get(node.getA(), node.getTransposeA() ? transposed : identity);
  OnnxValue b =
      w.get(node.getB(), node.getTransposeB() ? transposed : identity);
  OnnxValue sum = scale(w, w.op("MatMul", {a, b}), node.getAlpha());
  if (node.getC())
    sum = w.add(sum, scale(w, w.get(node.getC()), node.getBeta()));
  w.setResult(node, sum);
}

/// Writes \p node with weights that MatMulNBits takes; false if it has others.
static bool writeNBitsGemm(GraphWriter &w, const GemmNode &node) {
  if (node.getTransposeA())
    return false;
  OnnxValue sum =
      w.multiplyNBits(node.getA(), node.getB(), node.getTransposeB());
  if (!sum)
    return false;
  sum = scale(w, sum, node.getAlpha());
  if (node.getC())
    sum = w.add(sum, scale(w, w.get(node.getC()), node.getBeta()));
  w.setResult(node, sum);
  return true;
}

static void exportGemm(GraphWriter &w, const GemmNode &node) {
  if (!isFloatKind(node.getType().getKind()))
    return writeIntegerGemm(w, node);
  if (writeNBitsGemm(w, node))
    return;
  bool isPlain = node.getAlpha() == 1 && node.getBeta() == 1;
  OnnxValue c = isPlain ? w.getBias(node.getC(), node.getA(), node.getB())
                        : w.get(node.getC());
  w.setResult(node, w.op("Gemm", {w.get(node.getA()), w.get(node.getB()), c},
                         {floatAttr("alpha", node.getAlpha()),
                          floatAttr("beta", node.getBeta()),
                          intAttr("transA", node.getTransposeA()),
                          intAttr("transB", node.getTransposeB())}));
}
static const NodeExporter gemm(NodeKind::Gemm, exportGemm);

static void exportFullyConnected(GraphWriter &w,
                                 const FullyConnectedNode &node) {
  OnnxValue weighted = w.multiplyNBits(node.getInput(), node.getWeights(),
                                       /*isTransposed=*/false);
  if (weighted)
    return w.setResult(node, w.add(weighted, w.get(node.getBias())));
  OnnxValue x = w.get(node.getInput()), weights = w.get(node.getWeights());
  OnnxValue bias =
      w.getBias(node.getBias(), node.getInput(), node.getWeights());
  w.setResult(node, isFloatKind(x.kind)
                        ? w.op("Gemm", {x, weights, bias})
                        : w.add(w.op("MatMul", {x, weights}), bias));
}
static const NodeExporter fullyConnected(NodeKind::FullyConnected,
                                         exportFullyConnected);

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
static const NodeExporter attention(NodeKind::Attention, exportAttention);

static const NodeRefusal attentionInteger(
    NodeKind::AttentionInteger,
    "the optimizer makes it of QuantizeLinear, DequantizeLinear, MatMul and "
    "Softmax, which can be exported");
