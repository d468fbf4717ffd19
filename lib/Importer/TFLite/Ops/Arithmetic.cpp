//===- Arithmetic.cpp - Element-wise arithmetic and comparisons -----------===//

#include "Common/ElementWise.h"
#include "TFLite/Quantized.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;
using schema::ActivationFunctionType;

/// Makes a node of two operands that broadcast.
using BinaryBuilder = NodeValue (*)(NodeBuilder &b, NodeValue x, NodeValue y);

template <typename T>
static NodeValue makeBinary(NodeBuilder &b, NodeValue x, NodeValue y) {
  return x && y ? b.make<T>(x, y) : NodeValue();
}

//===- Quantized sums and products ----------------------------------------===//

namespace {

/// The options of ADD and SUB.
struct SumOfTwo {
  ActivationFunctionType activation;
  /// Whether int16 whose scales are powers of two are shifted.
  bool shiftsInt16;
};

} // namespace

template <typename Options> static SumOfTwo readSum(const TFLiteOp &op) {
  auto options = op.options<Options>();
  return {.activation = options.template get<"fused_activation_function">(),
          .shiftsInt16 = options.template get<"pot_scale_int16">()};
}

/// How many bits steps of \p scale are from those of output 0, if both scales
/// are powers of two and the one is not larger.
static std::optional<int> findShift(const TFLiteOp &op, float scale) {
  int exponent, outputExponent;
  bool arePowers = std::frexp(scale, &exponent) == 0.5f &&
                   std::frexp(op.getOutputScale(), &outputExponent) == 0.5f;
  constexpr int most = 15;
  if (!arePowers || exponent > outputExponent ||
      outputExponent - exponent > most)
    return std::nullopt;
  return outputExponent - exponent;
}

/// \p x / 2^bits, halves rounded away from zero.
static NodeValue shiftSteps(TFLiteOp &op, NodeValue x, int bits) {
  if (bits == 0)
    return x;
  double half = double(1 << (bits - 1));
  NodeValue rounding =
      op.select(op.less(x, 0), op.number(x, -half), op.number(x, half));
  return op.div(op.add(x, rounding), double(1 << bits));
}

/// The steps of the output of int16 whose scales are powers of two: one operand
/// has them, and those of the other are rounded to them. Null of others.
static NodeValue sumShifted(TFLiteOp &op, BinaryBuilder build) {
  for (unsigned i = 0; i < 2; ++i)
    if (op.getKind(i) != ElemKind::Int16 || op.getZeroPoint(i) != 0)
      return {};
  std::optional<int> shifts[] = {findShift(op, op.getScale(0)),
                                 findShift(op, op.getScale(1))};
  if (!shifts[0] || !shifts[1] || (*shifts[0] != 0 && *shifts[1] != 0))
    return {};
  return build(op, shiftSteps(op, centered(op, 0), *shifts[0]),
               shiftSteps(op, centered(op, 1), *shifts[1]));
}

/// Both operands come to a common scale, half of the larger one's with bits to
/// spare, are added or subtracted, and come to the result's.
static llvm::Error importQuantizedSum(TFLiteOp &op, BinaryBuilder build,
                                      const SumOfTwo &options) {
  GLOWISH_RETURN_IF_ERROR(checkActivations(op, 2));
  GLOWISH_RETURN_IF_ERROR(op.checkBroadcast());
  if (options.shiftsInt16 && op.getOutputKind() == ElemKind::Int16)
    if (NodeValue sum = sumShifted(op, build))
      return op.setOutput(0, quantizeSteps(op, sum, options.activation));
  int spareBits = op.getOutputKind() == ElemKind::Int16 ? 15 : 20;
  double common = 2 * double(std::max(op.getScale(0), op.getScale(1)));
  auto scaled = [&](unsigned index) {
    NodeValue raised = op.mul(centered(op, index), double(1 << spareBits));
    return op.rescale(raised, double(op.getScale(index)) / common);
  };
  NodeValue sum = build(op, scaled(0), scaled(1));
  double factor =
      common / (double(1 << spareBits) * double(op.getOutputScale()));
  return op.setOutput(
      0, quantizeSteps(op, op.rescale(sum, factor), options.activation));
}

static llvm::Error importQuantizedMul(TFLiteOp &op,
                                      ActivationFunctionType activation) {
  GLOWISH_RETURN_IF_ERROR(checkActivations(op, 2));
  GLOWISH_RETURN_IF_ERROR(op.checkBroadcast());
  double factor = double(op.getScale(0)) * double(op.getScale(1)) /
                  double(op.getOutputScale());
  NodeValue steps = op.mul(centered(op, 0), centered(op, 1));
  return op.setOutput(0,
                      quantizeSteps(op, op.rescale(steps, factor), activation));
}

