//===- RecurrentCells.cpp - LSTM, GRU and RNN -----------------------------===//

#include "ONNX/Ops/Recurrent.h"
#include "ONNX/Quantization.h"
#include "glowish/Importer/OperatorNotes.h"

using namespace glowish;
using namespace glowish::onnximport;

namespace {

/// The gates are i, o, f, c.
class LSTMImporter : public RecurrentImporter {
public:
  LSTMImporter(OpContext &op) : RecurrentImporter(op, 4, functions) {}

private:
  static constexpr llvm::StringRef functions[] = {"Sigmoid", "Tanh", "Tanh"};
  bool hasCell() const override { return true; }
  llvm::Error readOwnAttrs() override {
    isCoupled = op.getInt("input_forget", 0) != 0;
    return llvm::Error::success();
  }
  CellState step(NodeValue gates, const CellState &state) override {
    return stepLSTM(gates, state,
                    {.in = 0,
                     .forget = 2,
                     .candidate = 3,
                     .out = 1,
                     .isCoupled = isCoupled,
                     .peepholes = peepholes});
  }

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
  NodeValue projectRows(NodeValue rows) override {
    return op.keep(multiply(clearUnusedRows(rows), inputWeights));
  }
  NodeValue projectState(NodeValue h, int64_t, int64_t) override {
    return op.keep(multiply(h, stateWeights));
  }
  llvm::Expected<NodeValue> multiply(NodeValue x, const Quantized &matrix) {
    GLOWISH_ASSIGN_OR_RETURN(x, op.finish(x));
    GLOWISH_ASSIGN_OR_RETURN(Quantized rows, quantizeDynamically(op, x));
    return makeFloatMatMul(op, rows, matrix, NodeValue());
  }
  llvm::Expected<Quantized> readMatrix(unsigned index, unsigned scaleIndex,
                                       unsigned direction);

  Quantized inputWeights, stateWeights;
};

/// The gates are z, r, h.
class GRUImporter final : public RecurrentImporter {
public:
  GRUImporter(OpContext &op) : RecurrentImporter(op, 3, functions) {}

private:
  static constexpr llvm::StringRef functions[] = {"Sigmoid", "Tanh"};
  int64_t getSeparateBiasGate() const override { return isResetLate ? 2 : 3; }
  llvm::Error readOwnAttrs() override {
    isResetLate = op.getInt("linear_before_reset", 0) != 0;
    return llvm::Error::success();
  }
  CellState step(NodeValue gates, const CellState &state) override {
    return stepGRU(gates, state,
                   {.reset = 1, .update = 0, .isResetLate = isResetLate});
  }

  bool isResetLate = false;
};

class RNNImporter final : public RecurrentImporter {
public:
  RNNImporter(OpContext &op) : RecurrentImporter(op, 1, functions) {}

private:
  static constexpr llvm::StringRef functions[] = {"Tanh"};
  CellState step(NodeValue gates, const CellState &state) override {
    return stepRNN(gates, state);
  }
};

} // namespace

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
      return op.refuseInput(own, llvm::formatv("{0}<{1}> or {0}<{1}x{2}>",
                                               getElemKindName(kind),
                                               directions, 4 * hidden));
    *part = getDirection(*part, direction);
  }
  matrix.value = getDirection(matrix.value, direction);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return matrix;
}

llvm::Error QuantizedLSTMImporter::readWeights(unsigned direction) {
  GLOWISH_ASSIGN_OR_RETURN(inputWeights, readMatrix(1, 8, direction));
  GLOWISH_ASSIGN_OR_RETURN(stateWeights, readMatrix(2, 10, direction));
  return llvm::Error::success();
}

template <typename T> static llvm::Error importRecurrent(OpContext &op) {
  op.keepExtents();
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
