//===- NBitsLayout.h - Packed weights of MatMulNBits ------------*- C++ -*-===//
//
// Columns are packed in panels that the kernel reads from the beginning to the
// end, so that all weights are one stream. A row of a panel is as wide as the
// widest vectors, or a multiple of that, on any target: code for several levels
// of a processor shares weights.
//
// Weights of 8 bits: row after row. Weights of 4 bits: eight rows are one row
// of 32-bit words, one word a column, the first row in the lowest bits; each
// block begins with a new word. Signed ones have a bias, so that all are at
// least 0.
//
// For a left side of integers, which are multiplied four at a time, weights of
// 8 bits are in words of four rows, and of 4 bits the first four rows of a word
// are the lower halves of its bytes. Weights of 8 bits are signed.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_NBITS_NBITSLAYOUT_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_NBITS_NBITSLAYOUT_H

#include "glowish/Base/ElemKind.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace glowish {

struct NBitsLayout {
  /// Columns of all panels but the last.
  static constexpr int64_t panelColumns = 64;
  /// The columns of the last panel are filled up to a multiple of these: lanes
  /// of the widest vectors.
  static constexpr int64_t alignedColumns = 16;

  /// K, N and `block` of the MatMulNBits.
  int64_t depth, columns, block;
  /// The element kind of the weights.
  ElemKind kind;
  /// The left side is integers.
  bool isForIntegers = false;

  /// Whether integers can be the left side: blocks are whole, of whole words,
  /// and sums of 32 bits are large enough.
  static bool takesIntegers(int64_t depth, int64_t block) {
    constexpr int64_t most = 1 << 16;
    return depth % block == 0 && block % 8 == 0 && block <= most;
  }
  bool hasHalfBytes() const { return getElemBits(kind) == 4; }
  bool hasWords() const { return hasHalfBytes() || isForIntegers; }
  /// Rows of a column in a word.
  int64_t getWordRows() const { return hasHalfBytes() ? 8 : 4; }
  /// The lowest bit of row \p row in a word.
  unsigned getShift(unsigned row) const {
    if (!hasHalfBytes())
      return 8 * row;
    return isForIntegers ? row % 4 * 8 + row / 4 * 4 : 4 * row;
  }
  bool isSigned() const {
    return kind == ElemKind::Int8 || kind == ElemKind::Int4;
  }
  /// What is added to weights before they are packed.
  int getBias() const {
    if (hasHalfBytes())
      return isSigned() ? 8 : 0;
    return isForIntegers && !isSigned() ? -128 : 0;
  }
  int64_t getNumBlocks() const {
    return int64_t(llvm::divideCeil(depth, block));
  }
  /// The rows of block \p number.
  int64_t getBlockRows(int64_t number) const {
    return std::min(block, depth - number * block);
  }
  /// The bytes of a column of a block of \p rows rows.
  int64_t getBlockBytes(int64_t rows) const {
    return hasWords() ? int64_t(llvm::divideCeil(rows, getWordRows())) * 4
                      : rows;
  }
  /// The bytes of a column.
  int64_t getColumnBytes() const {
    return depth / block * getBlockBytes(block) + getBlockBytes(depth % block);
  }
  int64_t getNumPanels() const {
    return int64_t(llvm::divideCeil(columns, panelColumns));
  }
  /// The columns of panel \p number that have results.
  int64_t getPanelColumns(int64_t number) const {
    return std::min(panelColumns, columns - number * panelColumns);
  }
  /// The columns of a panel of which \p used have results.
  static int64_t getPanelWidth(int64_t used) {
    return int64_t(llvm::alignTo(used, alignedColumns));
  }
  /// The columns of all panels.
  int64_t getPaddedColumns() const { return getPanelWidth(columns); }
  int64_t getWeightBytes() const {
    return getColumnBytes() * getPaddedColumns();
  }
  /// The number of scales, and of zero points.
  int64_t getNumParameters() const {
    return getNumBlocks() * getPaddedColumns();
  }

  /// Where column \p n of packed rows begins: its panel has \p rowsBefore
  /// elements a column in front of the row, and \p rowsAll in all.
  int64_t getElement(int64_t n, int64_t rowsBefore, int64_t rowsAll) const {
    int64_t panel = n / panelColumns;
    int64_t width = getPanelWidth(getPanelColumns(panel));
    return panel * panelColumns * rowsAll + rowsBefore * width +
           n % panelColumns;
  }
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_NBITS_NBITSLAYOUT_H
