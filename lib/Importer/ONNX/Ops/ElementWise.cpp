//===- ElementWise.cpp - Element-wise operators ---------------------------===//

#include "ONNX/OpContext.h"

using namespace glowish;

/// Broadcasting before opset 7: with `broadcast`, the second operand's
/// dimensions begin at dimension `axis` of the first.
static llvm::Expected<NodeValue> alignLegacy(OpContext &op, NodeValue lhs,
                                             NodeValue rhs) {
  GLOWISH_TRY(int64_t broadcast, op.getInt("broadcast", 0));
  if (op.getOpset() >= 7 || !broadcast || !op.hasAttr("axis"))
    return rhs;
  unsigned rank = lhs.getShape().size();
  GLOWISH_TRY(int64_t axis, op.getAxis("axis", 0, rank));
  Dims shape(rhs.getShape());
  if (axis + shape.size() > rank)
    return makeError("attribute 'axis' is {0}: the second operand does not fit "
                     "into rank {1}",
                     axis, rank);
  shape.append(rank - axis - shape.size(), 1);
  return op.reshape(rhs, shape);
}

template <typename T> static llvm::Error importUnary(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  return op.setOutput(0, op.create<T>(x));
}

template <typename T> static llvm::Error importBinary(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(NodeValue y, op.getInput(1));
  GLOWISH_TRY(y, alignLegacy(op, x, y));
  return op.setOutput(0, op.create<T>(x, y));
}

/// Sum, Max, Min, Mean of any number of operands.
template <typename T> static llvm::Error importVariadic(OpContext &op) {
  GLOWISH_TRY(NodeValue result, op.getInput(0));
  for (unsigned i = 1; i < op.getNumInputs(); ++i) {
    GLOWISH_TRY(NodeValue next, op.getInput(i));
    GLOWISH_TRY(result, op.create<T>(result, next));
  }
  if (op.getOpType() == "Mean") {
    NodeValue count =
        op.createScalar(result.getElemKind(), double(op.getNumInputs()));
    GLOWISH_TRY(result, op.create<DivNode>(result, count));
  }
  return op.setOutput(0, result);
}

/// A unary operator with the Float attribute `alpha`.
template <typename T> struct WithAlpha {
  template <int Percent> static llvm::Error import(OpContext &op) {
    GLOWISH_TRY(NodeValue x, op.getInput(0));
    GLOWISH_TRY(double alpha, op.getFloat("alpha", Percent / 100.0));
    return op.setOutput(0, op.create<T>(x, alpha));
  }
};

static llvm::Error importHardSigmoid(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(double alpha, op.getFloat("alpha", 0.2));
  GLOWISH_TRY(double beta, op.getFloat("beta", 0.5));
  return op.setOutput(0, op.create<HardSigmoidNode>(x, alpha, beta));
}

static llvm::Error importSelu(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(double alpha, op.getFloat("alpha", 1.67326319217681884765625));
  GLOWISH_TRY(double gamma, op.getFloat("gamma", 1.05070102214813232421875));
  return op.setOutput(0, op.create<SeluNode>(x, alpha, gamma));
}

/// Clip's bounds: attributes before opset 11, inputs since then, which need
/// not be constants.
static llvm::Error importClip(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  double inf = std::numeric_limits<double>::infinity();
  double bounds[2] = {-inf, inf};
  const char *names[2] = {"min", "max"};
  for (unsigned i = 0; i < 2; ++i) {
    if (op.getOpset() < 11) {
      GLOWISH_TRY(bounds[i], op.getFloat(names[i], bounds[i]));
      continue;
    }
    if (!op.hasInput(i + 1))
      continue;
    GLOWISH_TRY(NodeValue bound, op.getInput(i + 1));
    auto *constant = bound.getNodeAs<Constant>();
    if (constant && bound.getType().getNumElements() == 1) {
      bounds[i] = constant->getTensor().getAsDouble(0);
      continue;
    }
    GLOWISH_TRY(x, i == 0 ? op.create<MaxNode>(x, bound)
                          : op.create<MinNode>(x, bound));
  }
  if (bounds[0] == -inf && bounds[1] == inf)
    return op.setOutput(0, x);
  return op.setOutput(0, op.create<ClipNode>(x, bounds[0], bounds[1]));
}

/// PRelu's slope has one value a channel: before opset 7 its shape is [C].
static llvm::Error importPRelu(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  GLOWISH_TRY(NodeValue slope, op.getInput(1));
  unsigned rank = x.getShape().size();
  if (op.getOpset() < 7 && slope.getShape().size() == 1 && rank > 2) {
    Dims shape(slope.getShape());
    shape.append(rank - 2, 1);
    GLOWISH_TRY(slope, op.reshape(slope, shape));
  }
  return op.setOutput(0, op.create<PReluNode>(x, slope));
}

