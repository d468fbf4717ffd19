//===- ElementWise.cpp - Element-wise operators ---------------------------===//

#include "Common/ElementWise.h"
#include "Caffe2/ElemKinds.h"
#include "Common/EqualExtents.h"
#include "glowish/Base/CheckedInt.h"
#include <limits>

using namespace glowish;
using namespace glowish::caffe2;

//===- One operand --------------------------------------------------------===//

/// Copies, and operators that have an effect only on other devices or in
/// training: each output is the input of the same number.
static llvm::Error importIdentity(NetOp &op) {
  for (unsigned i = 0; i < op.getNumInputs(); ++i)
    GLOWISH_RETURN_IF_ERROR(op.setOutput(i, op.input(i), op.getBlob(i).quant));
  op.ignoreArgs({"scale"}); // of a gradient
  return llvm::Error::success();
}

static llvm::Error importCopy(NetOp &op) {
  return op.setOutput(0, op.input(0), op.getBlob(0).quant);
}

static llvm::Error importSqr(NetOp &op) {
  return op.setOutput(0, op.mul(op.input(0), op.input(0)));
}

static llvm::Error importGelu(NetOp &op) {
  bool isFast = op.getInt("fast_gelu", 0) != 0;
  NodeValue x = op.input(0);
  return op.setOutput(0, isFast ? op.unary<GeluTanhNode>(x)
                                : op.unary<GeluNode>(x));
}

/// log(x / (1 - x)), with x clamped to eps ... 1 - eps.
static llvm::Error importLogit(NetOp &op) {
  double eps = op.getFloat("eps", 1e-6);
  if (!(eps >= 0 && eps <= 0.5))
    return makeError("argument 'eps' is {0}; accepted: 0 to 0.5", eps);
  NodeValue x = op.clip(op.input(0), eps, 1 - eps);
  return op.setOutput(0, makeLogit(op, x));
}

/// The bounds are the least and the largest float by default, so that
/// infinities are clipped.
static llvm::Error importClip(NetOp &op) {
  double largest = std::numeric_limits<float>::max();
  double low = op.getFloat("min", -largest);
  return op.setOutput(0,
                      op.clip(op.input(0), low, op.getFloat("max", largest)));
}

static llvm::Error importScale(NetOp &op) {
  return op.setOutput(0, op.mul(op.input(0), op.getFloat("scale", 1)));
}

static llvm::Error importReplaceNaN(NetOp &op) {
  NodeValue x = op.input(0);
  NodeValue value = op.number(x, op.getFloat("value", 0));
  return op.setOutput(0, op.select(op.equal(x, x), x, value));
}

/// The remainder has the sign of x, or that of the divisor with
/// sign_follow_divisor.
static llvm::Error importMod(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkIntegers(0));
  int64_t divisor = op.getInt("divisor", 0);
  bool followsDivisor = op.getInt("sign_follow_divisor", 0) != 0;
  if (divisor == 0 || std::abs(double(divisor)) > INT32_MAX)
    return makeError("argument 'divisor' is {0}; accepted: -{1} to {1}, not 0",
                     divisor, INT32_MAX);
  NodeValue x = op.input(0);
  NodeValue rest = op.sub(x, op.mul(op.div(x, divisor), divisor));
  if (!followsDivisor || !isSignedIntegerKind(x.getElemKind()))
    return op.setOutput(0, rest);
  NodeValue isOther = divisor > 0 ? op.less(rest, 0) : op.greater(rest, 0);
  return op.setOutput(0, op.select(isOther, op.add(rest, divisor), rest));
}

static llvm::Error importCast(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, readKind(op, "to", ElemKind::Float));
  op.ignoreArgs({"from_type"});
  return op.setOutput(0, op.cast(op.input(0), kind));
}

template <ElemKind From, ElemKind To>
static llvm::Error importConversion(NetOp &op) {
  if (op.input(0).getElemKind() != From)
    return op.refuseInput(0, getElemKindName(From));
  return op.setOutput(0, op.cast(op.input(0), To));
}

/// Kept as a node for training. Output 1, the mask, is used in training only.
static llvm::Error importDropout(NetOp &op) {
  double ratio = op.getFloat("ratio", 0.5);
  NodeValue x = op.input(0);
  if (op.isTraining())
    return op.setOutput(0, op.make<DropoutNode>(x, ratio));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, x));
  if (op.getNumOutputs() < 2)
    return llvm::Error::success();
  op.nameAfterOutput(1);
  return op.setOutput(1, op.splatLike(ElemKind::Bool, x.getType(), 1));
}

//===- Two operands -------------------------------------------------------===//

/// Returns the second operand. If it is an implied weight, it may be absent:
/// one value per index of dimension `axis`.
static llvm::Expected<NodeValue> readSecond(NetOp &op) {
  if (op.input(1))
    return op.input(1);
  DimsRef first = op.input(0).getShape();
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.getAxis("axis", -1, unsigned(first.size())));
  return op.finish(op.weight(1, {first[axis]}));
}

