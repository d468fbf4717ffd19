//===- Recurrent.cpp - LSTM, GRU and RNN ----------------------------------===//
//
// Sequences have a static length and are unrolled: one matmul projects the
// inputs of all time steps, and each time step adds the projection of its
// state. All time steps share their kernels.
//
//===----------------------------------------------------------------------===//

#include "Aten/AtenOp.h"

using namespace glowish;

namespace {

enum class Cell { LSTM, GRU, Tanh, Relu };

/// Weights of one direction of a layer: [gates * hidden, input] and [gates *
/// hidden, hidden], and biases, which may be null.
struct Weights {
  NodeValue input, state, inputBias, stateBias;
};

/// [batch, hidden]; c of an LSTM only.
struct State {
  NodeValue h, c;
};

/// One direction of a layer.
class CellBuilder {
public:
  CellBuilder(AtenOp &op, Cell cell, const Weights &weights)
      : op(op), cell(cell), weights(weights),
        hidden(weights.state.getShape()[1]) {}

  /// Projects rows of the input for all gates, with the biases that can be
  /// added here: [rows, gates * hidden].
  NodeValue projectInput(NodeValue rows);
  /// The state after a step with the projected input \p gates.
  State step(NodeValue gates, const State &state);

private:
  /// What r multiplies, the projected state of a GRU's candidate, has its bias
  /// inside.
  int64_t getJointGates() const { return cell == Cell::GRU ? 2 : getGates(); }
  int64_t getGates() const {
    return cell == Cell::LSTM ? 4 : cell == Cell::GRU ? 3 : 1;
  }
  NodeValue take(NodeValue gates, int64_t first, int64_t count = 1) {
    return op.slice(gates, 1, first * hidden, count * hidden);
  }
  NodeValue projectState(NodeValue h, int64_t first, int64_t count) {
    NodeValue rows = op.slice(weights.state, 0, first * hidden, count * hidden);
    return op.matMul(h, op.transpose(rows, {1, 0}));
  }
  State stepLSTM(NodeValue gates, const State &state);
  State stepGRU(NodeValue gates, const State &state);

  AtenOp &op;
  Cell cell;
  Weights weights;
  int64_t hidden;
};

} // namespace

NodeValue CellBuilder::projectInput(NodeValue rows) {
  NodeValue gates = op.matMul(rows, op.transpose(weights.input, {1, 0}));
  if (!weights.inputBias)
    return gates;
  int64_t size = getGates() * hidden, joint = getJointGates() * hidden;
  NodeValue bias = op.add(op.slice(weights.inputBias, 0, 0, joint),
                          op.slice(weights.stateBias, 0, 0, joint));
  if (joint < size)
    bias = op.concat(
        {bias, op.slice(weights.inputBias, 0, joint, size - joint)}, 0);
  return op.add(gates, bias);
}

/// The gates are i, f, g, o.
State CellBuilder::stepLSTM(NodeValue gates, const State &state) {
  gates = op.add(gates, projectState(state.h, 0, 4));
  NodeValue in = op.unary<SigmoidNode>(take(gates, 0));
  NodeValue forget = op.unary<SigmoidNode>(take(gates, 1));
  NodeValue candidate = op.unary<TanhNode>(take(gates, 2));
  NodeValue out = op.unary<SigmoidNode>(take(gates, 3));
  State next;
  next.c = op.add(op.mul(forget, state.c), op.mul(in, candidate));
  next.h = op.mul(out, op.unary<TanhNode>(next.c));
  return next;
}

/// The gates are r, z, n.
State CellBuilder::stepGRU(NodeValue gates, const State &state) {
  NodeValue joint = op.unary<SigmoidNode>(
      op.add(take(gates, 0, 2), projectState(state.h, 0, 2)));
  NodeValue reset = take(joint, 0), update = take(joint, 1);
  NodeValue recurrent = projectState(state.h, 2, 1);
  if (weights.stateBias)
    recurrent =
        op.add(recurrent, op.slice(weights.stateBias, 0, 2 * hidden, hidden));
  NodeValue candidate =
      op.unary<TanhNode>(op.add(take(gates, 2), op.mul(reset, recurrent)));
  State next;
  next.h =
      op.add(op.mul(op.sub(1.0, update), candidate), op.mul(update, state.h));
  return next;
}

State CellBuilder::step(NodeValue gates, const State &state) {
  if (cell == Cell::LSTM)
    return stepLSTM(gates, state);
  if (cell == Cell::GRU)
    return stepGRU(gates, state);
  NodeValue sum = op.add(gates, projectState(state.h, 0, 1));
  State next;
  next.h =
      cell == Cell::Tanh ? op.unary<TanhNode>(sum) : op.unary<ReluNode>(sum);
  return next;
}

