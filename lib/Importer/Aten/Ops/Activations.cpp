//===- Activations.cpp - Activation functions -----------------------------===//

#include "Aten/AtenOp.h"
#include "Common/AttentionHeads.h"
#include "Common/ElementWise.h"

using namespace glowish;
using namespace glowish::aten;

/// log(1 + e^(beta * x)) / beta; x where beta * x is above the threshold.
static llvm::Error importSoftplus(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  GLOWISH_ASSIGN_OR_RETURN(double beta, op.number("beta"));
  GLOWISH_ASSIGN_OR_RETURN(double threshold, op.number("threshold"));
  ElemKind kind = op.tensor("self").getElemKind();
  NodeValue x = op.widen(op.tensor("self"));
  NodeValue scaled = beta == 1 ? x : op.mul(x, beta);
  NodeValue result = op.unary<SoftplusNode>(scaled);
  if (beta != 1)
    result = op.div(result, beta);
  // From 20 on the two are the same float.
  if (threshold < 20 || kind == ElemKind::Double)
    result = op.select(op.greater(scaled, threshold), x, result);
  return op.setResult(op.cast(result, kind));
}

static llvm::Error importLogSigmoid(AtenOp &op) {
  return op.setResult(op.unary<LogSigmoidNode>(op.floating("self")));
}

static llvm::Error importGelu(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  std::string approximation = op.text("approximate");
  if (approximation == "none")
    return op.setResult(op.unary<GeluNode>(op.tensor("self")));
  if (approximation == "tanh")
    return op.setResult(op.unary<GeluTanhNode>(op.tensor("self")));
  return op.refuse("approximate", "'none' and 'tanh'");
}

static llvm::Error importHardSigmoid(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  return op.setResult(
      op.make<HardSigmoidNode>(op.tensor("self"), 1.0 / 6, 0.5));
}

static llvm::Error importHardTanh(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(double low, op.number("min_val"));
  GLOWISH_ASSIGN_OR_RETURN(double high, op.number("max_val"));
  return op.setResult(op.clip(op.tensor("self"), low, high));
}

static llvm::Error importRelu6(AtenOp &op) {
  return op.setResult(op.clip(op.tensor("self"), 0, 6));
}

static llvm::Error importLeakyRelu(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  GLOWISH_ASSIGN_OR_RETURN(double slope, op.number("negative_slope"));
  return op.setResult(op.make<LeakyReluNode>(op.tensor("self"), slope));
}

/// scale * x above 0; scale * alpha * (e^(input_scale * x) - 1) below.
static llvm::Error importElu(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  GLOWISH_ASSIGN_OR_RETURN(double alpha, op.number("alpha"));
  GLOWISH_ASSIGN_OR_RETURN(double scale, op.number("scale"));
  GLOWISH_ASSIGN_OR_RETURN(double inner, op.number("input_scale"));
  NodeValue x = op.tensor("self");
  if (inner == 1) {
    NodeValue result = op.make<EluNode>(x, alpha);
    return op.setResult(scale == 1 ? result : op.mul(result, scale));
  }
  NodeValue below = op.make<EluNode>(op.mul(x, inner), alpha);
  return op.setResult(op.mul(op.select(op.less(x, 0), below, x), scale));
}

static llvm::Error importCelu(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  GLOWISH_ASSIGN_OR_RETURN(double alpha, op.number("alpha"));
  return op.setResult(makeCelu(op, op.tensor("self"), alpha));
}

static llvm::Error importSelu(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  return op.setResult(op.make<SeluNode>(op.tensor("self"), 1.6732632423543772,
                                        1.0507009873554805));
}

/// One slope, or one for each channel, dimension 1.
static llvm::Error importPRelu(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  NodeValue x = op.tensor("self"), slopes = op.tensor("weight");
  int64_t count = slopes.getType().getNumElements();
  unsigned rank = x.getShape().size();
  // The slopes of _prelu_kernel have the rank of the input.
  if (slopes.getShape().size() <= 1) {
    Dims shape(rank > 2 ? rank - 1 : 1, 1);
    shape[0] = count;
    slopes = op.reshape(slopes, count == 1 ? Dims() : shape);
  }
  return op.setResult(op.make<PReluNode>(x, slopes));
}

/// 0 within [-lambd, lambd]; beyond, softshrink is nearer to 0 by lambd.
template <bool IsSoft> static llvm::Error importShrink(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  GLOWISH_ASSIGN_OR_RETURN(double bound, op.number("lambd"));
  NodeValue x = op.tensor("self");
  // What is NaN stays NaN.
  return op.setResult(
      makeShrink(op, x, bound, IsSoft ? bound : 0, op.mul(x, 0.0)));
}

