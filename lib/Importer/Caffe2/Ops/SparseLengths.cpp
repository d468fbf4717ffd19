//===- SparseLengths.cpp - Sums of rows of embedding tables ---------------===//
//
// Tables are float, or rows of 8 or 4 bits with a scale and a bias each, which
// are at the end of the row ("fused") or in a tensor of their own. Only rows
// that are looked up are converted.
//
//===----------------------------------------------------------------------===//

#include "Caffe2/Segments.h"

using namespace glowish;

//===- Rows of bytes ------------------------------------------------------===//

/// Columns \p first ... first + size - 1 of bytes [L, ...], little-endian, as
/// \p kind: [L, 1].
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

/// q * scale + bias: \p scale and \p bias are [L, 1].
static NodeValue scaleRows(NetOp &op, NodeValue q, NodeValue scale,
                           NodeValue bias) {
  return op.add(op.mul(op.cast(q, ElemKind::Float), scale), bias);
}

/// Bytes, then scale and bias as floats.
static NodeValue readFused8Bit(NetOp &op, NodeValue rows) {
  int64_t columns = rows.getShape()[1] - 8;
  return scaleRows(op, op.slice(rows, 1, 0, columns),
                   readBits(op, rows, columns, ElemKind::Float),
                   readBits(op, rows, columns + 4, ElemKind::Float));
}

/// Two numbers a byte, that of the lower bits first; then scale and bias as
/// float16.
static NodeValue readFused4Bit(NetOp &op, NodeValue rows) {
  int64_t count = rows.getShape()[0], bytes = rows.getShape()[1] - 4;
  NodeValue packed = op.reshape(op.slice(rows, 1, 0, bytes), {count, bytes, 1});
  NodeValue high = op.div(packed, 16);
  NodeValue low = op.sub(packed, op.mul(high, 16));
  NodeValue q = op.reshape(op.concat({low, high}, 2), {count, 2 * bytes});
  auto read = [&](int64_t first) {
    return op.cast(readBits(op, rows, first, ElemKind::Float16),
                   ElemKind::Float);
  };
  return scaleRows(op, q, read(bytes), read(bytes + 2));
}

//===- Looking up ---------------------------------------------------------===//

namespace {
/// How a table has its numbers.
enum class TableForm { Float, Rowwise8Bit, Fused8Bit, Fused4Bit };
} // namespace

static llvm::Error checkTable(NetOp &op, TableForm form, unsigned scaleIndex) {
  NodeValue table = op.input(0);
  if (table.getShape().empty())
    return op.refuseInput(0, "rank 1 or more");
  if (form == TableForm::Float)
    return llvm::Error::success();
  int64_t trailer = form == TableForm::Fused8Bit   ? 8
                    : form == TableForm::Fused4Bit ? 4
                                                   : 0;
  if (table.getElemKind() != ElemKind::UInt8 || table.getShape().size() != 2 ||
      table.getShape()[1] < trailer)
    return op.refuseInput(
        0, llvm::formatv("uint8 [rows, columns], of which the last {0} bytes "
                         "are scale and bias",
                         trailer)
               .str());
  if (form == TableForm::Rowwise8Bit &&
      op.input(scaleIndex).getShape() != DimsRef({table.getShape()[0], 2}))
    return op.refuseInput(scaleIndex, "a scale and a bias for each row");
  return llvm::Error::success();
}

/// The rows of the table, input 0, at \p indices. \p scales: those of
/// Rowwise8Bit.
static NodeValue lookUp(NetOp &op, TableForm form, NodeValue indices,
                        NodeValue scales) {
  NodeValue rows = op.gather(op.input(0), indices, 0);
  if (!rows)
    return rows;
  switch (form) {
  case TableForm::Float:
    return rows;
  case TableForm::Rowwise8Bit: {
    NodeValue params = op.gather(scales, indices, 0);
    return scaleRows(op, rows, op.slice(params, 1, 0, 1),
                     op.slice(params, 1, 1, 1));
  }
  case TableForm::Fused8Bit:
    return readFused8Bit(op, rows);
  case TableForm::Fused4Bit:
    return readFused4Bit(op, rows);
  }
  llvm_unreachable("a form");
}

/// \p rows [L, ...] times \p weights [L].
static NodeValue weigh(NetOp &op, NodeValue rows, NodeValue weights) {
  if (!rows || !weights)
    return {};
  Dims shape(rows.getShape().size(), 1);
  shape[0] = weights.getShape()[0];
  return op.mul(rows, op.cast(op.reshape(weights, shape), rows.getElemKind()));
}