//===- Sums and products --------------------------------------------------===//

/// Floats and plain integers; those of one kind.
static llvm::Error importPlain(TFLiteOp &op, BinaryBuilder build,
                               ActivationFunctionType activation) {
  if (op.getKind(0) != op.getKind(1))
    return op.refuseInput(1, getElemKindName(op.getKind(0)));
  GLOWISH_RETURN_IF_ERROR(op.checkBroadcast());
  NodeValue result = build(op, op.input(0), op.input(1));
  return op.setOutput(0, activate(op, result, activation));
}

/// ADD and SUB.
template <typename Options, typename T>
static llvm::Error importSum(TFLiteOp &op) {
  SumOfTwo options = readSum<Options>(op);
  return op.isQuantized(0) ? importQuantizedSum(op, makeBinary<T>, options)
                           : importPlain(op, makeBinary<T>, options.activation);
}

static llvm::Error importMul(TFLiteOp &op) {
  auto activation =
      op.options<schema::MulOptions>().get<"fused_activation_function">();
  return op.isQuantized(0) ? importQuantizedMul(op, activation)
                           : importPlain(op, makeBinary<MulNode>, activation);
}

static llvm::Error importDiv(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkNotQuantized());
  return importPlain(
      op, makeBinary<DivNode>,
      op.options<schema::DivOptions>().get<"fused_activation_function">());
}

//===- Others -------------------------------------------------------------===//

template <BinaryBuilder Build> static llvm::Error importBinary(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkNotQuantized());
  return importPlain(op, Build, ActivationFunctionType::NONE);
}

static NodeValue squareDifference(NodeBuilder &b, NodeValue x, NodeValue y) {
  NodeValue difference = b.sub(x, y);
  return b.mul(difference, difference);
}

static llvm::Error importAtan2(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, {ElemKind::Float, ElemKind::Double}));
  return importPlain(op, getAngle, ActivationFunctionType::NONE);
}

static llvm::Error importAddN(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkNotQuantized());
  GLOWISH_RETURN_IF_ERROR(op.checkBroadcast());
  NodeValue sum = op.input(0);
  for (unsigned i = 1; i < op.getNumInputs(); ++i) {
    if (op.getKind(i) != op.getKind(0))
      return op.refuseInput(i, getElemKindName(op.getKind(0)));
    sum = op.add(sum, op.input(i));
  }
  return op.setOutput(0, sum);
}

/// Operands with the same parameters as the result are compared as they are.
static bool haveOneQuantization(const TFLiteOp &op, unsigned first) {
  for (unsigned i = first + 1; i < op.getNumInputs(); ++i)
    if (op.getTensor(i).quantization != op.getTensor(first).quantization)
      return false;
  return true;
}

template <typename T> static llvm::Error importExtreme(TFLiteOp &op) {
  if (!haveOneQuantization(op, 0) ||
      (op.isQuantized(0) &&
       op.getOutputQuantization() != op.getTensor(0).quantization))
    return op.refuseInput(1, "the scale of the first input, and of the output");
  return importPlain(op, makeBinary<T>, ActivationFunctionType::NONE);
}

/// Quantized operands of different scales are compared with 8 bits to spare,
/// as MAXIMUM of both scales would have them.
template <typename T> static llvm::Error importComparison(TFLiteOp &op) {
  if (haveOneQuantization(op, 0))
    return importPlain(op, makeBinary<T>, ActivationFunctionType::NONE);
  for (unsigned i = 0; i < 2; ++i)
    GLOWISH_RETURN_IF_ERROR(op.checkQuantized(i));
  GLOWISH_RETURN_IF_ERROR(op.checkBroadcast());
  auto scaled = [&](unsigned index) {
    NodeValue raised = op.mul(centered(op, index), double(1 << 8));
    return op.rescale(raised, double(op.getScale(index)));
  };
  return op.setOutput(0, makeBinary<T>(op, scaled(0), scaled(1)));
}

static NodeValue differs(NodeBuilder &b, NodeValue x, NodeValue y) {
  return b.unary<NotNode>(b.equal(x, y));
}

static llvm::Error importNotEqual(TFLiteOp &op) {
  if (!haveOneQuantization(op, 0))
    return op.refuseInput(1, "the scale of the first input");
  return importPlain(op, differs, ActivationFunctionType::NONE);
}

