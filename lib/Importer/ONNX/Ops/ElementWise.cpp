//===- ElementWise.cpp - Element-wise operators ---------------------------===//

#include "Common/ElementWise.h"
#include "ONNX/DynamicDims.h"
#include "glowish/Base/CheckedInt.h"
#include "glowish/Base/ElemRange.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

/// Broadcasting before opset 7: with `broadcast`, the dimensions of the second
/// operand begin at dimension `axis` of the first.
static llvm::Expected<NodeValue> alignLegacy(OpContext &op, NodeValue lhs,
                                             NodeValue rhs) {
  if (op.getOpset() >= 7)
    return rhs;
  unsigned rank = lhs.getShape().size();
  GLOWISH_ASSIGN_OR_RETURN(int64_t broadcast, op.getInt("broadcast", 0));
  if (!broadcast || !op.hasAttr("axis")) {
    op.ignoreAttrs({"axis"});
    return rhs;
  }
  // A scalar may be aligned after the last dimension.
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getInt("axis", 0));
  if (axis < 0)
    axis += rank;
  Dims shape(rhs.getShape());
  if (axis < 0 || !(CheckedInt(axis) + shape.size()).isBetween(0, rank))
    return makeError("attribute 'axis' is {0}: the second operand {1} does not "
                     "fit into {2}",
                     axis, rhs.getType().str(), lhs.getType().str());
  shape.append(rank - axis - shape.size(), 1);
  return op.reshape(rhs, shape, ".aligned");
}

template <typename T> static llvm::Error importUnary(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  return op.setOutput(0, op.create<T>(x));
}

template <typename T> static llvm::Error importBinary(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue y, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(y, alignLegacy(op, x, y));
  return op.setOutput(0, op.create<T>(x, y));
}

/// The kinds of base and exponent may differ since opset 12; the result has
/// that of the base.
static llvm::Error importPow(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue y, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(y, alignLegacy(op, x, y));
  Composer c(op);
  return c.setOutput(0, makePower(c, x, y));
}

/// Sum, Max, Min and Mean of any number of operands.
template <typename T> static llvm::Error importVariadic(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, op.getInput(0));
  for (unsigned i = 1; i < op.getNumInputs(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue next, op.getInput(i));
    GLOWISH_ASSIGN_OR_RETURN(result, op.create<T>(result, next));
  }
  if (op.getOpType() == "Mean") {
    NodeValue count =
        op.createScalar(result.getElemKind(), double(op.getNumInputs()));
    GLOWISH_ASSIGN_OR_RETURN(result, op.create<DivNode>(result, count));
  }
  return op.setOutput(0, result);
}

/// A unary operator with the Float attribute `alpha`.
template <typename T> struct WithAlpha {
  template <int Percent> static llvm::Error import(OpContext &op) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
    GLOWISH_ASSIGN_OR_RETURN(double alpha,
                             op.getFloat("alpha", Percent / 100.0));
    return op.setOutput(0, op.create<T>(x, alpha));
  }
};

static llvm::Error importHardSigmoid(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(double alpha, op.getFloat("alpha", 0.2));
  GLOWISH_ASSIGN_OR_RETURN(double beta, op.getFloat("beta", 0.5));
  return op.setOutput(0, op.create<HardSigmoidNode>(x, alpha, beta));
}

static llvm::Error importSelu(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  // The defaults had fewer digits before opset 6.
  bool isOld = op.getOpset() < 6;
  GLOWISH_ASSIGN_OR_RETURN(
      double alpha,
      op.getFloat("alpha", isOld ? 1.6732 : 1.67326319217681884765625));
  GLOWISH_ASSIGN_OR_RETURN(
      double gamma,
      op.getFloat("gamma", isOld ? 1.0507 : 1.05070102214813232421875));
  return op.setOutput(0, op.create<SeluNode>(x, alpha, gamma));
}

/// The slope has one value per channel; its shape is [C] before opset 7.
static llvm::Error importPRelu(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue slope, op.getInput(1));
  unsigned rank = x.getShape().size();
  if (op.getOpset() < 7 && slope.getShape().size() == 1 && rank > 2) {
    Dims shape(slope.getShape());
    shape.append(rank - 2, 1);
    GLOWISH_ASSIGN_OR_RETURN(slope, op.reshape(slope, shape, ".aligned"));
  }
  return op.setOutput(0, op.create<PReluNode>(x, slope));
}

