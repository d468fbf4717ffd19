//===- Recurrent.cpp - LSTM, GRU and RNN ----------------------------------===//

#include "Aten/AtenOp.h"
#include "Common/RecurrentCells.h"

using namespace glowish;
using namespace glowish::aten;

namespace {

enum class Cell { LSTM, GRU, Tanh, Relu };

/// One direction of a layer.
class CellBuilder final : public RecurrentCell {
public:
  CellBuilder(AtenOp &op, Cell cell, const CellWeights &own)
      : RecurrentCell(op), cell(cell) {
    weights = own;
    hidden = own.state.getShape()[1];
  }

  /// Projects rows of the input for all gates, with the biases that can be
  /// added here: [rows, gates * hidden].
  NodeValue projectInput(NodeValue rows);
  /// The state after a step with the projected input \p gates.
  CellState step(NodeValue gates, const CellState &state);

private:
  NodeValue activate(unsigned function, NodeValue x) override;

  Cell cell;
};

} // namespace

NodeValue CellBuilder::projectInput(NodeValue rows) {
  NodeValue gates = b.matMul(rows, b.transpose(weights.input, {1, 0}));
  // What r multiplies, the projected state of a GRU's candidate, has its bias
  // inside.
  return addBiases(gates, cell == Cell::LSTM ? 4 : cell == Cell::GRU ? 2 : 1);
}

NodeValue CellBuilder::activate(unsigned function, NodeValue x) {
  if (cell == Cell::Tanh)
    return b.unary<TanhNode>(x);
  if (cell == Cell::Relu)
    return b.unary<ReluNode>(x);
  return RecurrentCell::activate(function, x);
}

CellState CellBuilder::step(NodeValue gates, const CellState &state) {
  if (cell == Cell::LSTM)
    return stepLSTM(gates, state,
                    {.in = 0, .forget = 1, .candidate = 2, .out = 3});
  if (cell == Cell::GRU)
    return stepGRU(gates, state,
                   {.reset = 0, .update = 1, .isResetLate = true});
  return stepRNN(gates, state);
}

//===- Layers -------------------------------------------------------------===//

namespace {

/// The arguments of lstm(), gru(), rnn_tanh() and rnn_relu().
struct Layers {
  NodeValue input; // [length, batch, input]
  CellState first; // [layers * directions, batch, hidden]
  std::vector<NodeValue> params;
  int64_t count, directions;
  bool hasBiases, isBatchFirst, hasBatch;
};

} // namespace

/// Reads `hx`, h or a list of h and c, with a dimension of the batch, \p axis,
/// where it has none.
static llvm::Expected<CellState> readState(AtenOp &op, bool hasBatch,
                                           int64_t axis) {
  CellState state;
  if (op.get("hx").is<AtenValue::List>()) {
    std::vector<NodeValue> states = op.tensors("hx");
    if (states.size() != 2 || !states[0] || !states[1])
      return op.refuse("hx", "h and c");
    state = {states[0], states[1]};
  } else {
    state.h = op.tensor("hx");
  }
  for (NodeValue value : {state.h, state.c})
    if (value && int64_t(value.getShape().size()) < axis)
      return op.refuse("hx", "states of each direction of a layer");
  if (!hasBatch)
    state = {op.unsqueeze(state.h, axis), op.unsqueeze(state.c, axis)};
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return state;
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
  GLOWISH_ASSIGN_OR_RETURN(layers.first,
                           readState(op, layers.hasBatch, /*axis=*/1));
  size_t each = layers.hasBiases ? 4 : 2;
  // The second keeps what the third multiplies small.
  if (layers.count < 1 || size_t(layers.count) > layers.params.size() ||
      layers.params.size() != each * size_t(layers.count * layers.directions))
    return op.refuse("params", "two matrices for each direction of a layer, "
                               "and two biases if there are any (no "
                               "projections)");
  int64_t length = layers.input.getShape()[0];
  DimsRef states = layers.first.h.getShape();
  if (length < 1 || length > maxUnrolledSteps || states.size() != 3 ||
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
  CellState last;
};

} // namespace

