//===- NBitsWeights.cpp - Weights as MatMulNBits reads them ---------------===//
//
// Source: ONNX Runtime's ContribOperators.md.
//
//===----------------------------------------------------------------------===//

#include "ONNX/NBitsWeights.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

/// The largest blocks that ONNX Runtime has kernels for. Longer ones become
/// several with equal parameters.
static constexpr int64_t mostRows = 256;

namespace {

/// Reads the weights and writes their columns.
class NBitsPacker {
public:
  NBitsPacker(const LinearQuantization &weights, bool isTransposed)
      : weights(weights), rowAxis(isTransposed ? 1 : 0) {}

  std::optional<NBitsWeights> run();

private:
  bool chooseBlock();
  /// The number of the block's parameter that \p row of \p column has.
  int64_t getParameterIndex(int64_t row, int64_t column) const;
  /// The zero point, which is not negative.
  int64_t getZeroPoint(int64_t block, int64_t column) const {
    int64_t index = getParameterIndex(block * result.block, column);
    return int64_t(weights.zeroPoint.getAsDouble(index)) + offset;
  }
  void packColumn(int64_t column);
  void packZeroPoints();

  const LinearQuantization &weights;
  unsigned rowAxis;
  int64_t numBlocks = 0;
  /// What is added to signed integers, so that none is negative.
  int64_t offset = 0;
  NBitsWeights result;
};

} // namespace

bool NBitsPacker::chooseBlock() {
  DimsRef shape = weights.input.getShape();
  if (shape.size() != 2 || weights.input.getType().getNumElements() == 0)
    return false;
  result.rows = shape[rowAxis];
  result.columns = shape[1 - rowAxis];
  bool isOfRows = weights.axis && *weights.axis == int64_t(rowAxis);
  if (weights.axis && bool(weights.block) != isOfRows)
    return false;
  int64_t given = weights.block.value_or(result.rows);
  // Behind the rows there may be more in a block: zeros are added.
  result.block = given < result.rows
                     ? given & -given
                     : int64_t(llvm::PowerOf2Ceil(uint64_t(result.rows)));
  if (given >= result.rows)
    result.block = std::max<int64_t>(result.block, 16);
  result.block = std::min(result.block, mostRows);
  numBlocks = (result.rows + result.block - 1) / result.block;
  return result.block >= 16;
}

int64_t NBitsPacker::getParameterIndex(int64_t row, int64_t column) const {
  if (!weights.axis)
    return 0;
  if (!weights.block)
    return column;
  int64_t block = row / *weights.block;
  return rowAxis == 0 ? block * result.columns + column
                      : column * weights.scale.getType().getShape()[1] + block;
}

void NBitsPacker::packColumn(int64_t column) {
  const auto *from = static_cast<const uint8_t *>(
      weights.input.getNodeAs<Constant>()->getPayload()->getBytes());
  int64_t columnBytes = numBlocks * result.block * result.bits / 8;
  auto *to =
      static_cast<uint8_t *>(result.integers.getBytes()) + column * columnBytes;
  int64_t rowStride = rowAxis == 0 ? result.columns : 1;
  int64_t columnStride = rowAxis == 0 ? 1 : result.rows;
  int64_t mask = (int64_t(1) << result.bits) - 1;
  for (int64_t row = 0; row < result.rows; ++row) {
    int64_t stored = from[row * rowStride + column * columnStride];
    // In memory an element has a byte, with the sign in its upper bits.
    int64_t integer = (stored + offset) & mask;
    to[row * result.bits / 8] |= uint8_t(integer << row * result.bits % 8);
  }
  for (int64_t block = 0; block < numBlocks; ++block)
    result.scales.setFromDouble(column * numBlocks + block,
                                weights.scale.getAsDouble(getParameterIndex(
                                    block * result.block, column)));
}

void NBitsPacker::packZeroPoints() {
  int64_t columnBytes = (numBlocks * result.bits + 7) / 8;
  int64_t half = int64_t(1) << (result.bits - 1);
  bool isDefault = true;
  Tensor packed(Type(ElemKind::UInt8, {result.columns, columnBytes}));
  auto *to = static_cast<uint8_t *>(packed.getBytes());
  std::fill_n(to, packed.getNumElements(), uint8_t(0));
  for (int64_t column = 0; column < result.columns; ++column)
    for (int64_t block = 0; block < numBlocks; ++block) {
      int64_t zero = getZeroPoint(block, column);
      isDefault &= zero == half;
      to[column * columnBytes + block * result.bits / 8] |=
          uint8_t(zero << block * result.bits % 8);
    }
  if (!isDefault)
    result.zeroPoints = std::move(packed);
}

std::optional<NBitsWeights> NBitsPacker::run() {
  if (!chooseBlock())
    return std::nullopt;
  result.bits = getElemBits(weights.kind);
  bool isSigned =
      weights.kind == ElemKind::Int4 || weights.kind == ElemKind::Int8;
  offset = isSigned ? int64_t(1) << (result.bits - 1) : 0;
  result.integers =
      Tensor(Type(ElemKind::UInt8,
                  {result.columns, numBlocks, result.block * result.bits / 8}));
  auto *bytes = static_cast<uint8_t *>(result.integers.getBytes());
  std::fill_n(bytes, result.integers.getNumElements(), uint8_t(0));
  result.scales = Tensor(Type(ElemKind::Float, {result.columns, numBlocks}));
  for (int64_t column = 0; column < result.columns; ++column)
    packColumn(column);
  packZeroPoints();
  return std::move(result);
}

std::optional<NBitsWeights>
glowish::packNBits(const LinearQuantization &weights, bool isTransposed) {
  return NBitsPacker(weights, isTransposed).run();
}
