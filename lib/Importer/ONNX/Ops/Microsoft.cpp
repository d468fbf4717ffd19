//===- Microsoft.cpp - Operators of com.microsoft -------------------------===//
//
// Operators written by ONNX Runtime's optimizers and by exporters of
// transformers; for attention see MicrosoftAttention.cpp. Source: ONNX
// Runtime's ContribOperators.md.
//
//===----------------------------------------------------------------------===//

#include "Common/Normalization.h"
#include "ONNX/Extents.h"
#include "ONNX/Images.h"
#include "ONNX/Ops/NdPooling.h"
#include "ONNX/Quantization.h"
#include "llvm/ADT/StringSwitch.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Activations --------------------------------------------------------===//

/// Returns input 0, plus input 1 if it is present.
static llvm::Expected<NodeValue> addBias(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  if (NodeValue bias = op.input(1))
    return op.create<AddNode>(x, bias);
  return x;
}

/// The sum of all inputs.
static llvm::Error importBiasAdd(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, addBias(op));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue residual, op.getInput(2));
  return op.setOutput(0, op.create<AddNode>(x, residual));
}

/// The first half of the columns times the Gelu of the others.
static llvm::Error importBiasSplitGelu(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, addBias(op));
  DimsRef shape = x.getShape();
  if (shape.empty() || shape.back() % 2 ||
      x.getType().getExtent(unsigned(shape.size()) - 1))
    return makeError("the sum of the inputs is {0}; accepted: rows of two "
                     "halves, of a constant extent",
                     x.getType().str());
  int64_t axis = int64_t(shape.size()) - 1, half = shape.back() / 2;
  NodeValue gate = op.unary<GeluNode>(op.slice(x, axis, half, half));
  return op.setOutput(0, op.mul(op.slice(x, axis, 0, half), gate));
}

template <typename T> static llvm::Error importActivation(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, addBias(op));
  return op.setOutput(0, op.create<T>(x));
}

static llvm::Error importQuickGelu(OpContext &op, NodeValue x) {
  double alpha = op.getFloat("alpha", 1.702);
  return op.setOutput(0, op.create<SwishNode>(x, alpha));
}

//===- Fused convolution and matmul ---------------------------------------===//

/// Applies the attributes `activation` and `activation_params` to \p x.
static llvm::Expected<NodeValue> activate(OpContext &op, NodeValue x) {
  std::string name = op.getString("activation", "");
  std::vector<double> params = op.getFloats("activation_params");
  size_t numParams = llvm::StringSwitch<size_t>(name)
                         .Case("LeakyRelu", 1)
                         .Cases("Clip", "HardSigmoid", 2)
                         .Default(0);
  if (params.size() != numParams)
    return makeError("attribute 'activation_params' has {0} numbers; accepted "
                     "for activation '{1}': {2}",
                     params.size(), name, numParams);
  if (name.empty())
    return x;
  if (name == "Relu")
    return op.create<ReluNode>(x);
  if (name == "Silu")
    return op.create<SiluNode>(x);
  if (name == "Tanh")
    return op.create<TanhNode>(x);
  if (name == "Sigmoid")
    return op.create<SigmoidNode>(x);
  if (name == "LeakyRelu")
    return op.create<LeakyReluNode>(x, params[0]);
  if (name == "Clip")
    return op.create<ClipNode>(x, params[0], params[1]);
  if (name == "HardSigmoid")
    return op.create<HardSigmoidNode>(x, params[0], params[1]);
  return makeError("attribute 'activation' is '{0}'; accepted: Relu, Silu, "
                   "Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid",
                   name);
}

/// Returns \p x, a convolution, with \p added, which may be null, and the
/// activation.
static llvm::Expected<NodeValue> finishConv(OpContext &op, NodeValue x,
                                            NodeValue added) {
  if (added && added.getShape() != x.getShape())
    return makeError("input 3 is {0}; accepted: the shape of the convolution, "
                     "{1}",
                     added.getType().str(), x.getType().str());
  if (added) {
    GLOWISH_ASSIGN_OR_RETURN(x, op.create<AddNode>(x, added));
  }
  return activate(op, x);
}

/// activation(Conv(...) + input 3).
static llvm::Error importFusedConv(OpContext &op, NodeValue input) {
  if (input.getShape().size() == 5) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue result, makeVolumeConv(op));
    return op.setOutput(0, finishConv(op, result, op.input(3)));
  }
  GLOWISH_ASSIGN_OR_RETURN(Images result, makeConvolution(op));
  Images added;
  if (op.hasInput(3)) {
    GLOWISH_ASSIGN_OR_RETURN(added, readImages(op, 3));
  }
  GLOWISH_ASSIGN_OR_RETURN(result.value,
                           finishConv(op, result.value, added.value));
  return setImages(op, result.value, result.isOneDimensional);
}