static Run runDirection(AtenOp &op, CellBuilder cell, NodeValue input,
                        CellState state, bool isReverse) {
  int64_t length = input.getShape()[0];
  bool isOpen = input.getType().getExtent(1);
  NodeValue gates = cell.projectInput(stackSteps(op, input, isOpen));
  Run run;
  run.steps.resize(size_t(length));
  for (int64_t i = 0; i < length && !op.hasFailed(); ++i) {
    int64_t t = isReverse ? length - 1 - i : i;
    state = cell.step(takeStep(op, gates, length, isOpen, t), state);
    run.steps[t] = state.h;
  }
  run.last = state;
  return run;
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
      CellWeights weights{own[0], own[1], {}, {}};
      if (layers.hasBiases) {
        weights.inputBias = own[2];
        weights.stateBias = own[3];
      }
      if (weights.input.getShape().size() != 2 ||
          weights.state.getShape().size() != 2)
        return op.refuse("params", "matrices");
      CellState start{takeState(op, layers.first.h, index),
                      takeState(op, layers.first.c, index)};
      Run run = runDirection(op, CellBuilder(op, C, weights), input, start,
                             /*isReverse=*/d == 1);
      directions.push_back(stackAlong(op, run.steps, 0));
      lastH.push_back(run.last.h);
      lastC.push_back(run.last.c);
    }
    input = op.concat(directions, 2);
  }
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  NodeValue output = input;
  std::vector<NodeValue> finals = {stackAlong(op, lastH, 0)};
  if (C == Cell::LSTM)
    finals.push_back(stackAlong(op, lastC, 0));
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

static AtenOperators lstmLayers(
    {{importLayers<Cell::LSTM>,
      {"lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool "
       "has_biases, int num_layers, float dropout, bool train, bool "
       "bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)"}}},
    AtenOrder::Unknown);
static AtenOperators
    layers({".input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, "
            "int num_layers, float dropout, bool train, bool bidirectional, "
            "bool batch_first) -> (Tensor, Tensor)"},
           {{importLayers<Cell::GRU>, {"gru"}},
            {importLayers<Cell::Tanh>, {"rnn_tanh"}},
            {importLayers<Cell::Relu>, {"rnn_relu"}}},
           AtenOrder::Unknown);

//===- Cells --------------------------------------------------------------===//

template <Cell C> static llvm::Error importCell(AtenOp &op) {
  NodeValue input = op.tensor("input");
  CellWeights weights{op.tensor("w_ih"), op.tensor("w_hh"), op.tensor("b_ih"),
                      op.tensor("b_hh")};
  bool hasBatch = input.getShape().size() == 2;
  if (!hasBatch)
    input = op.unsqueeze(input, 0);
  GLOWISH_ASSIGN_OR_RETURN(CellState state,
                           readState(op, hasBatch, /*axis=*/0));
  if (weights.input.getShape().size() != 2 ||
      weights.state.getShape().size() != 2 ||
      !weights.inputBias != !weights.stateBias)
    return op.refuse("w_ih", "matrices, and both biases or none");
  CellBuilder cell(op, C, weights);
  CellState next = cell.step(cell.projectInput(input), state);
  auto restore = [&](NodeValue value) {
    return hasBatch || !value
               ? value
               : op.reshape(value, value.getShape().drop_front());
  };
  if (C == Cell::LSTM)
    GLOWISH_RETURN_IF_ERROR(op.setResult(restore(next.c), 1));
  return op.setResult(restore(next.h));
}

static AtenOperators lstmCell(
    {{importCell<Cell::LSTM>,
      {"lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? "
       "b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)"}}});
static AtenOperators
    cells({"(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? "
           "b_ih=None, Tensor? b_hh=None) -> Tensor"},
          {{importCell<Cell::GRU>, {"gru_cell"}},
           {importCell<Cell::Tanh>, {"rnn_tanh_cell"}},
           {importCell<Cell::Relu>, {"rnn_relu_cell"}}});