/// The bounds are attributes before opset 11; then they are inputs, which may
/// be computed. From opset 6 the attributes are the least and the largest float
/// by default, so that infinities are clipped.
static llvm::Error importClip(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  double inf = std::numeric_limits<double>::infinity();
  double bounds[2] = {-inf, inf};
  const char *names[2] = {"min", "max"};
  if (op.getOpset() >= 6 && op.getOpset() < 11) {
    ElemRange floats = getFiniteRange(ElemKind::Float);
    bounds[0] = floats.low;
    bounds[1] = floats.high;
  }
  for (unsigned i = 0; i < 2; ++i) {
    if (op.getOpset() < 11) {
      GLOWISH_ASSIGN_OR_RETURN(bounds[i], op.getFloat(names[i], bounds[i]));
      continue;
    }
    if (!op.hasInput(i + 1))
      continue;
    GLOWISH_ASSIGN_OR_RETURN(NodeValue bound, op.getInput(i + 1));
    auto *constant = bound.getNodeAs<Constant>();
    if (bound.getElemKind() != x.getElemKind())
      return makeError("input {0} is {1}; accepted: {2}", i + 1,
                       bound.getType().str(), getElemKindName(x.getElemKind()));
    if (constant && bound.getType().getNumElements() == 1) {
      double value = constant->getTensor().getAsDouble(0);
      // The node's bounds are doubles, which do not have all integers.
      if (isFloatKind(x.getElemKind()) || std::abs(value) < 0x1p53) {
        bounds[i] = value;
        continue;
      }
    }
    GLOWISH_ASSIGN_OR_RETURN(x, i == 0 ? op.create<MaxNode>(x, bound)
                                       : op.create<MinNode>(x, bound));
  }
  if (bounds[0] == -inf && bounds[1] == inf)
    return op.setOutput(0, x);
  return op.setOutput(0, op.create<ClipNode>(x, bounds[0], bounds[1]));
}

static llvm::Error importWhere(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue condition, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue y, op.getInput(2));
  return op.setOutput(0, op.create<SelectNode>(condition, x, y));
}

/// Exclusive or of bools: inequality.
static llvm::Error importXor(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue y, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(y, alignLegacy(op, x, y));
  if (x.getElemKind() != ElemKind::Bool)
    return makeError("input 0 is {0}; accepted: bool", x.getType().str());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue equal,
                           op.createHelper<EqualNode>(".equal", x, y));
  return op.setOutput(0, op.create<NotNode>(equal));
}

/// Only NaN is not equal to itself.
static llvm::Error importIsNaN(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue equal,
                           op.createHelper<EqualNode>(".equal", x, x));
  return op.setOutput(0, op.create<NotNode>(equal));
}

static llvm::Error importIsInf(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t negative, op.getInt("detect_negative", 1));
  GLOWISH_ASSIGN_OR_RETURN(int64_t positive, op.getInt("detect_positive", 1));
  if (!isFloatKind(x.getElemKind()))
    return makeError("input 0 is {0}; accepted: a float kind",
                     x.getType().str());
  double inf = std::numeric_limits<double>::infinity();
  // Comparing with NaN is always false.
  NodeValue bound = op.createScalar(
      x.getElemKind(), !negative && !positive
                           ? std::numeric_limits<double>::quiet_NaN()
                       : positive ? inf
                                  : -inf);
  if (negative && positive) {
    GLOWISH_ASSIGN_OR_RETURN(x, op.createHelper<AbsNode>(".magnitude", x));
  }
  return op.setOutput(0, op.create<EqualNode>(x, bound));
}

/// What divisions leave: rounded towards 0 with `fmod`, else down.
static llvm::Error importMod(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue y, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(int64_t fmod, op.getInt("fmod", 0));
  ElemKind kind = x.getElemKind();
  if (!isIntegerKind(kind) && !(fmod && isFloatKind(kind)))
    return makeError("input 0 is {0}, 'fmod' {1}; accepted: an integer kind, "
                     "or a float kind with fmod",
                     x.getType().str(), fmod);
  Composer c(op);
  return c.setOutput(0, fmod ? getTruncatedRest(c, x, y)
                             : getFlooredRest(c, x, y));
}

static OnnxOperator absOp("Abs", 1, elementWise<importUnary<AbsNode>>);
static OnnxOperator negOp("Neg", 1, elementWise<importUnary<NegNode>>);
static OnnxOperator signOp("Sign", 9, elementWise<importUnary<SignNode>>);
static OnnxOperator expOp("Exp", 1, elementWise<importUnary<ExpNode>>);
static OnnxOperator logOp("Log", 1, elementWise<importUnary<LogNode>>);
static OnnxOperator sqrtOp("Sqrt", 1, elementWise<importUnary<SqrtNode>>);
static OnnxOperator reciprocalOp("Reciprocal", 1,
                                 elementWise<importUnary<ReciprocalNode>>);