static llvm::Error importWhere(OpContext &op) {
  GLOWISH_TRY(NodeValue condition, op.getInput(0));
  GLOWISH_TRY(NodeValue x, op.getInput(1));
  GLOWISH_TRY(NodeValue y, op.getInput(2));
  return op.setOutput(0, op.create<SelectNode>(condition, x, y));
}

/// log(1 + e^x) as max(x, 0) + log(1 + e^-|x|), which does not overflow.
static llvm::Error importSoftplus(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  NodeValue one = op.createScalar(x.getElemKind(), 1);
  GLOWISH_TRY(NodeValue magnitude, op.create<AbsNode>(x));
  GLOWISH_TRY(NodeValue negated, op.create<NegNode>(magnitude));
  GLOWISH_TRY(NodeValue power, op.create<ExpNode>(negated));
  GLOWISH_TRY(NodeValue sum, op.create<AddNode>(power, one));
  GLOWISH_TRY(NodeValue tail, op.create<LogNode>(sum));
  GLOWISH_TRY(NodeValue head, op.create<ReluNode>(x));
  return op.setOutput(0, op.create<AddNode>(head, tail));
}

static llvm::Error importSoftsign(OpContext &op) {
  GLOWISH_TRY(NodeValue x, op.getInput(0));
  NodeValue one = op.createScalar(x.getElemKind(), 1);
  GLOWISH_TRY(NodeValue magnitude, op.create<AbsNode>(x));
  GLOWISH_TRY(NodeValue sum, op.create<AddNode>(magnitude, one));
  return op.setOutput(0, op.create<DivNode>(x, sum));
}

static OnnxOperator absOp("Abs", 1, importUnary<AbsNode>);
static OnnxOperator negOp("Neg", 1, importUnary<NegNode>);
static OnnxOperator reluOp("Relu", 1, importUnary<ReluNode>);
static OnnxOperator signOp("Sign", 9, importUnary<SignNode>);
static OnnxOperator expOp("Exp", 1, importUnary<ExpNode>);
static OnnxOperator logOp("Log", 1, importUnary<LogNode>);
static OnnxOperator sqrtOp("Sqrt", 1, importUnary<SqrtNode>);
static OnnxOperator reciprocalOp("Reciprocal", 1, importUnary<ReciprocalNode>);
static OnnxOperator floorOp("Floor", 1, importUnary<FloorNode>);
static OnnxOperator ceilOp("Ceil", 1, importUnary<CeilNode>);
static OnnxOperator roundOp("Round", 11, importUnary<RoundNode>);
static OnnxOperator tanhOp("Tanh", 1, importUnary<TanhNode>);
static OnnxOperator erfOp("Erf", 9, importUnary<ErfNode>);
static OnnxOperator sigmoidOp("Sigmoid", 1, importUnary<SigmoidNode>);
static OnnxOperator hardSwishOp("HardSwish", 14, importUnary<HardSwishNode>);
static OnnxOperator notOp("Not", 1, importUnary<NotNode>);
static OnnxOperator addOp("Add", 1, importBinary<AddNode>);
static OnnxOperator subOp("Sub", 1, importBinary<SubNode>);
static OnnxOperator mulOp("Mul", 1, importBinary<MulNode>);
static OnnxOperator divOp("Div", 1, importBinary<DivNode>);
static OnnxOperator powOp("Pow", 1, importBinary<PowNode>);
static OnnxOperator equalOp("Equal", 1, importBinary<EqualNode>);
static OnnxOperator lessOp("Less", 1, importBinary<LessNode>);
static OnnxOperator greaterOp("Greater", 1, importBinary<GreaterNode>);
static OnnxOperator lessOrEqualOp("LessOrEqual", 12,
                                  importBinary<LessOrEqualNode>);
static OnnxOperator greaterOrEqualOp("GreaterOrEqual", 12,
                                     importBinary<GreaterOrEqualNode>);
static OnnxOperator andOp("And", 1, importBinary<AndNode>);
static OnnxOperator orOp("Or", 1, importBinary<OrNode>);
static OnnxOperator sumOp("Sum", 1, importVariadic<AddNode>);
static OnnxOperator meanOp("Mean", 1, importVariadic<AddNode>);
static OnnxOperator maxOp("Max", 1, importVariadic<MaxNode>);
static OnnxOperator minOp("Min", 1, importVariadic<MinNode>);
static OnnxOperator leakyReluOp("LeakyRelu", 1,
                                WithAlpha<LeakyReluNode>::import<1>);
static OnnxOperator eluOp("Elu", 1, WithAlpha<EluNode>::import<100>);
static OnnxOperator hardSigmoidOp("HardSigmoid", 1, importHardSigmoid);
static OnnxOperator seluOp("Selu", 1, importSelu);
static OnnxOperator clipOp("Clip", 1, importClip);
static OnnxOperator preluOp("PRelu", 1, importPRelu);
static OnnxOperator whereOp("Where", 9, importWhere);
static OnnxOperator softplusOp("Softplus", 1, importSoftplus);
static OnnxOperator softsignOp("Softsign", 1, importSoftsign);
