//===- SequenceLSTM.cpp - LSTM over a sequence ----------------------------===//
//
// UNIDIRECTIONAL_SEQUENCE_LSTM in float, and with int8 activations, int8
// weights and an int16 cell, as TensorFlow Lite for Microcontrollers computes
// it.
//
//===----------------------------------------------------------------------===//

#include "TFLite/Quantized.h"
#include "TFLite/SigmoidTable.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;
using schema::ActivationFunctionType;

namespace {

enum Gate : unsigned { Input, Forget, Cell, Output };

/// Positions of the operator's inputs; those of gates are the first of four.
namespace position {
constexpr unsigned inputWeights = 1, hiddenWeights = 5, peepholes = 9,
                   biases = 12, projection = 16, hidden = 18, cell = 19,
                   normalization = 20;
}

/// What one time step makes of the states.
struct LSTMStates {
  NodeValue hidden, cell;
};

using LSTMStep = llvm::function_ref<LSTMStates(NodeValue, LSTMStates)>;

} // namespace

/// Inputs that change what is computed and are not supported.
static llvm::Error checkInputs(const TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 3));
  for (unsigned i = 1; i < 24; ++i) {
    bool isNeeded = (i >= position::inputWeights && i < position::peepholes) ||
                    i == position::hidden || i == position::cell;
    if (isNeeded && !op.hasInput(i))
      return makeError("its input {0} is absent; accepted: LSTM with four "
                       "gates",
                       i);
    bool isUnknown = (i >= position::peepholes && i < position::biases) ||
                     i == position::projection ||
                     i == position::projection + 1 ||
                     i >= position::normalization;
    if (isUnknown && op.hasInput(i))
      return op.refuseInput(i, "none: no peepholes, projection or layer "
                               "normalization");
  }
  for (unsigned gate = 0; gate < 4; ++gate) {
    GLOWISH_RETURN_IF_ERROR(op.checkRank(position::inputWeights + gate, 2));
    GLOWISH_RETURN_IF_ERROR(op.checkRank(position::hiddenWeights + gate, 2));
  }
  auto options = op.options<schema::UnidirectionalSequenceLSTMOptions>();
  if (options.get<"fused_activation_function">() !=
      ActivationFunctionType::TANH)
    return makeError("its activation is {0}; accepted: TANH",
                     schema::EnumNameActivationFunctionType(
                         options.get<"fused_activation_function">()));
  if (options.get<"proj_clip">() > 0 ||
      options.get<"diagonal_recurrent_tensors">())
    return makeError("it clips its projection or has diagonal matrices; "
                     "accepted: neither");
  return llvm::Error::success();
}

/// Runs \p step for each element of the sequence, and sets the output to the
/// hidden states, and the variables to the last ones.
static llvm::Error unroll(TFLiteOp &op, LSTMStep step) {
  bool isTimeMajor = op.options<schema::UnidirectionalSequenceLSTMOptions>()
                         .get<"time_major">();
  int64_t timeAxis = isTimeMajor ? 0 : 1;
  Dims shape(op.getShape(0));
  int64_t batch = shape[isTimeMajor ? 1 : 0];
  // Each has nodes of its own.
  constexpr int64_t maxSteps = 2048;
  if (shape[timeAxis] > maxSteps)
    return op.refuseInput(0, "a sequence of at most 2048 elements");
  LSTMStates states = {op.input(position::hidden), op.input(position::cell)};
  std::vector<NodeValue> outputs;
  for (int64_t t = 0; t < shape[timeAxis]; ++t) {
    NodeValue x =
        op.reshape(op.slice(op.input(0), timeAxis, t, 1), {batch, shape[2]});
    states = step(x, states);
    outputs.push_back(op.unsqueeze(states.hidden, timeAxis));
  }
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  if (outputs.empty())
    return op.refuseInput(0, "a sequence of at least one element");
  GLOWISH_RETURN_IF_ERROR(op.setVariable(position::hidden, states.hidden));
  GLOWISH_RETURN_IF_ERROR(op.setVariable(position::cell, states.cell));
  return op.setOutput(0, op.concat(outputs, timeAxis));
}

//===- Floats -------------------------------------------------------------===//

static llvm::Error importFloat(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(0));
  double clip = op.options<schema::UnidirectionalSequenceLSTMOptions>()
                    .get<"cell_clip">();
  NodeValue inputWeights[4], hiddenWeights[4], biases[4];
  for (unsigned g = 0; g < 4; ++g) {
    inputWeights[g] =
        op.transposeLast(dequantized(op, position::inputWeights + g));
    hiddenWeights[g] =
        op.transposeLast(dequantized(op, position::hiddenWeights + g));
    if (op.hasInput(position::biases + g))
      biases[g] = op.input(position::biases + g);
  }
  return unroll(op, [&](NodeValue x, LSTMStates states) {
    auto sum = [&](Gate gate) {
      NodeValue result = op.add(op.matMul(x, inputWeights[gate]),
                                op.matMul(states.hidden, hiddenWeights[gate]));
      return biases[gate] ? op.add(result, biases[gate]) : result;
    };
    NodeValue kept = op.mul(op.unary<SigmoidNode>(sum(Forget)), states.cell);
    NodeValue added = op.mul(op.unary<SigmoidNode>(sum(Input)),
                             op.unary<TanhNode>(sum(Cell)));
    NodeValue cell = op.add(kept, added);
    if (clip > 0)
      cell = op.clip(cell, -clip, clip);
    NodeValue hidden =
        op.mul(op.unary<SigmoidNode>(sum(Output)), op.unary<TanhNode>(cell));
    return LSTMStates{hidden, cell};
  });
}

