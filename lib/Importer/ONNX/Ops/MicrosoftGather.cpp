//===- MicrosoftGather.cpp - Gather from quantized tables -----------------===//
//
// GatherBlockQuantized of com.microsoft. The stored integers of the chosen
// slices are gathered, and only these are unpacked and dequantized, so that the
// table is as small as in the file. Source: ONNX Runtime's ContribOperators.md.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Ops/Indexing.h"
#include "ONNX/Quantization.h"
#include "glowish/Base/TensorSource.h"
#include "glowish/Graph/PackedRows.h"
#include "glowish/Importer/OperatorNotes.h"

using namespace glowish;
using namespace glowish::onnximport;

namespace {

/// How a table of integers is stored.
struct BlockTable {
  int64_t gatherAxis, quantizeAxis, block;
  ElemKind kind;
  /// The bits of an integer. Those of fewer than 8 lie side by side in bytes
  /// along the last dimension, the first in the lowest bits.
  int64_t bits;
  /// The shapes of the integers, and of their scales and zero points.
  Dims shape, parameters;

  int64_t getLastDim() const { return int64_t(shape.size()) - 1; }
  /// What is added to integers and zero points, so that none is negative.
  int getOffset() const { return kind == ElemKind::Int4 ? 8 : 0; }
  /// The zero point without others, with the offset.
  int64_t getDefaultZeroPoint() const {
    return kind == ElemKind::UInt8 ? int64_t(1) << (bits - 1) : getOffset();
  }
};

} // namespace

/// The bytes that \p count integers of \p bits bits take.
static int64_t countBytes(int64_t count, int64_t bits) {
  return (count * bits + 7) / 8;
}

/// Reads the attribute `bits` and how input 0 is stored, for the axes of
/// \p table.
static llvm::Error readStorage(OpContext &op, BlockTable &table) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue data, op.getInput(0));
  table.bits = op.getInt("bits", 4);
  table.kind = data.getElemKind();
  table.shape = Dims(data.getShape());
  if (table.kind == ElemKind::UInt8) {
    if (table.bits != 2 && table.bits != 4 && table.bits != 8)
      return makeError("attribute 'bits' is {0}; accepted: 2, 4, 8",
                       table.bits);
    if (table.bits < 8 && table.gatherAxis == table.getLastDim())
      return makeError("attribute 'gather_axis' is {0}, the dimension along "
                       "which integers share bytes; accepted: another one",
                       table.gatherAxis);
    table.shape.back() *= 8 / table.bits;
    return llvm::Error::success();
  }
  if (table.kind != ElemKind::Int4 && table.kind != ElemKind::UInt4)
    return op.refuseInput(0, "uint8, int4, uint4");
  if (table.bits != 4)
    return makeError("attribute 'bits' is {0} for {1}; accepted: 4", table.bits,
                     getElemKindName(table.kind));
  // What shares a byte is gathered together.
  if (table.gatherAxis == table.getLastDim())
    table.bits = 8;
  return llvm::Error::success();
}

static llvm::Expected<BlockTable> readTable(OpContext &op) {
  BlockTable table;
  GLOWISH_ASSIGN_OR_RETURN(NodeValue data, op.getInput(0));
  unsigned rank = data.getShape().size();
  GLOWISH_ASSIGN_OR_RETURN(table.gatherAxis,
                           op.getAxis("gather_axis", 0, rank));
  GLOWISH_ASSIGN_OR_RETURN(table.quantizeAxis,
                           op.getAxis("quantize_axis", 1, rank));
  table.block = op.getInt("block_size", 128);
  if (table.gatherAxis == table.quantizeAxis)
    return makeError("attributes 'gather_axis' and 'quantize_axis' are both "
                     "{0}; accepted: two dimensions",
                     table.gatherAxis);
  if (table.block < 16 || table.block > INT32_MAX ||
      (table.block & (table.block - 1)))
    return makeError("attribute 'block_size' is {0}; accepted: powers of two "
                     "from 16 on",
                     table.block);
  GLOWISH_RETURN_IF_ERROR(readStorage(op, table));
  table.parameters = table.shape;
  int64_t &blocks = table.parameters[table.quantizeAxis];
  blocks = (blocks + table.block - 1) / table.block;
  return table;
}

