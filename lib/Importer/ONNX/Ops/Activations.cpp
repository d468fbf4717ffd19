//===- Activations.cpp - Composed activations -----------------------------===//

#include "ONNX/DynamicDims.h"

using namespace glowish;

/// log(1 + e^x), computed as max(x, 0) + log(1 + e^-|x|), which does not
/// overflow.
static llvm::Expected<NodeValue> makeSoftplus(OpContext &op, NodeValue x) {
  NodeValue one = op.createScalar(x.getElemKind(), 1);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue magnitude, op.create<AbsNode>(x));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue negated, op.create<NegNode>(magnitude));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue power, op.create<ExpNode>(negated));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue sum, op.create<AddNode>(power, one));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue tail, op.create<LogNode>(sum));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue head, op.create<ReluNode>(x));
  return op.create<AddNode>(head, tail);
}

static llvm::Error importSoftplus(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  return op.setOutput(0, makeSoftplus(op, x));
}

/// alpha * softplus(beta * x), removed from ONNX.
static llvm::Error importParametricSoftplus(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(double alpha, op.getFloat("alpha", 1));
  GLOWISH_ASSIGN_OR_RETURN(double beta, op.getFloat("beta", 1));
  Composer c(op);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scaled, c.finish(c.mul(x, beta)));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue softplus, makeSoftplus(op, scaled));
  return c.setOutput(0, c.mul(softplus, alpha));
}

/// alpha * tanh(beta * x), removed from ONNX.
static llvm::Error importScaledTanh(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(double alpha, op.getFloat("alpha", 1));
  GLOWISH_ASSIGN_OR_RETURN(double beta, op.getFloat("beta", 1));
  Composer c(op);
  return c.setOutput(0, c.mul(c.unary<TanhNode>(c.mul(x, beta)), alpha));
}

static llvm::Error importMish(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue gate, makeSoftplus(op, x));
  GLOWISH_ASSIGN_OR_RETURN(gate, op.create<TanhNode>(gate));
  return op.setOutput(0, op.create<MulNode>(x, gate));
}

static llvm::Error importSoftsign(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  Composer c(op);
  return c.setOutput(0, c.div(x, c.add(c.unary<AbsNode>(x), 1)));
}

/// x * sigmoid(alpha * x).
static llvm::Error importSwish(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(double alpha, op.getFloat("alpha", 1));
  if (alpha == 1)
    return op.setOutput(0, op.create<SiluNode>(x));
  return op.setOutput(0, op.create<SwishNode>(x, alpha));
}

/// x if it is greater than alpha, else 0.
static llvm::Error importThresholdedRelu(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(double alpha, op.getFloat("alpha", 1));
  NodeValue bound = op.createScalar(x.getElemKind(), alpha);
  NodeValue zero = op.createScalar(x.getElemKind(), 0);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue isAbove, op.create<GreaterNode>(x, bound));
  return op.setOutput(0, op.create<SelectNode>(isAbove, x, zero));
}

/// alpha * (e^(x / alpha) - 1) for negative x, else x: Elu of x / alpha.
static llvm::Error importCelu(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(double alpha, op.getFloat("alpha", 1));
  NodeValue divisor = op.createScalar(x.getElemKind(), alpha);
  NodeValue zero = op.createScalar(x.getElemKind(), 0);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scaled, op.create<DivNode>(x, divisor));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue below, op.create<EluNode>(scaled, alpha));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue isBelow, op.create<LessNode>(x, zero));
  return op.setOutput(0, op.create<SelectNode>(isBelow, below, x));
}

/// x + bias below -lambd, x - bias above lambd, 0 in between.
static llvm::Error importShrink(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(double bias, op.getFloat("bias", 0));
  GLOWISH_ASSIGN_OR_RETURN(double lambd, op.getFloat("lambd", 0.5));
  ElemKind kind = x.getElemKind();
  auto scalar = [&](double value) { return op.createScalar(kind, value); };
  GLOWISH_ASSIGN_OR_RETURN(NodeValue isBelow,
                           op.create<LessNode>(x, scalar(-lambd)));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue isAbove,
                           op.create<GreaterNode>(x, scalar(lambd)));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue raised,
                           op.create<AddNode>(x, scalar(bias)));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue lowered,
                           op.create<SubNode>(x, scalar(bias)));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue outer,
                           op.create<SelectNode>(isAbove, lowered, scalar(0)));
  return op.setOutput(0, op.create<SelectNode>(isBelow, raised, outer));
}

/// x / 2 * (1 + erf(x / sqrt(2))), or its approximation with tanh(sqrt(2 / pi)
/// * (x + 0.044715 x^3)).
static llvm::Error importGelu(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(std::string approximate,
                           op.getString("approximate", "none"));
  if (approximate != "none" && approximate != "tanh")
    return makeError("attribute 'approximate' is '{0}'; accepted: none, tanh",
                     approximate);
  if (approximate == "none")
    return op.setOutput(0, op.create<GeluNode>(x));
  return op.setOutput(0, op.create<GeluTanhNode>(x));
}

static OnnxOperator softplusOp("Softplus", 1, elementWise<importSoftplus>);
static OnnxOperator parametricSoftplusOp("ParametricSoftplus", 1,
                                         elementWise<importParametricSoftplus>);
static OnnxOperator scaledTanhOp("ScaledTanh", 1,
                                 elementWise<importScaledTanh>);
static OnnxOperator mishOp("Mish", 18, elementWise<importMish>);
static OnnxOperator softsignOp("Softsign", 1, elementWise<importSoftsign>);
static OnnxOperator swishOp("Swish", 24, elementWise<importSwish>);
static OnnxOperator thresholdedReluOp("ThresholdedRelu", 1,
                                      elementWise<importThresholdedRelu>);
static OnnxOperator celuOp("Celu", 12, elementWise<importCelu>);
static OnnxOperator shrinkOp("Shrink", 9, elementWise<importShrink>);
static OnnxOperator geluOp("Gelu", 20, elementWise<importGelu>);
