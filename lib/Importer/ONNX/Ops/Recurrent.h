//===- Recurrent.h - Unrolling of recurrent operators -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_RECURRENT_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_RECURRENT_H

#include "Common/RecurrentCells.h"
#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// An activation function of a cell, with its parameters.
struct Activation {
  std::string name;
  double alpha = 0, beta = 0;
};

/// Common parts of the operators: operands, directions, time steps.
class RecurrentImporter : public RecurrentCell {
public:
  RecurrentImporter(OpContext &op, int64_t numGates,
                    llvm::ArrayRef<llvm::StringRef> defaultActivations)
      : RecurrentCell(op), op(op), numGates(numGates),
        defaultActivations(defaultActivations) {}
  llvm::Error import();

protected:
  /// Returns the state after a time step with the projected input \p gates
  /// [batch, numGates * hidden], biases included.
  virtual CellState step(NodeValue gates, const CellState &state) = 0;
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
  virtual NodeValue projectRows(NodeValue rows);

  NodeValue activate(unsigned function, NodeValue x) override;
  /// Returns direction \p direction of \p value [directions, ...].
  NodeValue getDirection(NodeValue value, unsigned direction);
  /// Returns \p rows [length * batch, input] with zeros in time steps that no
  /// sequence has.
  NodeValue clearUnusedRows(NodeValue rows);

  OpContext &op;
  int64_t numGates;
  int64_t batch = 0, length = 0;
  /// Those of the current direction, [3 * hidden], or null.
  NodeValue peepholes;

private:
  llvm::Error readAttrs();
  llvm::Error readShapes();
  llvm::Error readActivations(unsigned numDirections);
  llvm::Error readLengths();
  llvm::Expected<NodeValue> readState(unsigned index, unsigned direction);
  llvm::Expected<NodeValue> projectInputs(unsigned direction);
  llvm::Error runDirection(unsigned direction, bool isReverse);
  llvm::Error findRunning();
  bool isOpen() const;
  bool mayHaveEnded(int64_t t) const;
  NodeValue getRunning(int64_t t);
  bool skipsEndedSequences() const;
  CellState selectRunning(const CellState &next, const CellState &last,
                          int64_t t);
  llvm::Error setOutputs();

  llvm::ArrayRef<llvm::StringRef> defaultActivations;
  NodeValue input; // [length, batch, input]
  bool isBatchFirst = false;
  double clip = 0;
  std::vector<bool> isReverse; // per direction
  std::vector<Activation> activations, current;
  /// The number of steps where a run decides it, and its value in the run;
  /// `length` is its bound.
  std::optional<Extent> openLength;
  NodeValue lengthOfRun;
  /// The length of each sequence; empty if all have the full length, or if the
  /// lengths are computed, [batch, 1].
  std::vector<int64_t> lengths;
  NodeValue computedLengths;
  /// Whether each sequence has each time step, bool [length, batch]; null if
  /// all have.
  NodeValue running;
  /// For each direction: h after each time step, in order of time, and the
  /// final states.
  std::vector<std::vector<NodeValue>> outputs;
  std::vector<CellState> finals;
};

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_RECURRENT_H
