//===- Activations.cpp - Activations made of several nodes ----------------===//

#include "ONNX/Extents.h"

using namespace glowish;

/// log(1 + e^x) as max(x, 0) + log(1 + e^-|x|), which does not overflow.
static llvm::Expected<NodeValue> makeSoftplus(OpContext &op, NodeValue x) {
  NodeValue one = op.createScalar(x.getElemKind(), 1);
  GLOWISH_TRY(NodeValue magnitude, op.create<AbsNode>(x));
  GLOWISH_TRY(NodeValue negated, op.create<NegNode>(magnitude));
  GLOWISH_TRY(NodeValue power, op.create<ExpNode>(negated));
  GLOWISH_TRY(NodeValue sum, op.create<AddNode>(power, one));
  GLOWISH_TRY(NodeValue tail, op.create<LogNode>(sum));
  GLOWISH_TRY(NodeValue head, op.create<ReluNode>(x));
  return op.create<AddNode>(head, tail);
}

static llvm::Error importSoftplus(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  return op.setOutput(0, makeSoftplus(op, x));
}

/// alpha * softplus(beta * x), which ONNX has no more.
static llvm::Error importParametricSoftplus(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(double alpha, op.getFloat("alpha", 1));
  GLOWISH_TRY(double beta, op.getFloat("beta", 1));
  Composer c(op);
  GLOWISH_TRY(NodeValue scaled, c.finish(c.mul(x, beta)));
  GLOWISH_TRY(NodeValue softplus, makeSoftplus(op, scaled));
  return c.setOutput(0, c.mul(softplus, alpha));
}

/// alpha * tanh(beta * x), which ONNX has no more.
static llvm::Error importScaledTanh(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(double alpha, op.getFloat("alpha", 1));
  GLOWISH_TRY(double beta, op.getFloat("beta", 1));
  Composer c(op);
  return c.setOutput(0, c.mul(c.unary<TanhNode>(c.mul(x, beta)), alpha));
}

static llvm::Error importMish(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(NodeValue gate, makeSoftplus(op, x));
  GLOWISH_TRY(gate, op.create<TanhNode>(gate));
  return op.setOutput(0, op.create<MulNode>(x, gate));
}

static llvm::Error importSoftsign(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  Composer c(op);
  return c.setOutput(0, c.div(x, c.add(c.unary<AbsNode>(x), 1)));
}

/// x * sigmoid(alpha * x).
static llvm::Error importSwish(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(double alpha, op.getFloat("alpha", 1));
  if (alpha == 1)
    return op.setOutput(0, op.create<SiluNode>(x));
  return op.setOutput(0, op.create<SwishNode>(x, alpha));
}

/// x where it is above alpha, else 0.
static llvm::Error importThresholdedRelu(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(double alpha, op.getFloat("alpha", 1));
  NodeValue bound = op.createScalar(x.getElemKind(), alpha);
  NodeValue zero = op.createScalar(x.getElemKind(), 0);
  GLOWISH_TRY(NodeValue isAbove, op.create<GreaterNode>(x, bound));
  return op.setOutput(0, op.create<SelectNode>(isAbove, x, zero));
}

/// alpha * (e^(x / alpha) - 1) below 0: Elu of x / alpha.
static llvm::Error importCelu(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(double alpha, op.getFloat("alpha", 1));
  NodeValue divisor = op.createScalar(x.getElemKind(), alpha);
  NodeValue zero = op.createScalar(x.getElemKind(), 0);
  GLOWISH_TRY(NodeValue scaled, op.create<DivNode>(x, divisor));
  GLOWISH_TRY(NodeValue below, op.create<EluNode>(scaled, alpha));
  GLOWISH_TRY(NodeValue isBelow, op.create<LessNode>(x, zero));
  return op.setOutput(0, op.create<SelectNode>(isBelow, below, x));
}

/// x + bias below -lambd, x - bias above lambd, else 0.
static llvm::Error importShrink(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(double bias, op.getFloat("bias", 0));
  GLOWISH_TRY(double lambd, op.getFloat("lambd", 0.5));
  ElemKind kind = x.getElemKind();
  auto scalar = [&](double value) { return op.createScalar(kind, value); };
  GLOWISH_TRY(NodeValue isBelow, op.create<LessNode>(x, scalar(-lambd)));
  GLOWISH_TRY(NodeValue isAbove, op.create<GreaterNode>(x, scalar(lambd)));
  GLOWISH_TRY(NodeValue raised, op.create<AddNode>(x, scalar(bias)));
  GLOWISH_TRY(NodeValue lowered, op.create<SubNode>(x, scalar(bias)));
  GLOWISH_TRY(NodeValue outer,
              op.create<SelectNode>(isAbove, lowered, scalar(0)));
  return op.setOutput(0, op.create<SelectNode>(isBelow, raised, outer));
}

/// x / 2 * (1 + erf(x / sqrt 2)), or with tanh of x + 0.044715 x^3.
static llvm::Error importGelu(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(std::string approximate, op.getString("approximate", "none"));
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
