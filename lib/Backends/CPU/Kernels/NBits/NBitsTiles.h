//===- NBitsTiles.h - Tiles of matmuls with packed weights ------*- C++ -*-===//
//
// What matmuls with weights of 8 and 4 bits have in common: tasks of rows and
// panels of columns, and the tiles of these.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_NBITS_NBITSTILES_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_NBITS_NBITSTILES_H

#include "Kernels/Epilogue.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/NBits/NBitsLayout.h"

namespace glowish {

/// Rows by vectors of columns, whose sums are in registers.
struct RowTile {
  unsigned rows, vectors;
  /// The rows are so few that reading weights from memory takes the time.
  bool isFew = false;
  /// Sums that are added at the end: a core adds to several at once.
  unsigned sets = 1;

  unsigned countSums() const { return sets * rows * vectors; }
};

class NBitsTiles {
public:
  NBitsTiles(KernelBuilder &b, const CPUMatMulNBitsInstr &instr,
             const KernelOperands &operands);
  virtual ~NBitsTiles() = default;
  void emit();

protected:
  using Instr = CPUMatMulNBitsInstr;

  /// The columns of a tile, and what is read for them.
  struct Columns {
    /// The first in the panel and of the result; those that have results.
    llvm::Value *inPanel, *inResult;
    unsigned used;
    /// The width of the panel, and where it begins.
    int64_t width;
    llvm::Value *weights, *scales, *zeroPoints;
  };

  /// The tile for \p numRows rows, of which all tiles have about as many.
  virtual RowTile chooseTile(int64_t numRows) const = 0;
  /// The tile for runs that need at most as many rows as it has, of many.
  virtual RowTile chooseSmallTile() const = 0;
  /// Emits what is there once a kernel, in front of its tasks.
  virtual void prepare() {}
  /// Emits what is there once for rows \p row ... and a panel.
  virtual void beginTile(llvm::Value * /*row*/, const RowTile & /*shape*/) {}
  /// The results of a tile before the epilogue, floats, row by row.
  virtual Values computeTile(llvm::Value *row, const RowTile &shape,
                             const Columns &columns) = 0;
  /// Tiles first ... end - 1 of the rows, and perhaps rows behind the last
  /// whole tile.
  struct TileRange {
    llvm::Value *first, *end;
    /// How many rows there are behind the last whole tile.
    int64_t left;
    /// Whether these are in the range; null where there are none.
    llvm::Value *hasLeft;
  };
  using TileBody = llvm::function_ref<void(llvm::Value *row, llvm::Value *place,
                                           const RowTile &shape)>;
  /// Calls \p body for the first row and the number of each tile of \p range,
  /// and its part of \p shape.
  void forTiles(const TileRange &range, RowTile shape, TileBody body);
  /// Emits the tiles of \p range for a panel, of which \p panelColumns columns
  /// have results.
  virtual void emitRange(const TileRange &range, int64_t panelColumns,
                         llvm::Value *panel);

  void emitTile(llvm::Value *row, RowTile shape, int64_t panelColumns,
                llvm::Value *panel);
  /// Calls \p body for each tile's columns of a panel.
  void
  forColumns(int64_t panelColumns, llvm::Value *panel, RowTile shape,
             llvm::function_ref<void(const RowTile &, const Columns &)> body);
  void store(llvm::Value *row, const RowTile &shape, const Columns &columns,
             llvm::ArrayRef<llvm::Value *> sums);
  llvm::Value *getLhsAddress(llvm::Value *row, llvm::Value *k);
  llvm::Value *splatLiteral(double value) {
    return b.literal(ElemKind::Float, value, lanes);
  }
  /// Where all of a panel is read from \p address on, and that takes the time,
  /// begins to read the \p bytes that follow some way behind.
  void prefetch(const RowTile &shape, llvm::Value *address, int64_t bytes);
  /// Returns words whose bytes were loaded from memory, with the first byte in
  /// the lowest bits.
  llvm::Value *orderBytes(llvm::Value *words);
  /// \p integers of fewer bits as floats.
  llvm::Value *widenIntegers(llvm::Value *integers);
  /// The scales of block \p number, a vector each.
  Values loadScales(const Columns &columns, llvm::Value *number,
                    const RowTile &shape);
  /// The same of the zero points plus \p bias, which weights have where they
  /// are multiplied; none where all of these are 0.
  Values loadZeroPoints(const Columns &columns, llvm::Value *number,
                        const RowTile &shape, int bias);
  /// Whether tiles of one row are of the only row, or of the first of a range:
  /// it can be prepared once for all columns.
  bool hasOneRow() const {
    return rows.size() == 1 && (rows.shape.back() == 1 || neededRows);
  }

  KernelBuilder &b;
  NBitsLayout layout;
  StridedOperand lhs, lhsScales, result;
  EpilogueCode epilogue;
  llvm::Value *weights, *scales, *zeroPoints;
  /// Lanes of a vector of floats.
  unsigned lanes;
  /// The dimensions of the rows; the last is that of a tile's rows.
  LoopExtents rows;
  /// How many indices of the last one a run needs, an index; null for all.
  llvm::Value *neededRows = nullptr;
  RowTile tile = {};
  /// About as many rows share a task.
  static constexpr int64_t rowsPerTask = 96;
  /// Tiles of rows that share a task.
  int64_t tilesPerTask = 1;
  /// The indices of the dimensions of the rows in front of the last.
  Values batch;

private:
  void emitRows(llvm::Value *group, int64_t panelColumns, llvm::Value *panel);
  void emitTiles(llvm::Value *group, int64_t panelColumns, llvm::Value *panel);
  llvm::Value *getParameters(const Columns &columns, llvm::Value *number);
};

/// The kernel where the left side is integers.
void emitIntegerMatMulNBits(KernelBuilder &b, const CPUMatMulNBitsInstr &instr,
                            const KernelOperands &operands);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_NBITS_NBITSTILES_H
