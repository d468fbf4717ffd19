//===- Recurrent.h - Unrolling of recurrent operators -----------*- C++ -*-===//
//
// Sequences have a static length and are unrolled: one matmul projects the
// inputs of all time steps, and each time step adds the projection of its
// state. All time steps share their kernels.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_RECURRENT_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_RECURRENT_H

#include "ONNX/OpContext.h"

namespace glowish {

/// An activation function of a cell, with its parameters.
struct Activation {
  std::string name;
  double alpha = 0, beta = 0;
};

/// The state of one time step: h, and c if the cell has one. [batch, hidden].
struct State {
  NodeValue h, c;
};

/// Common parts of the operators: operands, directions, time steps.
class RecurrentImporter {
public:
  RecurrentImporter(OpContext &op, int64_t numGates,
                    llvm::ArrayRef<llvm::StringRef> defaultActivations)
      : op(op), numGates(numGates), defaultActivations(defaultActivations) {}
  virtual ~RecurrentImporter() = default;
  llvm::Error import();

protected:
  /// Returns the state after a time step with the projected input \p gates
  /// [batch, numGates * hidden], biases included.
  virtual llvm::Expected<State> step(NodeValue gates, const State &state) = 0;
  virtual bool hasCell() const { return false; }
  /// The first gate whose state bias must not be added to the projected input.
  virtual int64_t getSeparateBiasGate() const { return numGates; }
  virtual llvm::Error readOwnAttrs() { return llvm::Error::success(); }
  /// Whether a forward time step sees zeros as the h of sequences that ended
  /// before; it matters to steps that mix sequences.
  virtual bool clearsEndedStates() const { return false; }
  /// Whether the gates are the last dimension of the weights, not the second.
  virtual bool areGatesLast() const { return false; }
  /// Reads the weights of \p direction, which becomes the current one.
  virtual llvm::Error readWeights(unsigned direction);
  /// Projects \p rows of the input for all gates: [rows, numGates * hidden].
  virtual llvm::Expected<NodeValue> projectRows(NodeValue rows);

  llvm::Expected<NodeValue> activate(unsigned function, NodeValue x);
  /// Returns \p count gates from \p first on of [batch, gates * hidden].
  llvm::Expected<NodeValue> take(NodeValue gates, int64_t first,
                                 int64_t count = 1);
  /// Projects the state for \p count gates from \p first on: [batch, count *
  /// hidden].
  virtual llvm::Expected<NodeValue> project(NodeValue h, int64_t first,
                                            int64_t count);
  /// Returns direction \p direction of \p value [directions, ...].
  llvm::Expected<NodeValue> getDirection(NodeValue value, unsigned direction);
  /// Returns \p rows [length * batch, input] with zeros in time steps that no
  /// sequence has.
  llvm::Expected<NodeValue> clearUnusedRows(NodeValue rows);
  llvm::Expected<NodeValue> slice(NodeValue value, unsigned axis, int64_t start,
                                  int64_t size);
  template <typename T>
  llvm::Expected<NodeValue> combine(NodeValue x, NodeValue y) {
    return op.create<T>(x, y);
  }

  OpContext &op;
  int64_t numGates;
  int64_t hidden = 0, batch = 0, length = 0;
  /// Weights of the current direction: [numGates * hidden, input] and [numGates
  /// * hidden, hidden], biases [numGates * hidden] or null, and peepholes [3 *
  /// hidden] or null.
  NodeValue weights, recurrence, stateBias, peepholes;

private:
  llvm::Error readAttrs();
  llvm::Error readShapes();
  llvm::Error readActivations(unsigned numDirections);
  llvm::Error readLengths();
  llvm::Expected<NodeValue> readState(unsigned index, unsigned direction);
  llvm::Expected<NodeValue> projectInputs(unsigned direction);
  llvm::Error runDirection(unsigned direction, bool isReverse);
  bool mayHaveEnded(int64_t t) const;
  llvm::Expected<State> selectRunning(const State &next, const State &last,
                                      int64_t t);
  llvm::Error setOutputs();
  llvm::Expected<NodeValue> stackDirections(llvm::ArrayRef<NodeValue> parts,
                                            unsigned axis);

  llvm::ArrayRef<llvm::StringRef> defaultActivations;
  NodeValue input; // [length, batch, input]
  bool isBatchFirst = false;
  double clip = 0;
  std::vector<bool> isReverse; // per direction
  std::vector<Activation> activations, current;
  /// The length of each sequence; empty if all have the full length, or if the
  /// lengths are computed, [batch, 1].
  std::vector<int64_t> lengths;
  NodeValue computedLengths;
  /// For each direction: h after each time step, in order of time, and the
  /// final states.
  std::vector<std::vector<NodeValue>> outputs;
  std::vector<State> finals;
};

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_RECURRENT_H
