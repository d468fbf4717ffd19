//===- SparseLengths.cpp - Sums over embedding table rows -----------------===//
//
// Tables are float, or row-wise quantized to 8 or 4 bits with a scale and a
// bias per row, which are stored at the end of the row ("fused") or in a
// separate tensor. Only rows that are looked up are dequantized.
//
//===----------------------------------------------------------------------===//

#include "Caffe2/Segments.h"

using namespace glowish;
using namespace glowish::caffe2;

//===- Dequantization -----------------------------------------------------===//

/// Reinterprets the little-endian bytes of \p rows [L, ...] from column
/// \p first on as \p kind: [L, 1].
static NodeValue readBits(NetOp &op, NodeValue rows, int64_t first,
                          ElemKind kind) {
  ElemKind bits = kind == ElemKind::Float ? ElemKind::UInt32 : ElemKind::UInt16;
  NodeValue value;
  for (int64_t i = getElemSize(kind); i-- > 0;) {
    NodeValue byte = op.cast(op.slice(rows, 1, first + i, 1), bits);
    value = value ? op.add(op.mul(value, 256), byte) : byte;
  }
  return value ? op.make<BitCastNode>(value, kind) : value;
}

/// q * scale + bias, where \p scale and \p bias are [L, 1].
static NodeValue scaleRows(NetOp &op, NodeValue q, NodeValue scale,
                           NodeValue bias) {
  return op.add(op.mul(op.cast(q, ElemKind::Float), scale), bias);
}

/// Unpacks 4-bit integers, two per byte, with the lower bits first.
static NodeValue unpackNibbles(NetOp &op, NodeValue bytes) {
  Dims shape(bytes.getShape());
  NodeValue packed = op.reshape(bytes, {shape[0], shape[1], 1});
  NodeValue high = op.div(packed, 16);
  NodeValue low = op.sub(packed, op.mul(high, 16));
  return op.reshape(op.concat({low, high}, 2), {shape[0], 2 * shape[1]});
}

/// Dequantizes \p rows, which end with their scale and bias, to float.
static NodeValue readFused(NetOp &op, NodeValue rows, const FusedRows &form) {
  int64_t bytes = rows.getShape()[1] - form.getParamSize();
  NodeValue q = op.slice(rows, 1, 0, bytes);
  if (q && form.numBits == 4)
    q = unpackNibbles(op, q);
  auto read = [&](int64_t first) {
    return op.cast(readBits(op, rows, first, form.paramKind), ElemKind::Float);
  };
  return scaleRows(op, q, read(bytes),
                   read(bytes + getElemSize(form.paramKind)));
}

//===- Lookup -------------------------------------------------------------===//

namespace {
/// Format of an embedding table.
enum class TableForm { Float, Rowwise8Bit, Fused8Bit, Fused4Bit };
} // namespace

/// Returns the format of the fused table in input 0: the one given in the
/// options, or that of Caffe2's operator (8 bits with float parameters, 4 bits
/// with float16).
static llvm::Expected<const FusedRows *> readFusedRows(NetOp &op,
                                                       unsigned numBits) {
  const FusedRows *form = op.getBlob(0).fusedRows;
  std::string accepted;
  for (const FusedRows &each : getFusedRows())
    if (each.numBits == numBits) {
      form = form ? form : &each;
      accepted += (each.name + ", ").str();
    }
  if (form->numBits != numBits)
    return op.refuseInput(0, accepted + "or uint8, which is the first of them");
  const Type &type = op.input(0).getType();
  if (type.getKind() != ElemKind::UInt8 || type.getRank() != 2 ||
      type.getDim(1) < form->getParamSize())
    return op.refuseInput(
        0, llvm::formatv("uint8 [rows, columns], of which the last {0} bytes "
                         "are scale and bias",
                         form->getParamSize()));
  GLOWISH_RETURN_IF_ERROR(
      op.checkKnown(0, 1, "scale and bias are the last bytes of a row"));
  return form;
}

/// Checks a row-wise quantized table with scales and biases in input \p index.
static llvm::Error checkRowwise(NetOp &op, unsigned index) {
  const Type &table = op.input(0).getType();
  if (table.getKind() != ElemKind::UInt8 || table.getRank() != 2)
    return op.refuseInput(0, "uint8 [rows, columns], whose scales and biases "
                             "are another input");
  const Type &scales = op.input(index).getType();
  if (!isFloatKind(scales.getKind()) ||
      scales.getShape() != DimsRef({table.getDim(0), 2}))
    return op.refuseInput(index, "a scale and a bias for each row");
  return llvm::Error::success();
}

/// Returns the dequantized rows at \p indices of the table in input 0, with
/// scales and biases in input \p scaleIndex.
static llvm::Expected<NodeValue> lookUpRowwise(NetOp &op, NodeValue indices,
                                               unsigned scaleIndex) {
  GLOWISH_RETURN_IF_ERROR(checkRowwise(op, scaleIndex));
  NodeValue rows = op.gather(op.input(0), indices, 0);
  NodeValue params = op.gather(op.input(scaleIndex), indices, 0);
  params = op.cast(params, ElemKind::Float);
  return op.finish(scaleRows(op, rows, op.slice(params, 1, 0, 1),
                             op.slice(params, 1, 1, 1)));
}