//===- Layers -------------------------------------------------------------===//

namespace {

/// The arguments of lstm(), gru(), rnn_tanh() and rnn_relu().
struct Layers {
  NodeValue input; // [length, batch, input]
  NodeValue h, c;  // [layers * directions, batch, hidden]
  std::vector<NodeValue> params;
  int64_t count, directions;
  bool hasBiases, isBatchFirst, hasBatch;
};

} // namespace

/// Each time step is unrolled.
static constexpr int64_t maxSteps = 1 << 16;

static llvm::Error readStates(AtenOp &op, Layers &layers) {
  if (op.get("hx").is<AtenValue::List>()) {
    std::vector<NodeValue> states = op.tensors("hx");
    if (states.size() != 2 || !states[0] || !states[1])
      return op.refuse("hx", "h and c");
    layers.h = states[0];
    layers.c = states[1];
  } else {
    layers.h = op.tensor("hx");
  }
  for (NodeValue *state : {&layers.h, &layers.c})
    if (*state && !layers.hasBatch)
      *state = op.unsqueeze(*state, 1);
  return op.takeError();
}

static llvm::Expected<Layers> readLayers(AtenOp &op) {
  Layers layers;
  layers.input = op.tensor("input");
  layers.params = op.tensors("params");
  layers.count = op.integer("num_layers");
  layers.directions = op.flag("bidirectional") ? 2 : 1;
  layers.hasBiases = op.flag("has_biases");
  layers.isBatchFirst = op.flag("batch_first");
  int64_t rank = op.getRank("input");
  if (rank != 2 && rank != 3)
    return op.refuse("input", "rank 2 or 3");
  layers.hasBatch = rank == 3;
  if (!layers.hasBatch)
    layers.input = op.unsqueeze(layers.input, 1);
  else if (layers.isBatchFirst)
    layers.input = op.transpose(layers.input, {1, 0, 2});
  GLOWISH_RETURN_IF_ERROR(readStates(op, layers));
  size_t each = layers.hasBiases ? 4 : 2;
  if (layers.count < 1 ||
      layers.params.size() != each * size_t(layers.count * layers.directions))
    return op.refuse("params", "two matrices for each direction of a layer, "
                               "and two biases if there are any (no "
                               "projections)");
  int64_t length = layers.input.getShape()[0];
  DimsRef states = layers.h.getShape();
  if (length < 1 || length > maxSteps || states.size() != 3 ||
      states[0] != layers.count * layers.directions ||
      states[1] != layers.input.getShape()[1])
    return op.refuse("hx", "states of each direction of a layer, and an input "
                           "of 1 to 65536 steps, which are unrolled");
  return layers;
}

/// Slice \p index of [n, batch, hidden].
static NodeValue takeState(AtenOp &op, NodeValue states, int64_t index) {
  if (!states)
    return states;
  return op.reshape(op.slice(states, 0, index, 1),
                    states.getShape().drop_front());
}

namespace {

/// h after each time step, in order of time, and the last state.
struct Run {
  std::vector<NodeValue> steps;
  State last;
};

} // namespace

static Run runDirection(AtenOp &op, CellBuilder cell, NodeValue input,
                        State state, bool isReverse) {
  DimsRef shape = input.getShape();
  int64_t length = shape[0], batch = shape[1];
  NodeValue gates =
      cell.projectInput(op.reshape(input, {length * batch, shape[2]}));
  Run run;
  run.steps.resize(size_t(length));
  for (int64_t i = 0; i < length && !op.hasFailed(); ++i) {
    int64_t t = isReverse ? length - 1 - i : i;
    state = cell.step(op.slice(gates, 0, t * batch, batch), state);
    run.steps[t] = state.h;
  }
  run.last = state;
  return run;
}

/// Joins \p parts [batch, hidden] along a new first dimension.
static NodeValue stack(AtenOp &op, llvm::ArrayRef<NodeValue> parts) {
  std::vector<NodeValue> rows;
  for (NodeValue part : parts)
    rows.push_back(op.unsqueeze(part, 0));
  return op.concat(rows, 0);
}