/// Inputs: table, weights if it \p isWeighted, indices, lengths, and scales
/// and biases of Rowwise8Bit.
template <TableForm form, bool isWeighted>
static llvm::Error importSparseLengths(NetOp &op) {
  unsigned at = isWeighted ? 2 : 1;
  op.ignoreArgs({"average_lookup_length", "length1"}); // hints
  GLOWISH_CHECK(checkIndexList(op, at));
  GLOWISH_CHECK(checkIndexList(op, at + 1));
  GLOWISH_CHECK(checkTable(op, form, at + 2));
  NodeValue indices = op.input(at), lengths = op.input(at + 1);
  int64_t count = indices.getShape()[0];
  NodeValue rows = lookUp(op, form, indices, op.optionalInput(at + 2));
  if (isWeighted) {
    GLOWISH_CHECK(op.checkRank(1, 1));
    rows = weigh(op, rows, op.input(1));
  }
  NodeValue segments = makeSegments(op, makeEnds(op, lengths), count);
  return op.setOutput(0,
                      sumSegments(op, rows, segments, lengths.getShape()[0]));
}

/// Table, weights, indices, and where the lists start: the first at 0.
static llvm::Error importEmbeddingBag(NetOp &op) {
  op.ignoreArgs({"average_lookup_length", "length1"}); // hints
  GLOWISH_CHECK(checkTable(op, TableForm::Float, 0));
  GLOWISH_CHECK(op.checkRank(1, 1));
  GLOWISH_CHECK(checkIndexList(op, 2));
  GLOWISH_CHECK(checkIndexList(op, 3));
  NodeValue indices = op.input(2);
  NodeValue offsets = op.cast(op.input(3), ElemKind::Int64);
  int64_t numLists = op.input(3).getShape()[0];
  NodeValue rows = lookUp(op, TableForm::Float, indices, NodeValue());
  NodeValue started = makeSegments(op, offsets, indices.getShape()[0]);
  NodeValue segments =
      op.select(op.equal(started, 0), op.scalar(ElemKind::Int64, numLists),
                op.sub(started, 1));
  return op.setOutput(
      0, sumSegments(op, weigh(op, rows, op.input(1)), segments, numLists));
}

/// Rows of the table; zeros for the index `padIdx`.
static llvm::Error importEmbedding(NetOp &op) {
  GLOWISH_CHECK(op.checkRank(0, 2));
  GLOWISH_CHECK(op.checkIntegers(1));
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

static constexpr NetOpTraits sum{.minInputs = 3, .maxInputs = 3};
static constexpr NetOpTraits weighted{.minInputs = 4, .maxInputs = 4};
static constexpr NetOpTraits weightedRows{.minInputs = 5, .maxInputs = 5};
static Caffe2Operator sumOp("SparseLengthsSum",
                            importSparseLengths<TableForm::Float, false>, sum);
static Caffe2Operator weightedSumOp("SparseLengthsWeightedSum",
                                    importSparseLengths<TableForm::Float, true>,
                                    weighted);
static Caffe2Operator
    sum8BitOp("SparseLengthsSum8BitsRowwise",
              importSparseLengths<TableForm::Rowwise8Bit, false>, weighted);
static Caffe2Operator
    weightedSum8BitOp("SparseLengthsWeightedSum8BitsRowwise",
                      importSparseLengths<TableForm::Rowwise8Bit, true>,
                      weightedRows);
static Caffe2Operator
    sumFused8BitOp("SparseLengthsSumFused8BitRowwise",
                   importSparseLengths<TableForm::Fused8Bit, false>, sum);
static Caffe2Operator
    weightedSumFused8BitOp("SparseLengthsWeightedSumFused8BitRowwise",
                           importSparseLengths<TableForm::Fused8Bit, true>,
                           weighted);
static Caffe2Operator
    sumFused4BitOp("SparseLengthsSumFused4BitRowwise",
                   importSparseLengths<TableForm::Fused4Bit, false>, sum);
static Caffe2Operator
    weightedSumFused4BitOp("SparseLengthsWeightedSumFused4BitRowwise",
                           importSparseLengths<TableForm::Fused4Bit, true>,
                           weighted);
static Caffe2Operator embeddingBagOp("EmbeddingBag", importEmbeddingBag,
                                     weighted);
static Caffe2Operator embeddingOp("Embedding", importEmbedding,
                                  {.minInputs = 2, .maxInputs = 2});