/// Returns \p integers, of 4 bits in rows of whole bytes, as the bytes of the
/// model's file; none where they are somewhere else.
static std::optional<Tensor> findPackedRows(const Tensor &integers,
                                            DimsRef bytes) {
  auto *stored = llvm::dyn_cast_or_null<StoredElements>(integers.getSource());
  DimsRef shape = integers.getType().getShape();
  if (!stored || shape.back() % 2 != 0 ||
      stored->getLayout().strides !=
          StoredElements::getRowMajorStrides(shape, 4))
    return std::nullopt;
  return StoredElements::makeTensor(Type(ElemKind::UInt8, bytes),
                                    stored->getLayout().stored);
}

/// Returns input \p index, integers of \p shape, as \p table stores them:
/// uint8. In memory an integer of 4 bits has a byte of its own, so a constant
/// of these is packed, if it is not in the model's file.
static llvm::Expected<NodeValue> readIntegers(OpContext &op, unsigned index,
                                              const BlockTable &table,
                                              DimsRef shape) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue given, op.getInput(index));
  bool isPacked = table.kind == ElemKind::UInt8;
  Dims bytes(shape), expected(shape);
  bytes.back() = countBytes(shape.back(), table.bits);
  if (isPacked)
    expected = bytes;
  if (given.getElemKind() != table.kind ||
      given.getShape() != DimsRef(expected))
    return op.refuseInput(index, Type(table.kind, expected).str());
  if (isPacked)
    return given;
  GLOWISH_ASSIGN_OR_RETURN(const Tensor *integers, op.getConstant(index));
  if (table.bits == 4 && table.getOffset() == 0)
    if (std::optional<Tensor> rows = findPackedRows(*integers, bytes))
      return op.createConstant(std::move(*rows));
  return op.createConstant(packRows(*integers, table.getOffset(), table.bits));
}

/// The zero points of the slices at \p indices, or the default one.
static llvm::Expected<NodeValue>
gatherZeroPoints(OpContext &op, const BlockTable &table, NodeValue indices) {
  if (!op.hasInput(3))
    return op.finish(
        op.scalar(ElemKind::UInt8, double(table.getDefaultZeroPoint())));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue stored,
                           readIntegers(op, 3, table, table.parameters));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue gathered,
                           gatherSlices(op, stored, indices, table.gatherAxis));
  return op.finish(
      unpackRows(op, gathered, table.bits, table.parameters.back()));
}

static llvm::Error importGatherBlockQuantized(OpContext &op) {
  op.keepExtents();
  GLOWISH_ASSIGN_OR_RETURN(BlockTable table, readTable(op));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue given, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue scales, op.getInput(2));
  if (!isFloatKind(scales.getElemKind()) ||
      scales.getShape() != DimsRef(table.parameters))
    return op.refuseInput(
        2, llvm::formatv("floats, {0}", formatShape(table.parameters)));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue stored,
                           readIntegers(op, 0, table, table.shape));
  // Blocks are repeated in shapes that join dimensions of the indices.
  NodeValue indices = op.dropExtents(given);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue gathered,
                           gatherSlices(op, stored, indices, table.gatherAxis));
  GLOWISH_ASSIGN_OR_RETURN(
      gathered,
      op.finish(unpackRows(op, gathered, table.bits, table.shape.back())));
  Quantized result = {{ElemKind::UInt8, {}, {}}, gathered};
  GLOWISH_ASSIGN_OR_RETURN(result.scale,
                           gatherSlices(op, scales, indices, table.gatherAxis));
  GLOWISH_ASSIGN_OR_RETURN(result.zeroPoint,
                           gatherZeroPoints(op, table, indices));
  int64_t axis = table.quantizeAxis;
  if (axis > table.gatherAxis)
    axis += int64_t(indices.getType().getRank()) - 1;
  for (NodeValue *parameter : {&result.scale, &result.zeroPoint})
    if (!parameter->getShape().empty()) {
      GLOWISH_ASSIGN_OR_RETURN(
          *parameter,
          repeatBlocks(op, *parameter, gathered.getShape(), axis, table.block));
    }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue chosen, dequantize(op, result));
  GLOWISH_ASSIGN_OR_RETURN(chosen, castTo(op, chosen, scales.getElemKind()));
  ExtentList extents(chosen.getShape().size());
  llvm::copy(given.getType().getExtents(), extents.begin() + table.gatherAxis);
  return op.setOutput(0, restateExtents(op, chosen, extents));
}

static OnnxOperator gatherBlockQuantizedOp("GatherBlockQuantized", 1,
                                           importGatherBlockQuantized,
                                           microsoftDomain);
static OnnxOperatorNotes gatherBlockQuantizedNotes(
    "GatherBlockQuantized",
    {.limit = "integers; slices are not chosen along the dimension of blocks"},
    microsoftDomain);