/// SELECT takes a condition for each index of the first dimension, too.
static llvm::Error importSelect(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::Bool));
  if (!haveOneQuantization(op, 1))
    return op.refuseInput(2, "the scale of input 1");
  GLOWISH_RETURN_IF_ERROR(
      op.checkBroadcast(/*first=*/op.getType() == "SELECT" ? 1 : 0));
  NodeValue condition = op.input(0);
  DimsRef shape = op.getShape(1);
  if (op.getType() == "SELECT" && condition.getShape().size() == 1 &&
      shape.size() > 1) {
    Dims column(shape.size(), 1);
    column.front() = condition.getShape()[0];
    condition = op.reshape(condition, column);
  }
  return op.setOutput(0, op.select(condition, op.input(1), op.input(2)));
}

static llvm::Error importNot(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::Bool));
  return op.setOutput(0, op.unary<NotNode>(op.input(0)));
}

/// Imports an operator that a record names, of operands that are not quantized.
static llvm::Error importRecord(TFLiteOp &op, NodeKind kind,
                                llvm::ArrayRef<double> defaults) {
  GLOWISH_RETURN_IF_ERROR(op.checkNotQuantized());
  GLOWISH_RETURN_IF_ERROR(op.checkBroadcast());
  std::vector<NodeValue> operands;
  for (unsigned i = 0; i < getNodeInfo(kind).operands.size(); ++i) {
    if (op.getKind(i) != op.getKind(0))
      return op.refuseInput(i, getElemKindName(op.getKind(0)));
    operands.push_back(op.input(i));
  }
  return op.setOutput(0, op.makeRecorded(kind, operands, defaults));
}

/// Returns the traits of an operator that a record of \p kinds names.
static TFLiteOpTraits getTraits(unsigned numOperands, llvm::StringRef kinds) {
  if (kinds == "Bool")
    return {.inputs = numOperands};
  if (kinds == "Float")
    return {.inputs = numOperands, .limit = "float"};
  return {.inputs = numOperands, .limit = "not quantized"};
}

static constexpr llvm::StringLiteral quantizedLimit =
    "float, integers, and quantized int8, uint8 and int16";
static constexpr llvm::StringLiteral notQuantized = "not quantized";
static constexpr llvm::StringLiteral oneScale =
    "quantized tensors with one scale for all";
static constexpr TFLiteOpTraits twoPlain{.inputs = 2, .limit = notQuantized};
static constexpr TFLiteOpTraits twoQuantized{.inputs = 2,
                                             .limit = quantizedLimit};
static constexpr TFLiteOpTraits twoAlike{.inputs = 2, .limit = oneScale};
static constexpr TFLiteOpTraits choice{.inputs = 3, .limit = oneScale};

static const TFLiteOperators sameOperators = {
#define TFLITE_ELEMENT_WISE(NAME, TFLITE, NUM_OPERANDS, KINDS, ...)            \
  {TFLITE,                                                                     \
   [](TFLiteOp &op) {                                                          \
     return importRecord(op, NodeKind::NAME, {__VA_ARGS__});                   \
   },                                                                          \
   getTraits(NUM_OPERANDS, KINDS)},
#define GET_TFLITE_ELEMENT_WISE_LIST
#include "glowish/Graph/NodeFunctions.inc"
};

static const TFLiteOperators operators = {
    {"ADD", importSum<schema::AddOptions, AddNode>, twoQuantized},
    {"SUB", importSum<schema::SubOptions, SubNode>, twoQuantized},
    {"MUL", importMul, twoQuantized},
    {"DIV", importDiv, twoPlain},
    {"FLOOR_DIV", importBinary<divideDown>, twoPlain},
    {"FLOOR_MOD", importBinary<getFlooredRest>, twoPlain},
    {"ATAN2", importAtan2, {.inputs = 2, .limit = "float and double"}},
    {"SQUARED_DIFFERENCE", importBinary<squareDifference>, twoPlain},
    {"ADD_N", importAddN, {.inputs = {1, manyInputs}, .limit = notQuantized}},
    {"MAXIMUM", importExtreme<MaxNode>, twoAlike},
    {"MINIMUM", importExtreme<MinNode>, twoAlike},
    {"LESS", importComparison<LessNode>, {.inputs = 2}},
    {"GREATER", importComparison<GreaterNode>, {.inputs = 2}},
    {"LESS_EQUAL", importComparison<LessOrEqualNode>, {.inputs = 2}},
    {"GREATER_EQUAL", importComparison<GreaterOrEqualNode>, {.inputs = 2}},
    {"EQUAL", importComparison<EqualNode>, {.inputs = 2}},
    {"NOT_EQUAL", importNotEqual, twoAlike},
    {"LOGICAL_NOT", importNot},
    {"SELECT", importSelect, choice},
    {"SELECT_V2", importSelect, choice}};
