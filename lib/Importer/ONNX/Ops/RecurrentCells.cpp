//===- RecurrentCells.cpp - LSTM, GRU and RNN -----------------------------===//

#include "ONNX/Ops/Recurrent.h"
#include "glowish/Importer/OperatorNotes.h"

using namespace glowish;

namespace {

/// Gates i, o, f, c.
class LSTMImporter final : public RecurrentImporter {
public:
  explicit LSTMImporter(OpContext &op) : RecurrentImporter(op, 4, functions) {}

private:
  static constexpr llvm::StringRef functions[] = {"Sigmoid", "Tanh", "Tanh"};
  bool hasCell() const override { return true; }
  llvm::Error readOwnAttrs() override {
    GLOWISH_TRY(int64_t value, op.getInt("input_forget", 0));
    isCoupled = value != 0;
    return llvm::Error::success();
  }
  /// \p gate with its peephole on \p c.
  llvm::Expected<NodeValue> peep(NodeValue gate, NodeValue c, int64_t number) {
    if (!peepholes)
      return gate;
    GLOWISH_TRY(NodeValue weights,
                slice(peepholes, 0, number * hidden, hidden));
    GLOWISH_TRY(NodeValue product, combine<MulNode>(c, weights));
    return combine<AddNode>(gate, product);
  }
  llvm::Expected<State> step(NodeValue gates, const State &state) override;

  bool isCoupled = false;
};

/// Gates z, r, h.
class GRUImporter final : public RecurrentImporter {
public:
  explicit GRUImporter(OpContext &op) : RecurrentImporter(op, 3, functions) {}

private:
  static constexpr llvm::StringRef functions[] = {"Sigmoid", "Tanh"};
  int64_t getSeparateBiasGate() const override { return isResetLate ? 2 : 3; }
  llvm::Error readOwnAttrs() override {
    GLOWISH_TRY(int64_t value, op.getInt("linear_before_reset", 0));
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
    GLOWISH_TRY(NodeValue projected, project(state.h, 0, 1));
    GLOWISH_TRY(projected, combine<AddNode>(gates, projected));
    State next;
    GLOWISH_TRY(next.h, activate(0, projected));
    return next;
  }
};

} // namespace

llvm::Expected<State> LSTMImporter::step(NodeValue gates, const State &state) {
  GLOWISH_TRY(NodeValue projected, project(state.h, 0, 4));
  GLOWISH_TRY(gates, combine<AddNode>(gates, projected));
  GLOWISH_TRY(NodeValue in, take(gates, 0));
  GLOWISH_TRY(in, peep(in, state.c, 0));
  GLOWISH_TRY(in, activate(0, in));
  NodeValue forget;
  if (isCoupled) {
    GLOWISH_TRY(forget,
                combine<SubNode>(op.createScalar(in.getElemKind(), 1), in));
  } else {
    GLOWISH_TRY(forget, take(gates, 2));
    GLOWISH_TRY(forget, peep(forget, state.c, 2));
    GLOWISH_TRY(forget, activate(0, forget));
  }
  GLOWISH_TRY(NodeValue candidate, take(gates, 3));
  GLOWISH_TRY(candidate, activate(1, candidate));
  GLOWISH_TRY(NodeValue kept, combine<MulNode>(forget, state.c));
  GLOWISH_TRY(NodeValue added, combine<MulNode>(in, candidate));
  State next;
  GLOWISH_TRY(next.c, combine<AddNode>(kept, added));
  GLOWISH_TRY(NodeValue out, take(gates, 1));
  GLOWISH_TRY(out, peep(out, next.c, 1));
  GLOWISH_TRY(out, activate(0, out));
  GLOWISH_TRY(NodeValue shown, activate(2, next.c));
  GLOWISH_TRY(next.h, combine<MulNode>(out, shown));
  return next;
}

llvm::Expected<State> GRUImporter::step(NodeValue gates, const State &state) {
  GLOWISH_TRY(NodeValue joint, take(gates, 0, 2));
  GLOWISH_TRY(NodeValue projected, project(state.h, 0, 2));
  GLOWISH_TRY(joint, combine<AddNode>(joint, projected));
  GLOWISH_TRY(joint, activate(0, joint));
  GLOWISH_TRY(NodeValue update, take(joint, 0));
  GLOWISH_TRY(NodeValue reset, take(joint, 1));
  GLOWISH_TRY(NodeValue candidate, take(gates, 2));
  NodeValue recurrent;
  if (isResetLate) {
    GLOWISH_TRY(recurrent, project(state.h, 2, 1));
    if (stateBias) {
      GLOWISH_TRY(NodeValue bias, slice(stateBias, 0, 2 * hidden, hidden));
      GLOWISH_TRY(recurrent, combine<AddNode>(recurrent, bias));
    }
    GLOWISH_TRY(recurrent, combine<MulNode>(reset, recurrent));
  } else {
    GLOWISH_TRY(NodeValue kept, combine<MulNode>(reset, state.h));
    GLOWISH_TRY(recurrent, project(kept, 2, 1));
  }
  GLOWISH_TRY(candidate, combine<AddNode>(candidate, recurrent));
  GLOWISH_TRY(candidate, activate(1, candidate));
  GLOWISH_TRY(
      NodeValue complement,
      combine<SubNode>(op.createScalar(update.getElemKind(), 1), update));
  GLOWISH_TRY(NodeValue fresh, combine<MulNode>(complement, candidate));
  GLOWISH_TRY(NodeValue kept, combine<MulNode>(update, state.h));
  State next;
  GLOWISH_TRY(next.h, combine<AddNode>(fresh, kept));
  return next;
}

template <typename T> static llvm::Error importRecurrent(OpContext &op) {
  return T(op).import();
}

static OnnxOperator lstmOp("LSTM", 1, importRecurrent<LSTMImporter>);
static OnnxOperator gruOp("GRU", 1, importRecurrent<GRUImporter>);
static OnnxOperator rnnOp("RNN", 1, importRecurrent<RNNImporter>);

static constexpr OperatorNotes unrolled = {
    .limit = "unrolled: code grows with the sequence"};
static OnnxOperatorNotes lstmNotes("LSTM", unrolled);
static OnnxOperatorNotes gruNotes("GRU", unrolled);
static OnnxOperatorNotes rnnNotes("RNN", unrolled);