/// Returns the rows at \p indices of the table in input 0 as floats.
/// \p scaleIndex is the input with the parameters of Rowwise8Bit.
static llvm::Expected<NodeValue>
lookUp(NetOp &op, TableForm form, NodeValue indices, unsigned scaleIndex) {
  if (op.input(0).getShape().empty())
    return op.refuseInput(0, "rank 1 or more");
  if (form == TableForm::Rowwise8Bit)
    return lookUpRowwise(op, indices, scaleIndex);
  if (form == TableForm::Float)
    return op.finish(op.gather(op.input(0), indices, 0));
  GLOWISH_ASSIGN_OR_RETURN(
      const FusedRows *fused,
      readFusedRows(op, form == TableForm::Fused8Bit ? 8 : 4));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows,
                           op.finish(op.gather(op.input(0), indices, 0)));
  return op.finish(readFused(op, rows, *fused));
}

/// Multiplies \p rows [L, ...] by \p weights [L].
static NodeValue applyWeights(NetOp &op, NodeValue rows, NodeValue weights) {
  if (!rows || !weights)
    return {};
  Dims shape(rows.getShape().size(), 1);
  shape[0] = weights.getShape()[0];
  return op.mul(rows, op.cast(op.reshape(weights, shape), rows.getElemKind()));
}

/// Inputs: table, weights if \p isWeighted, indices, lengths, and for
/// Rowwise8Bit scales and biases.
template <TableForm form, bool isWeighted>
static llvm::Error importSparseLengths(NetOp &op) {
  unsigned at = isWeighted ? 2 : 1;
  op.ignoreArgs({"average_lookup_length", "length1"}); // hints
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, at));
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, at + 1));
  NodeValue indices = op.input(at), lengths = op.input(at + 1);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, lookUp(op, form, indices, at + 2));
  if (isWeighted) {
    GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 1));
    rows = applyWeights(op, rows, op.input(1));
  }
  NodeValue segments = makeSegments(op, makeEnds(op, lengths), rows);
  return op.setOutput(0, sumSegments(op, rows, segments, lengths));
}

/// Inputs: table, weights, indices, and the start of each list.
static llvm::Error importEmbeddingBag(NetOp &op) {
  op.ignoreArgs({"average_lookup_length", "length1"}); // hints
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 1));
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 2));
  GLOWISH_RETURN_IF_ERROR(checkIndexList(op, 3));
  NodeValue indices = op.input(2);
  NodeValue offsets = op.cast(op.input(3), ElemKind::Int64);
  int64_t numLists = op.input(3).getShape()[0];
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows,
                           lookUp(op, TableForm::Float, indices, 0));
  NodeValue started = makeSegments(op, offsets, indices);
  NodeValue segments =
      op.select(op.equal(started, 0), op.scalar(ElemKind::Int64, numLists),
                op.sub(started, 1));
  return op.setOutput(0, sumSegments(op, applyWeights(op, rows, op.input(1)),
                                     segments, op.input(3)));
}

/// Rows of the table; zeros for the index `padIdx`.
static llvm::Error importEmbedding(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 2));
  GLOWISH_RETURN_IF_ERROR(op.checkIntegers(1));
  int64_t padding = op.getInt("padIdx", -1);
  if (op.getInt("scale", 0) || op.getInt("sparse", 0))
    return makeError("arguments 'scale' and 'sparse' are not supported; "
                     "accepted: 0");
  NodeValue indices = op.input(1);
  NodeValue rows = op.gather(op.input(0), indices, 0);
  if (padding < 0)
    return op.setOutput(0, rows);
  NodeValue isPadding = op.equal(indices, double(padding));
  isPadding = op.unsqueeze(isPadding, int64_t(indices.getShape().size()));
  NodeValue zero = op.number(op.input(0), 0);
  return op.setOutput(0, op.select(isPadding, zero, rows));
}

static constexpr NetOpTraits plainSum{.inputs = 3};
static constexpr NetOpTraits weightedSum{.inputs = 4};
static constexpr NetOpTraits fusedSum{.inputs = 3, .takesFusedRows = true};
static constexpr NetOpTraits weightedFusedSum{.inputs = 4,
                                              .takesFusedRows = true};

static const Caffe2Operators operators = {
    {"SparseLengthsSum", importSparseLengths<TableForm::Float, false>,
     plainSum},
    {"SparseLengthsWeightedSum", importSparseLengths<TableForm::Float, true>,
     weightedSum},
    {"SparseLengthsSum8BitsRowwise",
     importSparseLengths<TableForm::Rowwise8Bit, false>, weightedSum},
    {"SparseLengthsWeightedSum8BitsRowwise",
     importSparseLengths<TableForm::Rowwise8Bit, true>,
     {.inputs = 5}},
    {"SparseLengthsSumFused8BitRowwise",
     importSparseLengths<TableForm::Fused8Bit, false>, fusedSum},
    {"SparseLengthsWeightedSumFused8BitRowwise",
     importSparseLengths<TableForm::Fused8Bit, true>, weightedFusedSum},
    {"SparseLengthsSumFused4BitRowwise",
     importSparseLengths<TableForm::Fused4Bit, false>, fusedSum},
    {"SparseLengthsWeightedSumFused4BitRowwise",
     importSparseLengths<TableForm::Fused4Bit, true>, weightedFusedSum},
    {"EmbeddingBag", importEmbeddingBag, weightedSum},
    {"Embedding", importEmbedding, {.inputs = 2}}};