/// Moves the first dimension of \p x before the last if \p isBatchInside, then
/// swaps the last two if \p isTransposed.
static llvm::Expected<NodeValue>
arrange(OpContext &op, NodeValue x, bool isBatchInside, bool isTransposed) {
  int64_t rank = int64_t(x.getShape().size());
  if (rank < 2) // a vector has nothing to transpose
    return x;
  std::vector<int64_t> permutation =
      getMovedDims(rank, 0, isBatchInside ? rank - 2 : 0);
  if (isTransposed)
    std::swap(permutation[rank - 1], permutation[rank - 2]);
  return op.finish(op.transpose(x, permutation));
}

/// alpha * A * B, each optionally transposed.
static llvm::Error importFusedMatMul(OpContext &op, NodeValue a, NodeValue b) {
  if (a.getShape().size() < 2 || b.getShape().size() < 2)
    return makeError("the inputs are {0} and {1}; accepted: rank 2 or more",
                     a.getType().str(), b.getType().str());
  double alpha = op.getFloat("alpha", 1);
  int64_t transA = op.getInt("transA", 0);
  int64_t transB = op.getInt("transB", 0);
  int64_t batchA = op.getInt("transBatchA", 0);
  int64_t batchB = op.getInt("transBatchB", 0);
  GLOWISH_ASSIGN_OR_RETURN(a, arrange(op, a, batchA != 0, transA != 0));
  GLOWISH_ASSIGN_OR_RETURN(b, arrange(op, b, batchB != 0, transB != 0));
  NodeValue operands[] = {a, b};
  GLOWISH_RETURN_IF_ERROR(alignBroadcast(op, operands, /*numInner=*/2));
  NodeValue result = op.matMul(operands[0], operands[1]);
  return op.setOutput(0, alpha == 1 ? result : op.mul(result, alpha));
}

//===- Normalizations -----------------------------------------------------===//

/// Normalizes input 0 + input 1 + bias over the last dimension; output 3 is the
/// sum. The simplified form has neither mean nor beta.
template <bool SubtractMean>
static llvm::Error importSkipLayerNormalization(OpContext &op) {
  LayerNorm norm;
  NodeValue added[2];
  for (unsigned i : {0, 1}) {
    GLOWISH_ASSIGN_OR_RETURN(added[i], op.getInput(i));
  }
  GLOWISH_RETURN_IF_ERROR(alignBroadcast(op, added));
  GLOWISH_ASSIGN_OR_RETURN(norm.scale, op.getInput(2));
  norm.bias = SubtractMean ? op.input(3) : NodeValue();
  norm.epsilon = op.getFloat("epsilon", 1e-12);
  GLOWISH_ASSIGN_OR_RETURN(norm.x, op.create<AddNode>(added[0], added[1]));
  if (NodeValue bias = op.input(SubtractMean ? 4 : 3)) {
    GLOWISH_ASSIGN_OR_RETURN(norm.x, op.create<AddNode>(norm.x, bias));
  }
  if (norm.x.getShape().empty())
    return op.refuseInput(0, "rank 1 or more");
  norm.axis = int64_t(norm.x.getShape().size()) - 1;
  norm.subtractMean = SubtractMean;
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, makeLayerNorm(op, norm)));
  return op.wantsOutput(3) ? op.setOutput(3, norm.x) : llvm::Error::success();
}

namespace {

/// Operands of EmbedLayerNormalization. Tables of floats have no scale.
struct Embeddings {
  NodeValue ids, positionIds, segments, mask;
  Quantized words, positions, segmentTable;
  NodeValue scale, bias;
};

} // namespace

/// Returns rows \p ids of \p table [vocabulary, width].
static llvm::Expected<NodeValue> lookUp(OpContext &op, Quantized table,
                                        NodeValue ids) {
  GLOWISH_ASSIGN_OR_RETURN(table.value,
                           op.create<GatherNode>(table.value, ids, int64_t(0)));
  return table.scale ? dequantize(op, table) : table.value;
}

/// Returns the sum of the embeddings of words, positions and segments.
static llvm::Expected<NodeValue> addEmbeddings(OpContext &op,
                                               const Embeddings &e) {
  DimsRef shape = e.ids.getShape();
  if (shape.size() != 2)
    return op.refuseInput(0, "[batch, length]");
  GLOWISH_ASSIGN_OR_RETURN(NodeValue sum, lookUp(op, e.words, e.ids));
  NodeValue positionIds = e.positionIds;
  if (!positionIds) {
    std::vector<int64_t> all(shape[1]);
    for (int64_t i = 0; i < shape[1]; ++i)
      all[i] = i;
    positionIds = op.int64s(all);
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue positions,
                           lookUp(op, e.positions, positionIds));
  GLOWISH_ASSIGN_OR_RETURN(sum, op.create<AddNode>(sum, positions));
  if (!e.segments || !e.segmentTable.value)
    return sum;
  GLOWISH_ASSIGN_OR_RETURN(NodeValue segments,
                           lookUp(op, e.segmentTable, e.segments));
  return op.create<AddNode>(sum, segments);
}