/// Aligns the second operand's dimensions with those of the first from `axis`
/// on; without `axis` they are the last ones.
static llvm::Expected<NodeValue> alignSecond(NetOp &op) {
  DimsRef first = op.input(0).getShape();
  GLOWISH_ASSIGN_OR_RETURN(NodeValue y, readSecond(op));
  op.ignoreArgs({"broadcast", "axis_str"});
  if (op.hasArg("axis_str"))
    return makeError("argument 'axis_str' is not supported; accepted: 'axis'");
  int64_t rank = int64_t(first.size()), own = int64_t(y.getShape().size());
  int64_t axis = op.getInt("axis", -1);
  if (!op.hasArg("axis") || axis == -1 || own >= rank) {
    requireBroadcast(op, op.input(0), y);
    return y;
  }
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || !(CheckedInt(axis) + own).isBetween(0, rank))
    return makeError("argument 'axis' is {0}: the second operand {1} does not "
                     "fit into {2}",
                     axis, y.getType().str(), op.input(0).getType().str());
  Dims shape(y.getShape());
  shape.append(rank - axis - own, 1);
  GLOWISH_ASSIGN_OR_RETURN(y, op.finish(op.reshape(y, shape)));
  requireBroadcast(op, op.input(0), y);
  return y;
}

/// Imports an operator that a record names, and whose attributes have the
/// values \p defaults where the model leaves them out.
static llvm::Error importRecord(NetOp &op, NodeKind kind,
                                llvm::ArrayRef<double> defaults) {
  std::vector<NodeValue> operands = {op.input(0)};
  if (getNodeInfo(kind).operands.size() == 2) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue y, alignSecond(op));
    operands.push_back(y);
  }
  return op.setOutput(0, op.makeRecorded(kind, operands, defaults));
}

static llvm::Error importNotEqual(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue y, alignSecond(op));
  return op.setOutput(0, op.unary<NotNode>(op.equal(op.input(0), y)));
}

/// The exponent is an argument or the second operand.
static llvm::Error importPow(NetOp &op) {
  if (!op.hasInput(1))
    return op.setOutput(0, op.pow(op.input(0), op.getFloat("exponent", 0)));
  return importRecord(op, NodeKind::Pow, {});
}

/// The slope is a scalar or has one value per channel.
static llvm::Error importPRelu(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(bool isNHWC, op.isNHWC());
  NodeValue x = op.input(0), slope = op.input(1);
  size_t rank = x.getShape().size();
  int64_t count = slope.getType().getNumElements();
  bool isOneEach = slope.getShape() == x.getShape();
  if (!isOneEach && slope.getShape().size() > 1)
    return op.refuseInput(1, "one value, or one for each channel");
  if (!isOneEach && count != 1 && rank > 1) {
    Dims shape(rank, 1);
    shape[isNHWC ? rank - 1 : 1] = count;
    slope = op.reshape(slope, shape);
  }
  return op.setOutput(0, op.make<PReluNode>(x, slope));
}

/// Sum, Max, Min and Mean of any number of operands.
template <typename T, bool isMean = false>
static llvm::Error importVariadic(NetOp &op) {
  NodeValue result = op.input(0);
  for (unsigned i = 1; i < op.getNumInputs(); ++i) {
    requireBroadcast(op, op.input(0), op.input(i));
    result = op.make<T>(result, op.input(i));
  }
  if (isMean)
    result = op.div(result, double(op.getNumInputs()));
  return op.setOutput(0, result);
}

static llvm::Error importXor(NetOp &op) {
  if (op.input(0).getElemKind() != ElemKind::Bool)
    return op.refuseInput(0, "bool");
  return importNotEqual(op);
}

//===- Piecewise and power functions --------------------------------------===//

/// X * w + b, where w and b have the extent of dimension `axis`, or of all
/// dimensions from it on.
static llvm::Error importElementwiseLinear(NetOp &op) {
  NodeValue x = op.input(0);
  DimsRef shape = x.getShape();
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.getAxis("axis", 1, shape.size()));
  GLOWISH_RETURN_IF_ERROR(op.checkKnown(0, getDimsFrom(axis, shape.size()),
                                        "w and b have an element for each"));
  for (unsigned i = 1; i < 3; ++i) {
    GLOWISH_RETURN_IF_ERROR(op.checkRank(i, 1));
    GLOWISH_RETURN_IF_ERROR(
        op.checkKnown(i, 0, "input 0 has as many elements"));
    int64_t count = op.input(i).getShape()[0];
    Dims aligned(shape.size(), 1);
    if (count == countElements(shape.drop_front(axis)))
      std::copy(shape.begin() + axis, shape.end(), aligned.begin() + axis);
    else if (count == shape[axis])
      aligned[axis] = count;
    else
      return op.refuseInput(
          i, llvm::formatv("{0} elements, as dimension {1} of input 0 has",
                           shape[axis], axis));
    NodeValue operand = op.reshape(op.input(i), aligned);
    x = i == 1 ? op.mul(x, operand) : op.add(x, operand);
  }
  return op.setOutput(0, x);
}