template <Cell C> static llvm::Error importLayers(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Layers layers, readLayers(op));
  size_t each = layers.hasBiases ? 4 : 2;
  std::vector<NodeValue> lastH, lastC;
  NodeValue input = layers.input;
  for (int64_t layer = 0; layer < layers.count && input; ++layer) {
    std::vector<NodeValue> directions;
    for (int64_t d = 0; d < layers.directions; ++d) {
      int64_t index = layer * layers.directions + d;
      const NodeValue *own = &layers.params[size_t(index) * each];
      Weights weights{own[0], own[1], {}, {}};
      if (layers.hasBiases) {
        weights.inputBias = own[2];
        weights.stateBias = own[3];
      }
      if (weights.input.getShape().size() != 2 ||
          weights.state.getShape().size() != 2)
        return op.refuse("params", "matrices");
      State start{takeState(op, layers.h, index),
                  takeState(op, layers.c, index)};
      Run run = runDirection(op, CellBuilder(op, C, weights), input, start,
                             /*isReverse=*/d == 1);
      directions.push_back(stack(op, run.steps));
      lastH.push_back(run.last.h);
      lastC.push_back(run.last.c);
    }
    input = op.concat(directions, 2);
  }
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  NodeValue output = input;
  std::vector<NodeValue> finals = {stack(op, lastH)};
  if (C == Cell::LSTM)
    finals.push_back(stack(op, lastC));
  if (!layers.hasBatch) {
    output = op.reshape(output, {output.getShape()[0], output.getShape()[2]});
    for (NodeValue &state : finals)
      if (state)
        state = op.reshape(state, {state.getShape()[0], state.getShape()[2]});
  } else if (layers.isBatchFirst) {
    output = op.transpose(output, {1, 0, 2});
  }
  for (unsigned i = 0; i < finals.size(); ++i)
    GLOWISH_RETURN_IF_ERROR(op.setResult(finals[i], i + 1));
  return op.setResult(output);
}

static AtenOperators
    lstmOp(importLayers<Cell::LSTM>,
           {"lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool "
            "has_biases, int num_layers, float dropout, bool train, bool "
            "bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)"});
static AtenOperators
    gruOp(importLayers<Cell::GRU>,
          {"gru.input(Tensor input, Tensor hx, Tensor[] params, bool "
           "has_biases, int num_layers, float dropout, bool train, bool "
           "bidirectional, bool batch_first) -> (Tensor, Tensor)"});
static AtenOperators
    rnnTanhOp(importLayers<Cell::Tanh>,
              {"rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool "
               "has_biases, int num_layers, float dropout, bool train, bool "
               "bidirectional, bool batch_first) -> (Tensor, Tensor)"});
static AtenOperators
    rnnReluOp(importLayers<Cell::Relu>,
              {"rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool "
               "has_biases, int num_layers, float dropout, bool train, bool "
               "bidirectional, bool batch_first) -> (Tensor, Tensor)"});

//===- Cells --------------------------------------------------------------===//

template <Cell C> static llvm::Error importCell(AtenOp &op) {
  NodeValue input = op.tensor("input");
  Weights weights{op.tensor("w_ih"), op.tensor("w_hh"), op.tensor("b_ih"),
                  op.tensor("b_hh")};
  State state;
  if (op.get("hx").is<AtenValue::List>()) {
    std::vector<NodeValue> states = op.tensors("hx");
    if (states.size() != 2 || !states[0] || !states[1])
      return op.refuse("hx", "h and c");
    state = {states[0], states[1]};
  } else {
    state.h = op.tensor("hx");
  }
  if (weights.input.getShape().size() != 2 ||
      weights.state.getShape().size() != 2 ||
      !weights.inputBias != !weights.stateBias)
    return op.refuse("w_ih", "matrices, and both biases or none");
  bool hasBatch = input.getShape().size() == 2;
  if (!hasBatch) {
    input = op.unsqueeze(input, 0);
    state.h = op.unsqueeze(state.h, 0);
    state.c = op.unsqueeze(state.c, 0);
  }
  CellBuilder cell(op, C, weights);
  State next = cell.step(cell.projectInput(input), state);
  auto restore = [&](NodeValue value) {
    return hasBatch || !value
               ? value
               : op.reshape(value, value.getShape().drop_front());
  };
  if (C == Cell::LSTM)
    GLOWISH_RETURN_IF_ERROR(op.setResult(restore(next.c), 1));
  return op.setResult(restore(next.h));
}

static AtenOperators
    lstmCellOp(importCell<Cell::LSTM>,
               {"lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor "
                "w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, "
                "Tensor)"});
static AtenOperators
    gruCellOp(importCell<Cell::GRU>,
              {"gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
               "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"});
static AtenOperators
    rnnTanhCellOp(importCell<Cell::Tanh>,
                  {"rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor "
                   "w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"});
static AtenOperators
    rnnReluCellOp(importCell<Cell::Relu>,
                  {"rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor "
                   "w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"});
