//===- RecurrentCells.h - Time steps of LSTM, GRU and RNN -------*- C++ -*-===//
//
// Sequences have a static length and are unrolled: one matmul projects the
// inputs of all time steps, and each time step adds the projection of its
// state. All time steps share their kernels.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_RECURRENTCELLS_H
#define GLOWISH_LIB_IMPORTER_COMMON_RECURRENTCELLS_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Each time step is unrolled.
inline constexpr int64_t maxUnrolledSteps = 1 << 16;

/// The state of one time step: h, and c of an LSTM. [batch, hidden].
struct CellState {
  NodeValue h, c;
};

/// Weights of one direction of a layer: [gates * hidden, input] and [gates *
/// hidden, hidden], and biases [gates * hidden], which may both be null.
struct CellWeights {
  NodeValue input, state, inputBias, stateBias;
};

/// What differs among LSTMs.
struct LSTMForm {
  /// The numbers of the gates.
  int64_t in, forget, candidate, out;
  /// Whether the forget gate is 1 - the input gate.
  bool isCoupled = false;
  /// Of the gates for input, output and forgetting: [3 * hidden]; may be null.
  NodeValue peepholes = {};
};

/// What differs among GRUs.
struct GRUForm {
  /// The numbers of these gates, 0 and 1; that of the candidate is 2.
  int64_t reset, update;
  /// Whether the reset gate multiplies the projected state, with its bias, not
  /// the state.
  bool isResetLate;
};

/// One direction of a layer: its weights, and its time steps (ONNX LSTM-1,
/// GRU-1 and RNN-1, aten::lstm, aten::gru, aten::rnn_tanh).
class RecurrentCell {
public:
  explicit RecurrentCell(NodeBuilder &b) : b(b) {}
  virtual ~RecurrentCell() = default;

protected:
  /// Applies activation function 0, of gates, 1, of candidates, or 2, of the c
  /// that an LSTM outputs. By default a sigmoid and hyperbolic tangents.
  virtual NodeValue activate(unsigned function, NodeValue x);
  /// Projects the state for \p count gates from \p first on: [batch, count *
  /// hidden].
  virtual NodeValue projectState(NodeValue h, int64_t first, int64_t count);

  /// Returns \p count gates from \p first on of [batch, gates * hidden].
  NodeValue take(NodeValue gates, int64_t first, int64_t count = 1) {
    return b.slice(gates, 1, first * hidden, count * hidden);
  }
  /// Adds the biases of the input to \p gates, and those of the state of the
  /// first \p numJoint gates.
  NodeValue addBiases(NodeValue gates, int64_t numJoint);

  // Return the state after a time step with the projected input \p gates
  // [batch, gates * hidden], biases included.
  CellState stepLSTM(NodeValue gates, const CellState &state,
                     const LSTMForm &form);
  CellState stepGRU(NodeValue gates, const CellState &state,
                    const GRUForm &form);
  /// By activation function 0.
  CellState stepRNN(NodeValue gates, const CellState &state);

  /// Gives \p predicate, bool [rows], to the nodes behind \p last, null for
  /// all, that compute each of their rows of one of \p values, [rows, ...].
  void predicateRows(Node *last, llvm::ArrayRef<NodeValue> values,
                     NodeValue predicate);
  /// Returns the node that is made last, or null.
  Node *getLastNode();

  NodeBuilder &b;
  CellWeights weights;
  int64_t hidden = 0;
};

/// Returns the rows of all time steps of \p sequences [length, batch, ...] as
/// [length * batch, ...]: step after step, or if \p isOpen, as a run decides
/// how many sequences there are, sequence after sequence.
NodeValue stackSteps(NodeBuilder &b, NodeValue sequences, bool isOpen);
/// Returns the rows of time step \p t of \p rows, which stackSteps() has made
/// of sequences of \p length time steps: [batch, ...].
NodeValue takeStep(NodeBuilder &b, NodeValue rows, int64_t length, bool isOpen,
                   int64_t t);

/// Joins \p parts, of one shape, along a new dimension \p axis.
NodeValue stackAlong(NodeBuilder &b, llvm::ArrayRef<NodeValue> parts,
                     int64_t axis);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_RECURRENTCELLS_H
