//===- ElementWise.cpp - Element-wise operators ---------------------------===//

#include "Common/ElementWise.h"
#include "ONNX/Extents.h"
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
  int64_t broadcast = op.getInt("broadcast", 0);
  if (!broadcast || !op.hasAttr("axis")) {
    op.ignoreAttrs({"axis"});
    return rhs;
  }
  // A scalar may be aligned after the last dimension.
  int64_t axis = op.getInt("axis", 0);
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

/// Imports an operator that a record names, and whose attributes have the
/// values \p defaults where the model leaves them out.
static llvm::Error importRecord(OpContext &op, NodeKind kind,
                                llvm::ArrayRef<double> defaults) {
  std::vector<NodeValue> operands;
  for (unsigned i = 0; i < getNodeInfo(kind).operands.size(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(i));
    operands.push_back(x);
  }
  if (operands.size() == 2) {
    GLOWISH_ASSIGN_OR_RETURN(operands[1],
                             alignLegacy(op, operands[0], operands[1]));
  }
  return op.setOutput(0, op.makeRecorded(kind, operands, defaults));
}

/// Imports the ONNX operator of \p kind. It is specialized for those of which
/// ONNX has more inputs, other kinds or other defaults than the record.
template <NodeKind kind>
static llvm::Error importSame(OpContext &op, llvm::ArrayRef<double> defaults) {
  return importRecord(op, kind, defaults);
}

/// The kinds of base and exponent may differ since opset 12; the result has
/// that of the base.
template <>
llvm::Error importSame<NodeKind::Pow>(OpContext &op, llvm::ArrayRef<double>) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue x, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue y, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(y, alignLegacy(op, x, y));
  return op.setOutput(0, makePower(op, x, y));
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
        op.scalar(result.getElemKind(), double(op.getNumInputs()));
    GLOWISH_ASSIGN_OR_RETURN(result, op.create<DivNode>(result, count));
  }
  return op.setOutput(0, result);
}
template <>
llvm::Error importSame<NodeKind::Max>(OpContext &op, llvm::ArrayRef<double>) {
  return importVariadic<MaxNode>(op);
}
template <>
llvm::Error importSame<NodeKind::Min>(OpContext &op, llvm::ArrayRef<double>) {
  return importVariadic<MinNode>(op);
}

/// The defaults had fewer digits before opset 6.
template <>
llvm::Error importSame<NodeKind::Selu>(OpContext &op,
                                       llvm::ArrayRef<double> defaults) {
  const double old[] = {1.6732, 1.0507};
  return importRecord(op, NodeKind::Selu, op.getOpset() < 6 ? old : defaults);
}

static llvm::Error importRelu(OpContext &op) {
  return importRecord(op, NodeKind::Relu, {});
}

/// The slope has one value per channel; its shape is [C] before opset 7.
static llvm::Error importPRelu(OpContext &op, NodeValue x, NodeValue slope) {
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
static llvm::Error importClip(OpContext &op, NodeValue x) {
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
      bounds[i] = op.getFloat(names[i], bounds[i]);
      continue;
    }
    if (!op.hasInput(i + 1))
      continue;
    GLOWISH_ASSIGN_OR_RETURN(NodeValue bound, op.getInput(i + 1));
    auto *constant = bound.getNodeAs<Constant>();
    if (bound.getElemKind() != x.getElemKind())
      return op.refuseInput(i + 1, getElemKindName(x.getElemKind()));
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

/// Exclusive or of bools: inequality.
static llvm::Error importXor(OpContext &op, NodeValue x, NodeValue y) {
  GLOWISH_ASSIGN_OR_RETURN(y, alignLegacy(op, x, y));
  if (x.getElemKind() != ElemKind::Bool)
    return op.refuseInput(0, "bool");
  return op.setOutput(0, op.unary<NotNode>(op.equal(x, y)));
}

/// Only NaN is not equal to itself.
static llvm::Error importIsNaN(OpContext &op, NodeValue x) {
  return op.setOutput(0, op.unary<NotNode>(op.equal(x, x)));
}

static llvm::Error importIsInf(OpContext &op, NodeValue x) {
  int64_t negative = op.getInt("detect_negative", 1);
  int64_t positive = op.getInt("detect_positive", 1);
  if (!isFloatKind(x.getElemKind()))
    return op.refuseInput(0, "a float kind");
  double inf = std::numeric_limits<double>::infinity();
  // Comparing with NaN is always false.
  NodeValue bound =
      op.scalar(x.getElemKind(), !negative && !positive
                                     ? std::numeric_limits<double>::quiet_NaN()
                                 : positive ? inf
                                            : -inf);
  if (negative && positive) {
    GLOWISH_ASSIGN_OR_RETURN(x, op.createHelper<AbsNode>(".magnitude", x));
  }
  return op.setOutput(0, op.create<EqualNode>(x, bound));
}

/// What divisions leave: rounded towards 0 with `fmod`, else down.
static llvm::Error importMod(OpContext &op, NodeValue x, NodeValue y) {
  int64_t fmod = op.getInt("fmod", 0);
  ElemKind kind = x.getElemKind();
  if (!isIntegerKind(kind) && !(fmod && isFloatKind(kind)))
    return makeError("input 0 is {0}, 'fmod' {1}; accepted: an integer kind, "
                     "or a float kind with fmod",
                     x.getType().str(), fmod);
  return op.setOutput(0, fmod ? getTruncatedRest(op, x, y)
                              : getFlooredRest(op, x, y));
}

static const OnnxOperator sameOperators[] = {
#define ONNX_ELEMENT_WISE(NAME, ONNX, SINCE, ...)                              \
  {ONNX, SINCE, elementWise<+[](OpContext &op) {                               \
     return importSame<NodeKind::NAME>(op, {__VA_ARGS__});                     \
   }>},
#define GET_ONNX_ELEMENT_WISE_LIST
#include "glowish/Graph/NodeFunctions.inc"
};

static OnnxOperator reluOp("Relu", 1, elementWise<importRelu>);
static OnnxOperator sumOp("Sum", 1, elementWise<importVariadic<AddNode>>);
static OnnxOperator meanOp("Mean", 1, elementWise<importVariadic<AddNode>>);
static OnnxOperator preluOp("PRelu", 1, elementWise<importPRelu>);
static OnnxOperator clipOp("Clip", 1, elementWise<importClip>);
static OnnxOperator xorOp("Xor", 1, elementWise<importXor>);
static OnnxOperator isNaNOp("IsNaN", 9, elementWise<importIsNaN>);
static OnnxOperator isInfOp("IsInf", 10, elementWise<importIsInf>);
static OnnxOperator modOp("Mod", 10, elementWise<importMod>);
