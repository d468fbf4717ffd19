//===- Activations.cpp - Composed activations -----------------------------===//

#include "Common/ElementWise.h"
#include "ONNX/Extents.h"

using namespace glowish;
using namespace glowish::onnximport;

/// alpha * T(beta * x), removed from ONNX.
template <typename T>
static llvm::Error importScaled(OpContext &op, NodeValue x) {
  double alpha = op.getFloat("alpha", 1), beta = op.getFloat("beta", 1);
  return op.setOutput(0, op.mul(op.unary<T>(op.mul(x, beta)), alpha));
}

static llvm::Error importMish(OpContext &op, NodeValue x) {
  return op.setOutput(0, op.create<MishNode>(x));
}

static llvm::Error importSoftsign(OpContext &op, NodeValue x) {
  return op.setOutput(0, op.div(x, op.add(op.unary<AbsNode>(x), 1)));
}

/// x * sigmoid(alpha * x) of input 0.
static llvm::Expected<NodeValue> makeSwish(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  double alpha = op.getFloat("alpha", 1);
  if (alpha == 1)
    return op.create<SiluNode>(x);
  return op.create<SwishNode>(x, alpha);
}

static llvm::Error importSwish(OpContext &op) {
  return op.setOutput(0, makeSwish(op));
}

/// The swish of a gate times a value, which has its type.
static llvm::Error importSwiGLU(OpContext &op, NodeValue gate,
                                NodeValue value) {
  if (gate.getType() != value.getType())
    return makeError("inputs are {0} and {1}; accepted: one type",
                     gate.getType().str(), value.getType().str());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue swish, makeSwish(op));
  return op.setOutput(0, op.create<MulNode>(swish, value));
}

/// x if it is greater than alpha, else 0.
static llvm::Error importThresholdedRelu(OpContext &op, NodeValue x) {
  double alpha = op.getFloat("alpha", 1);
  return op.setOutput(0, op.select(op.greater(x, alpha), x, op.number(x, 0)));
}

static llvm::Error importCelu(OpContext &op, NodeValue x) {
  double alpha = op.getFloat("alpha", 1);
  return op.setOutput(0, makeCelu(op, x, alpha));
}

static llvm::Error importShrink(OpContext &op, NodeValue x) {
  double bias = op.getFloat("bias", 0);
  double lambd = op.getFloat("lambd", 0.5);
  return op.setOutput(0, makeShrink(op, x, lambd, bias, op.number(x, 0)));
}

/// x / 2 * (1 + erf(x / sqrt(2))), or its approximation with tanh(sqrt(2 / pi)
/// * (x + 0.044715 x^3)).
static llvm::Error importGelu(OpContext &op, NodeValue x) {
  std::string approximate = op.getString("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return makeError("attribute 'approximate' is '{0}'; accepted: none, tanh",
                     approximate);
  if (approximate == "none")
    return op.setOutput(0, op.create<GeluNode>(x));
  return op.setOutput(0, op.create<GeluTanhNode>(x));
}

static OnnxOperator
    parametricSoftplusOp("ParametricSoftplus", 1,
                         elementWise<importScaled<SoftplusNode>>);
static OnnxOperator scaledTanhOp("ScaledTanh", 1,
                                 elementWise<importScaled<TanhNode>>);
static OnnxOperator mishOp("Mish", 18, elementWise<importMish>);
static OnnxOperator softsignOp("Softsign", 1, elementWise<importSoftsign>);
static OnnxOperator swishOp("Swish", 24, elementWise<importSwish>);
static OnnxOperator swigluOp("SwiGLU", 28, elementWise<importSwiGLU>);
static OnnxOperator thresholdedReluOp("ThresholdedRelu", 1,
                                      elementWise<importThresholdedRelu>);
static OnnxOperator celuOp("Celu", 12, elementWise<importCelu>);
static OnnxOperator shrinkOp("Shrink", 9, elementWise<importShrink>);
static OnnxOperator geluOp("Gelu", 20, elementWise<importGelu>);
