//===- Recurrent.h - Recurrent operators, step by step --------*- C++ -*-===//
//
// Sequences have a known length, so that the steps are unrolled: the inputs of
// all steps are projected by one matrix product, and each step adds the
// projection of its state. All steps share their kernels.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_RECURRENT_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_RECURRENT_H

#include "ONNX/OpContext.h"

namespace glowish {

/// An activation function of a cell with its parameters.
struct Activation {
  std::string name;
  double alpha = 0, beta = 0;
};

/// One step's state: h, and c where the cell has one. [batch, hidden].
struct State {
  NodeValue h, c;
};

/// What the operators have in common: operands, directions, time.
class RecurrentImporter {
public:
  RecurrentImporter(OpContext &op, int64_t numGates,
                    llvm::ArrayRef<llvm::StringRef> defaultActivations)
      : op(op), numGates(numGates), defaultActivations(defaultActivations) {}
  virtual ~RecurrentImporter() = default;
  llvm::Error import();

protected:
  /// The state after a step whose projected input, biases included, is
  /// \p gates [batch, numGates * hidden].
  virtual llvm::Expected<State> step(NodeValue gates, const State &state) = 0;
  virtual bool hasCell() const { return false; }
  /// Biases that the projection of the input must not include: of the state's
  /// projection for gates from here on.
  virtual int64_t getSeparateBiasGate() const { return numGates; }
  virtual llvm::Error readOwnAttrs() { return llvm::Error::success(); }

  llvm::Expected<NodeValue> activate(unsigned function, NodeValue x);
  /// Gates \p first ... of [batch, gates * hidden].
  llvm::Expected<NodeValue> take(NodeValue gates, int64_t first,
                                 int64_t count = 1);
  /// The state's projection for gates \p first ...: [batch, count * hidden].
  llvm::Expected<NodeValue> project(NodeValue h, int64_t first, int64_t count);
  llvm::Expected<NodeValue> slice(NodeValue value, unsigned axis, int64_t start,
                                  int64_t size);
  template <typename T>
  llvm::Expected<NodeValue> combine(NodeValue x, NodeValue y) {
    return op.create<T>(x, y);
  }

  OpContext &op;
  int64_t numGates;
  int64_t hidden = 0, batch = 0, length = 0;
  /// Of the direction at work: [numGates * hidden, hidden], its biases
  /// [numGates * hidden] or null, and peepholes [3 * hidden] or null.
  NodeValue recurrence, stateBias, peepholes;

private:
  llvm::Error readAttrs();
  llvm::Error readShapes();
  llvm::Error readActivations(unsigned numDirections);
  llvm::Error readLengths();
  llvm::Expected<NodeValue> ofDirection(NodeValue value, unsigned direction);
  llvm::Expected<NodeValue> readState(unsigned index, unsigned direction);
  llvm::Expected<NodeValue> projectInputs(unsigned direction);
  llvm::Error runDirection(unsigned direction, bool isReverse);
  bool mayBeOver(int64_t t) const;
  llvm::Expected<State> hold(const State &next, const State &last, int64_t t);
  llvm::Error setOutputs();
  llvm::Expected<NodeValue> stackDirections(llvm::ArrayRef<NodeValue> parts,
                                            unsigned axis);

  llvm::ArrayRef<llvm::StringRef> defaultActivations;
  NodeValue input; // [length, batch, input]
  bool isBatchFirst = false;
  double clip = 0;
  std::vector<bool> isReverse; // of each direction
  std::vector<Activation> activations, current;
  /// Of each sequence; empty where all have the full length, or where they are
  /// computed: [batch, 1] then.
  std::vector<int64_t> lengths;
  NodeValue computedLengths;
  /// Of each direction: h after each step in order of time, and the last
  /// states.
  std::vector<std::vector<NodeValue>> outputs;
  std::vector<State> finals;
};

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_RECURRENT_H
