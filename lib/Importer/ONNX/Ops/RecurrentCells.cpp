//===- RecurrentCells.cpp - LSTM, GRU and RNN -----------------------------===//

#include "ONNX/Ops/Recurrent.h"
#include "ONNX/Quantization.h"
#include "glowish/Importer/OperatorNotes.h"

using namespace glowish;

namespace {

/// The gates are i, o, f, c.
class LSTMImporter : public RecurrentImporter {
public:
  explicit LSTMImporter(OpContext &op) : RecurrentImporter(op, 4, functions) {}

private:
  static constexpr llvm::StringRef functions[] = {"Sigmoid", "Tanh", "Tanh"};
  bool hasCell() const override { return true; }
  llvm::Error readOwnAttrs() override {
    GLOWISH_ASSIGN_OR_RETURN(int64_t value, op.getInt("input_forget", 0));
    isCoupled = value != 0;
    return llvm::Error::success();
  }
  /// Adds the peephole of \p c to \p gate.
  llvm::Expected<NodeValue> addPeephole(NodeValue gate, NodeValue c,
                                        int64_t number) {
    if (!peepholes)
      return gate;
    GLOWISH_ASSIGN_OR_RETURN(NodeValue weights,
                             slice(peepholes, 0, number * hidden, hidden));
    GLOWISH_ASSIGN_OR_RETURN(NodeValue weighted, combine<MulNode>(c, weights));
    return combine<AddNode>(gate, weighted);
  }
  llvm::Expected<State> step(NodeValue gates, const State &state) override;

  bool isCoupled = false;
};

/// ONNX Runtime's DynamicQuantizeLSTM. Weights are quantized; inputs and, in
/// each time step, states are, too, before they are projected. In reverse, a
/// time step of sequences of different lengths has one scale; ONNX Runtime's
/// steps begin at the end of each sequence, so that other states share one.
class QuantizedLSTMImporter final : public LSTMImporter {
public:
  using LSTMImporter::LSTMImporter;

private:
  bool areGatesLast() const override { return true; }
  /// As in ONNX Runtime, for the scale of the states.
  bool clearsEndedStates() const override { return true; }
  llvm::Error readWeights(unsigned direction) override;
  llvm::Expected<NodeValue> projectRows(NodeValue rows) override {
    GLOWISH_ASSIGN_OR_RETURN(rows, clearUnusedRows(rows));
    return multiply(rows, inputWeights);
  }
  llvm::Expected<NodeValue> project(NodeValue h, int64_t, int64_t) override {
    return multiply(h, stateWeights);
  }
  llvm::Expected<NodeValue> multiply(NodeValue x, const Quantized &weights) {
    GLOWISH_ASSIGN_OR_RETURN(Quantized rows, quantizeDynamically(op, x));
    return makeFloatMatMul(op, rows, weights, NodeValue());
  }
  llvm::Expected<Quantized> readMatrix(unsigned index, unsigned scaleIndex,
                                       unsigned direction);

  Quantized inputWeights, stateWeights;
};

/// The gates are z, r, h.
class GRUImporter final : public RecurrentImporter {
public:
  explicit GRUImporter(OpContext &op) : RecurrentImporter(op, 3, functions) {}

private:
  static constexpr llvm::StringRef functions[] = {"Sigmoid", "Tanh"};
  int64_t getSeparateBiasGate() const override { return isResetLate ? 2 : 3; }
  llvm::Error readOwnAttrs() override {
    GLOWISH_ASSIGN_OR_RETURN(int64_t value,
                             op.getInt("linear_before_reset", 0));
    isResetLate = value != 0;
    return llvm::Error::success();
  }
  llvm::Expected<State> step(NodeValue gates, const State &state) override;

  bool isResetLate = false;
};

class RNNImporter final : public RecurrentImporter {
public:
  explicit RNNImporter(OpContext &op) : RecurrentImporter(op, 1, functions) {}

private:
  static constexpr llvm::StringRef functions[] = {"Tanh"};
  llvm::Expected<State> step(NodeValue gates, const State &state) override {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue projected, project(state.h, 0, 1));
    GLOWISH_ASSIGN_OR_RETURN(projected, combine<AddNode>(gates, projected));
    State next;
    GLOWISH_ASSIGN_OR_RETURN(next.h, activate(0, projected));
    return next;
  }
};

} // namespace

llvm::Expected<State> LSTMImporter::step(NodeValue gates, const State &state) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue projected, project(state.h, 0, 4));
  GLOWISH_ASSIGN_OR_RETURN(gates, combine<AddNode>(gates, projected));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue in, take(gates, 0));
  GLOWISH_ASSIGN_OR_RETURN(in, addPeephole(in, state.c, 0));
  GLOWISH_ASSIGN_OR_RETURN(in, activate(0, in));
  NodeValue forget;
  if (isCoupled) {
    GLOWISH_ASSIGN_OR_RETURN(
        forget, combine<SubNode>(op.createScalar(in.getElemKind(), 1), in));
  } else {
    GLOWISH_ASSIGN_OR_RETURN(forget, take(gates, 2));
    GLOWISH_ASSIGN_OR_RETURN(forget, addPeephole(forget, state.c, 2));
    GLOWISH_ASSIGN_OR_RETURN(forget, activate(0, forget));
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue candidate, take(gates, 3));
  GLOWISH_ASSIGN_OR_RETURN(candidate, activate(1, candidate));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue kept, combine<MulNode>(forget, state.c));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue added, combine<MulNode>(in, candidate));
  State next;
  GLOWISH_ASSIGN_OR_RETURN(next.c, combine<AddNode>(kept, added));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue out, take(gates, 1));
  GLOWISH_ASSIGN_OR_RETURN(out, addPeephole(out, next.c, 1));
  GLOWISH_ASSIGN_OR_RETURN(out, activate(0, out));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue shown, activate(2, next.c));
  GLOWISH_ASSIGN_OR_RETURN(next.h, combine<MulNode>(out, shown));
  return next;
}