/// Adds and normalizes the embeddings of words, positions and segments. Output
/// 1 is the number of words in each row of the mask, output 2 the sum.
static llvm::Error normalizeEmbeddings(OpContext &op, const Embeddings &e) {
  LayerNorm norm = {};
  norm.subtractMean = true;
  norm.scale = e.scale;
  norm.bias = e.bias;
  norm.epsilon = op.getFloat("epsilon", 1e-12);
  GLOWISH_ASSIGN_OR_RETURN(norm.x, addEmbeddings(op, e));
  norm.axis = int64_t(norm.x.getShape().size()) - 1;
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, makeLayerNorm(op, norm)));
  if (op.wantsOutput(1)) {
    Type batch(ElemKind::Int32, {e.ids.getShape()[0]});
    batch = batch.withExtents({e.ids.getType().getLength(0)});
    NodeValue none = op.splat(ElemKind::Int32, batch.getShape(), 0);
    GLOWISH_RETURN_IF_ERROR(
        op.setOutput(1, e.mask ? op.reduce(e.mask, "sum", {1},
                                           /*keepDims=*/false)
                               : op.declareExtents(none, batch)));
  }
  if (op.wantsOutput(2))
    return op.setOutput(2, norm.x);
  return llvm::Error::success();
}

static llvm::Error importEmbedLayerNormalization(OpContext &op) {
  Embeddings e;
  GLOWISH_ASSIGN_OR_RETURN(e.ids, op.getInput(0));
  e.segments = op.input(1);
  GLOWISH_ASSIGN_OR_RETURN(e.words.value, op.getInput(2));
  GLOWISH_ASSIGN_OR_RETURN(e.positions.value, op.getInput(3));
  e.segmentTable.value = op.input(4);
  GLOWISH_ASSIGN_OR_RETURN(e.scale, op.getInput(5));
  GLOWISH_ASSIGN_OR_RETURN(e.bias, op.getInput(6));
  e.mask = op.input(7);
  e.positionIds = op.input(8);
  return normalizeEmbeddings(op, e);
}

/// The tables, gamma and beta are quantized: inputs 8 to 12 are their scales,
/// 13 to 17 their zero points.
static llvm::Error importQEmbedLayerNormalization(OpContext &op) {
  Embeddings e;
  GLOWISH_ASSIGN_OR_RETURN(e.ids, op.getInput(0));
  e.segments = op.input(1);
  GLOWISH_ASSIGN_OR_RETURN(e.words, readQuantized(op, 2, 8, 13));
  GLOWISH_ASSIGN_OR_RETURN(e.positions, readQuantized(op, 3, 9, 14));
  if (op.hasInput(4)) {
    GLOWISH_ASSIGN_OR_RETURN(e.segmentTable, readQuantized(op, 4, 10, 15));
  }
  GLOWISH_ASSIGN_OR_RETURN(Quantized gamma, readQuantized(op, 5, 11, 16));
  GLOWISH_ASSIGN_OR_RETURN(Quantized beta, readQuantized(op, 6, 12, 17));
  GLOWISH_ASSIGN_OR_RETURN(e.scale, dequantize(op, gamma));
  GLOWISH_ASSIGN_OR_RETURN(e.bias, dequantize(op, beta));
  e.mask = op.input(7);
  return normalizeEmbeddings(op, e);
}

static OnnxOperator geluOp("Gelu", 1, elementWise<importActivation<GeluNode>>,
                           microsoftDomain);
static OnnxOperator biasGeluOp("BiasGelu", 1,
                               elementWise<importActivation<GeluNode>>,
                               microsoftDomain);
static OnnxOperator biasAddOp("BiasAdd", 1, elementWise<importBiasAdd>,
                              microsoftDomain);
static OnnxOperator biasSplitGeluOp("BiasSplitGelu", 1,
                                    elementWise<importBiasSplitGelu>,
                                    microsoftDomain);
static OnnxOperator fastGeluOp("FastGelu", 1,
                               elementWise<importActivation<GeluTanhNode>>,
                               microsoftDomain);
static OnnxOperator quickGeluOp("QuickGelu", 1, elementWise<importQuickGelu>,
                                microsoftDomain);
static OnnxOperator fusedConvOp("FusedConv", 1, withExtents<importFusedConv>,
                                microsoftDomain);
static OnnxOperator fusedMatMulOp("FusedMatMul", 1,
                                  withExtents<importFusedMatMul>,
                                  microsoftDomain);
static OnnxOperator
    skipLayerNormOp("SkipLayerNormalization", 1,
                    withExtents<importSkipLayerNormalization<true>>,
                    microsoftDomain);
static OnnxOperator
    skipSimplifiedLayerNormOp("SkipSimplifiedLayerNormalization", 1,
                              withExtents<importSkipLayerNormalization<false>>,
                              microsoftDomain);
static OnnxOperator embedLayerNormOp("EmbedLayerNormalization", 1,
                                     withExtents<importEmbedLayerNormalization>,
                                     microsoftDomain);
static OnnxOperator
    qEmbedLayerNormOp("QEmbedLayerNormalization", 1,
                      withExtents<importQEmbedLayerNormalization>,
                      microsoftDomain);