//===- Integers -----------------------------------------------------------===//

/// int32 limited to int16: how sums are stored.
static NodeValue limitInt16(TFLiteOp &op, NodeValue x) {
  return op.clip(x, -32768, 32767);
}

namespace {

/// The four gates with int8 weights; what is called a step is 2^-12.
class IntegerGates {
public:
  explicit IntegerGates(TFLiteOp &op) : op(op) {}

  /// The weighted sums of \p x and \p hidden, int8, in steps, as int32.
  NodeValue sum(Gate gate, NodeValue x, NodeValue hidden) {
    NodeValue fromInput = multiply(x, 0, position::inputWeights + gate,
                                   op.input(position::biases + gate));
    NodeValue fromHidden =
        multiply(hidden, position::hidden, position::hiddenWeights + gate, {});
    return limitInt16(op, op.add(fromInput, fromHidden));
  }

private:
  NodeValue multiply(NodeValue x, unsigned index, unsigned weights,
                     NodeValue bias) {
    constexpr double steps = 1 << 12;
    NodeValue sums =
        multiplyBytes(op, x, op.getZeroPoint(index),
                      op.transposeLast(op.input(weights)), 0, bias);
    double factor =
        double(op.getScale(index)) * double(op.getScale(weights)) * steps;
    return limitInt16(op, op.rescale(sums, factor));
  }

  TFLiteOp &op;
};

} // namespace

static llvm::Error checkQuantizedInputs(const TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::Int8));
  GLOWISH_RETURN_IF_ERROR(op.checkKind(position::hidden, ElemKind::Int8));
  GLOWISH_RETURN_IF_ERROR(op.checkKind(position::cell, ElemKind::Int16));
  GLOWISH_RETURN_IF_ERROR(op.checkQuantized(0));
  GLOWISH_RETURN_IF_ERROR(op.checkQuantized(position::hidden));
  GLOWISH_RETURN_IF_ERROR(op.checkQuantized(position::cell));
  for (unsigned i = position::inputWeights; i < position::peepholes; ++i) {
    GLOWISH_RETURN_IF_ERROR(op.checkKind(i, ElemKind::Int8));
    GLOWISH_RETURN_IF_ERROR(op.checkQuantized(i));
    if (op.getZeroPoint(i) != 0)
      return op.refuseInput(i, "weights with the zero point 0");
  }
  for (unsigned gate = 0; gate < 4; ++gate)
    GLOWISH_RETURN_IF_ERROR(
        op.checkKind(position::biases + gate, ElemKind::Int32));
  // Of the hidden state before a projection, of which there is none.
  constexpr unsigned beforeProjection = 4;
  const TFLiteTensor *before = op.findIntermediate(beforeProjection);
  if (before && before->quantization &&
      before->quantization != op.getTensor(position::hidden).quantization)
    return makeError("intermediate tensor {0} ({1}) has another scale or zero "
                     "point than the hidden state; accepted: the same ones",
                     beforeProjection, quote(before->name));
  return llvm::Error::success();
}

static llvm::Error importQuantized(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkQuantizedInputs(op));
  double cellScale = double(op.getScale(position::cell));
  double hiddenScale = double(op.getScale(position::hidden));
  // A power of two: the bits in front of the point of the cell, and of its
  // hyperbolic tangent.
  int cellPower = int(std::lround(std::log2(cellScale)));
  if (std::ldexp(1, cellPower) != cellScale)
    return op.refuseInput(position::cell, "a scale that is a power of two");
  constexpr double fraction = 1.0 / 32768;
  double clip = op.options<schema::UnidirectionalSequenceLSTMOptions>()
                    .get<"cell_clip">();
  double clippedCell = std::clamp(std::round(clip / cellScale), 0.0, 32767.0);
  double hiddenZero = double(op.getZeroPoint(position::hidden));
  SigmoidTable table(op);
  IntegerGates gates(op);
  return unroll(op, [&](NodeValue x, LSTMStates states) {
    auto sigmoid = [&](Gate gate) {
      return table.sigmoid(gates.sum(gate, x, states.hidden));
    };
    auto multiply = [&](NodeValue a, NodeValue b, double factor) {
      return op.rescale(op.mul(a, b), factor);
    };
    NodeValue cell = op.cast(states.cell, ElemKind::Int32);
    NodeValue kept = limitInt16(op, multiply(sigmoid(Forget), cell, fraction));
    NodeValue proposed = table.tanh(gates.sum(Cell, x, states.hidden), -12);
    NodeValue added = limitInt16(op, multiply(sigmoid(Input), proposed,
                                              fraction * fraction / cellScale));
    cell = limitInt16(op, op.add(kept, added));
    if (clip > 0)
      cell = op.clip(cell, -clippedCell, clippedCell);
    NodeValue shown = multiply(sigmoid(Output), table.tanh(cell, cellPower),
                               fraction * fraction / hiddenScale);
    NodeValue hidden = saturate(op, op.add(shown, hiddenZero), ElemKind::Int8);
    return LSTMStates{hidden, op.cast(cell, ElemKind::Int16)};
  });
}

static llvm::Error importSequenceLSTM(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(checkInputs(op));
  return op.isQuantized(0) ? importQuantized(op) : importFloat(op);
}

static const TFLiteOperators operators = {
    {"UNIDIRECTIONAL_SEQUENCE_LSTM",
     importSequenceLSTM,
     {.inputs = {5, 24},
      .needsKnownExtents = true,
      .limit = "float, and int8 with an int16 cell; four gates; no peepholes, "
               "projection or layer normalization"}}};