/// The number of boundaries less than each element.
static llvm::Error importBucketize(NetOp &op) {
  std::vector<double> boundaries = op.getFloats("boundaries");
  if (!llvm::is_sorted(boundaries))
    return makeError("argument 'boundaries' is not ascending");
  NodeValue x = op.input(0);
  int64_t count = int64_t(boundaries.size());
  NodeValue steps = op.table(x.getElemKind(), {count}, [&](DimsRef index) {
    return boundaries[index[0]];
  });
  int64_t rank = int64_t(x.getShape().size());
  NodeValue isAbove = op.greater(op.unsqueeze(x, rank), steps);
  return op.setOutput(
      0, op.reduce(op.cast(isAbove, ElemKind::Int32), "sum", {rank}, false));
}

/// Box and Cox, An Analysis of Transformations, 1964: ((x + l2)^l1 - 1) / l1,
/// or log(x + l2) if l1 is 0, where x + l2 is clamped to at least 1e-6.
static llvm::Error importBatchBoxCox(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 2));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 1));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(2, 1));
  op.ignoreArgs({"min_block_size"});
  constexpr double tiny = 1e-6;
  NodeValue exponent = op.input(1);
  NodeValue base = op.max(op.add(op.input(0), op.input(2)), tiny);
  NodeValue isLog = op.lessOrEqual(op.unary<AbsNode>(exponent), tiny);
  NodeValue divisor = op.select(isLog, op.number(exponent, 1), exponent);
  NodeValue power = op.div(op.sub(op.pow(base, divisor), 1), divisor);
  return op.setOutput(0, op.select(isLog, op.unary<LogNode>(base), power));
}

//===- Registrations ------------------------------------------------------===//

static constexpr NetOpTraits anyBlob{.isQuantized = true};
static constexpr NetOpTraits anyBlobs{.inputs = {1, manyInputs},
                                      .isQuantized = true};

// Caffe's Scale layer and its bias are converted to Mul and Add with an axis.
static constexpr NetOpTraits scaleOrBias{
    .inputs = 2, .firstImplied = 1, .impliedBy = "axis"};

/// Returns the traits of an operator that the record of \p kind names.
static NetOpTraits getTraits(NodeKind kind, unsigned numOperands) {
  if (kind == NodeKind::Add || kind == NodeKind::Mul)
    return scaleOrBias;
  return {.inputs = numOperands};
}

static const Caffe2Operators sameOperators = {
#define CAFFE2_ELEMENT_WISE(NAME, CAFFE2, NUM_OPERANDS, ...)                   \
  {CAFFE2,                                                                     \
   [](NetOp &op) { return importRecord(op, NodeKind::NAME, {__VA_ARGS__}); },  \
   getTraits(NodeKind::NAME, NUM_OPERANDS)},
#define GET_CAFFE2_ELEMENT_WISE_LIST
#include "glowish/Graph/NodeFunctions.inc"
};

static const Caffe2Operators operators = {
    {"Sqr", importSqr},
    {"Gelu", importGelu},
    {"Logit", importLogit},
    {"Clip", importClip},
    {"Scale", importScale},
    {"ReplaceNaN", importReplaceNaN},
    {"Mod", importMod},
    {"Cast", importCast},
    {"HalfToFloat", importConversion<ElemKind::Float16, ElemKind::Float>},
    {"FloatToHalf", importConversion<ElemKind::Float, ElemKind::Float16>},
    {"Dropout", importDropout},
    {"Alias", importCopy, anyBlob},
    {"Identity", importCopy, anyBlob},
    {"Copy", importCopy, anyBlobs},
    {"CopyCPUToMKL", importCopy, anyBlob},
    {"CopyMKLToCPU", importCopy, anyBlob},
    {"EnsureCPUOutput", importCopy, anyBlob},
    {"EnsureDense", importCopy, anyBlob},
    {"StopGradient", importIdentity, anyBlobs},
    {"ScaleGradient", importIdentity, anyBlobs},
    {"Free", importIdentity, anyBlobs},
    {"Pow", importPow, {.inputs = {1, 2}}},
    {"NE", importNotEqual, {.inputs = 2}},
    {"Xor", importXor, {.inputs = 2}},
    {"PRelu", importPRelu, {.inputs = 2, .firstWeight = 1}},
    {"Sum", importVariadic<AddNode>, {.inputs = {1, manyInputs}}},
    {"Mean", importVariadic<AddNode, true>, {.inputs = {1, manyInputs}}},
    {"Max", importVariadic<MaxNode>, {.inputs = {1, manyInputs}}},
    {"Min", importVariadic<MinNode>, {.inputs = {1, manyInputs}}},
    {"ElementwiseLinear",
     importElementwiseLinear,
     {.inputs = 3, .firstWeight = 1}},
    {"Bucketize", importBucketize},
    {"BatchBoxCox", importBatchBoxCox, {.inputs = 3}}};