static OnnxOperator floorOp("Floor", 1, elementWise<importUnary<FloorNode>>);
static OnnxOperator ceilOp("Ceil", 1, elementWise<importUnary<CeilNode>>);
static OnnxOperator roundOp("Round", 11, elementWise<importUnary<RoundNode>>);
static OnnxOperator reluOp("Relu", 1, elementWise<importUnary<ReluNode>>);
static OnnxOperator tanhOp("Tanh", 1, elementWise<importUnary<TanhNode>>);
static OnnxOperator sigmoidOp("Sigmoid", 1,
                              elementWise<importUnary<SigmoidNode>>);
static OnnxOperator hardSwishOp("HardSwish", 14,
                                elementWise<importUnary<HardSwishNode>>);
static OnnxOperator erfOp("Erf", 9, elementWise<importUnary<ErfNode>>);
static OnnxOperator sinOp("Sin", 7, elementWise<importUnary<SinNode>>);
static OnnxOperator cosOp("Cos", 7, elementWise<importUnary<CosNode>>);
static OnnxOperator tanOp("Tan", 7, elementWise<importUnary<TanNode>>);
static OnnxOperator asinOp("Asin", 7, elementWise<importUnary<AsinNode>>);
static OnnxOperator acosOp("Acos", 7, elementWise<importUnary<AcosNode>>);
static OnnxOperator atanOp("Atan", 7, elementWise<importUnary<AtanNode>>);
static OnnxOperator sinhOp("Sinh", 9, elementWise<importUnary<SinhNode>>);
static OnnxOperator coshOp("Cosh", 9, elementWise<importUnary<CoshNode>>);
static OnnxOperator asinhOp("Asinh", 9, elementWise<importUnary<AsinhNode>>);
static OnnxOperator acoshOp("Acosh", 9, elementWise<importUnary<AcoshNode>>);
static OnnxOperator atanhOp("Atanh", 9, elementWise<importUnary<AtanhNode>>);
static OnnxOperator notOp("Not", 1, elementWise<importUnary<NotNode>>);
static OnnxOperator addOp("Add", 1, elementWise<importBinary<AddNode>>);
static OnnxOperator subOp("Sub", 1, elementWise<importBinary<SubNode>>);
static OnnxOperator mulOp("Mul", 1, elementWise<importBinary<MulNode>>);
static OnnxOperator divOp("Div", 1, elementWise<importBinary<DivNode>>);
static OnnxOperator powOp("Pow", 1, elementWise<importPow>);
static OnnxOperator equalOp("Equal", 1, elementWise<importBinary<EqualNode>>);
static OnnxOperator lessOp("Less", 1, elementWise<importBinary<LessNode>>);
static OnnxOperator greaterOp("Greater", 1,
                              elementWise<importBinary<GreaterNode>>);
static OnnxOperator lessOrEqualOp("LessOrEqual", 12,
                                  elementWise<importBinary<LessOrEqualNode>>);
static OnnxOperator
    greaterOrEqualOp("GreaterOrEqual", 12,
                     elementWise<importBinary<GreaterOrEqualNode>>);
static OnnxOperator andOp("And", 1, elementWise<importBinary<AndNode>>);
static OnnxOperator orOp("Or", 1, elementWise<importBinary<OrNode>>);
static OnnxOperator sumOp("Sum", 1, elementWise<importVariadic<AddNode>>);
static OnnxOperator meanOp("Mean", 1, elementWise<importVariadic<AddNode>>);
static OnnxOperator maxOp("Max", 1, elementWise<importVariadic<MaxNode>>);
static OnnxOperator minOp("Min", 1, elementWise<importVariadic<MinNode>>);
static OnnxOperator
    leakyReluOp("LeakyRelu", 1,
                elementWise<WithAlpha<LeakyReluNode>::import <1>>);
static OnnxOperator eluOp("Elu", 1,
                          elementWise<WithAlpha<EluNode>::import <100>>);
static OnnxOperator hardSigmoidOp("HardSigmoid", 1,
                                  elementWise<importHardSigmoid>);
static OnnxOperator seluOp("Selu", 1, elementWise<importSelu>);
static OnnxOperator preluOp("PRelu", 1, elementWise<importPRelu>);
static OnnxOperator clipOp("Clip", 1, elementWise<importClip>);
static OnnxOperator whereOp("Where", 9, elementWise<importWhere>);
static OnnxOperator xorOp("Xor", 1, elementWise<importXor>);
static OnnxOperator isNaNOp("IsNaN", 9, elementWise<importIsNaN>);
static OnnxOperator isInfOp("IsInf", 10, elementWise<importIsInf>);
static OnnxOperator modOp("Mod", 10, elementWise<importMod>);