/// Reads the matrix of \p direction in input \p index. Inputs \p scaleIndex and
/// the next, scale and zero point, have one value per direction or per column.
llvm::Expected<Quantized>
QuantizedLSTMImporter::readMatrix(unsigned index, unsigned scaleIndex,
                                  unsigned direction) {
  Quantized matrix;
  GLOWISH_ASSIGN_OR_RETURN(matrix.value, readBytes(op, index));
  matrix.kind = matrix.value.getElemKind();
  int64_t directions = matrix.value.getShape()[0];
  GLOWISH_ASSIGN_OR_RETURN(matrix.scale, op.getInput(scaleIndex));
  GLOWISH_ASSIGN_OR_RETURN(matrix.zeroPoint, op.getInput(scaleIndex + 1));
  for (NodeValue *part : {&matrix.scale, &matrix.zeroPoint}) {
    unsigned own = part == &matrix.scale ? scaleIndex : scaleIndex + 1;
    ElemKind kind = part == &matrix.scale ? ElemKind::Float : matrix.kind;
    if (part->getElemKind() != kind ||
        (part->getShape() != DimsRef({directions}) &&
         part->getShape() != DimsRef({directions, 4 * hidden})))
      return makeError("input {0} is {1}; accepted: {2}<{3}> or {2}<{3}x{4}>",
                       own, part->getType().str(), getElemKindName(kind),
                       directions, 4 * hidden);
    GLOWISH_ASSIGN_OR_RETURN(*part, getDirection(*part, direction));
  }
  GLOWISH_ASSIGN_OR_RETURN(matrix.value, getDirection(matrix.value, direction));
  return matrix;
}

llvm::Error QuantizedLSTMImporter::readWeights(unsigned direction) {
  GLOWISH_ASSIGN_OR_RETURN(inputWeights, readMatrix(1, 8, direction));
  GLOWISH_ASSIGN_OR_RETURN(stateWeights, readMatrix(2, 10, direction));
  return llvm::Error::success();
}

llvm::Expected<State> GRUImporter::step(NodeValue gates, const State &state) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue joint, take(gates, 0, 2));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue projected, project(state.h, 0, 2));
  GLOWISH_ASSIGN_OR_RETURN(joint, combine<AddNode>(joint, projected));
  GLOWISH_ASSIGN_OR_RETURN(joint, activate(0, joint));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue update, take(joint, 0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue reset, take(joint, 1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue candidate, take(gates, 2));
  NodeValue recurrent;
  if (isResetLate) {
    GLOWISH_ASSIGN_OR_RETURN(recurrent, project(state.h, 2, 1));
    if (stateBias) {
      GLOWISH_ASSIGN_OR_RETURN(NodeValue bias,
                               slice(stateBias, 0, 2 * hidden, hidden));
      GLOWISH_ASSIGN_OR_RETURN(recurrent, combine<AddNode>(recurrent, bias));
    }
    GLOWISH_ASSIGN_OR_RETURN(recurrent, combine<MulNode>(reset, recurrent));
  } else {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue kept, combine<MulNode>(reset, state.h));
    GLOWISH_ASSIGN_OR_RETURN(recurrent, project(kept, 2, 1));
  }
  GLOWISH_ASSIGN_OR_RETURN(candidate, combine<AddNode>(candidate, recurrent));
  GLOWISH_ASSIGN_OR_RETURN(candidate, activate(1, candidate));
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue complement,
      combine<SubNode>(op.createScalar(update.getElemKind(), 1), update));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue fresh,
                           combine<MulNode>(complement, candidate));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue kept, combine<MulNode>(update, state.h));
  State next;
  GLOWISH_ASSIGN_OR_RETURN(next.h, combine<AddNode>(fresh, kept));
  return next;
}

template <typename T> static llvm::Error importRecurrent(OpContext &op) {
  return T(op).import();
}

static OnnxOperator lstmOp("LSTM", 1, importRecurrent<LSTMImporter>);
static OnnxOperator gruOp("GRU", 1, importRecurrent<GRUImporter>);
static OnnxOperator rnnOp("RNN", 1, importRecurrent<RNNImporter>);

static OnnxOperator quantizedLSTMOp("DynamicQuantizeLSTM", 1,
                                    importRecurrent<QuantizedLSTMImporter>,
                                    microsoftDomain);

static constexpr OperatorNotes unrolled = {
    .limit = "unrolled: code grows with the sequence"};
static OnnxOperatorNotes lstmNotes("LSTM", unrolled);
static OnnxOperatorNotes gruNotes("GRU", unrolled);
static OnnxOperatorNotes rnnNotes("RNN", unrolled);
static OnnxOperatorNotes quantizedLSTMNotes("DynamicQuantizeLSTM", unrolled,
                                            microsoftDomain);