static llvm::Error importThreshold(AtenOp &op) {
  NodeValue x = op.tensor("self");
  ElemKind kind = x.getElemKind();
  // What is NaN stays NaN.
  NodeValue isBelow = op.lessOrEqual(x, op.operand("threshold", kind));
  return op.setResult(op.select(isBelow, op.operand("value", kind), x));
}

/// The first half along a dimension, times the sigmoid of the second.
static llvm::Error importGlu(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  NodeValue x = op.tensor("self");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("dim", op.getRank("self")));
  if (x.getShape().empty() || x.getShape()[axis] % 2)
    return op.refuse("self", "an even extent along 'dim'");
  int64_t half = x.getShape()[axis] / 2;
  return op.setResult(
      op.mul(op.slice(x, axis, 0, half),
             op.unary<SigmoidNode>(op.slice(x, axis, half, half))));
}

/// log(x / (1 - x)), of x within [eps, 1 - eps]. The bounds of float16 are
/// floats: 1 - eps would round to 1.
static llvm::Error importLogit(AtenOp &op) {
  NodeValue x = op.widenFloat16(op.floating("self"));
  if (!op.isNone("eps")) {
    double eps = op.number("eps", 0);
    x = op.clip(x, eps, 1 - eps);
  }
  return op.setResult(
      op.cast(makeLogit(op, x), op.floating("self").getElemKind()));
}

static AtenOperators parametrized(
    {{importSoftplus,
      {"softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor"}},
     {importLogSigmoid,
      {"log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)"}},
     {importGelu, {"gelu(Tensor self, *, str approximate='none') -> Tensor"}},
     {importHardTanh,
      {"hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor"}},
     {importLeakyRelu,
      {"leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor"}},
     {importElu,
      {"elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) "
       "-> Tensor"}},
     {importCelu, {"celu(Tensor self, Scalar alpha=1.0) -> Tensor"}},
     {importShrink<false>,
      {"hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor"}},
     {importShrink<true>,
      {"softshrink(Tensor self, Scalar lambd=0.5) -> Tensor"}},
     {importThreshold,
      {"threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor"}},
     {importLogit, {"logit(Tensor self, float? eps=None) -> Tensor"}}},
    AtenOrder::ElementWise);
static AtenOperators plain({"(Tensor self) -> Tensor"},
                           {{importHardSigmoid, {"hardsigmoid"}},
                            {importRelu6, {"relu6"}},
                            {importSelu, {"selu"}}},
                           AtenOrder::ElementWise);
static AtenOperators
    others({{importPRelu,
             {"prelu(Tensor self, Tensor weight) -> Tensor",
              "_prelu_kernel(Tensor self, Tensor weight) -> Tensor"}},
            {importGlu, {"glu(Tensor self, int dim=-1) -> Tensor"}}});

//===- Softmax ------------------------------------------------------------===//

template <typename T>
static NodeValue makeSoftmax(AtenOp &op, NodeValue x, int64_t axis) {
  return op.make<T>(x, axis);
}

/// Of a tensor converted to `dtype` before; a scalar has one dimension.
template <auto Make> static llvm::Error importSoftmax(AtenOp &op) {
  NodeValue x = op.tensor("self");
  ElemKind kind =
      op.has("dtype") ? op.kind("dtype", x.getElemKind()) : x.getElemKind();
  if (!isFloatKind(kind))
    return op.refuse("self", "floats");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("dim", op.getRank("self")));
  Dims shape(x.getShape());
  x = op.cast(x, kind);
  // Logarithms of numbers near 1 have few bits in half precision.
  if (llvm::StringRef(op.getSchema().name).contains("log_"))
    x = op.widen(x);
  if (shape.empty())
    x = op.reshape(x, {1});
  return op.setResult(op.cast(op.reshape(Make(op, x, axis), shape), kind));
}

static AtenOperators softmaxes(
    {{importSoftmax<makeSoftmax<SoftmaxNode>>,
      {"softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
       "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor"}},
     {importSoftmax<safeSoftmax>,
      {"_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> "
       "Tensor"}},
     {importSoftmax<makeSoftmax<LogSoftmaxNode>>,
      {"log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> "
       "Tensor",
       "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor"}}},
    AtenOrder::RowMajor);
