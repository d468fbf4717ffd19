//===- NBitsMatMul.h - Matmuls of floats and packed weights -----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_NBITS_NBITSMATMUL_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_NBITS_NBITSMATMUL_H

#include "Kernels/MatMul/MicroKernel.h"
#include "Kernels/NBits/NBitsTiles.h"

namespace glowish {

/// The kernel where the left side is floats.
class NBitsMatMul : public NBitsTiles {
public:
  using NBitsTiles::NBitsTiles;

private:
  /// The scales and zero points of a block, a vector each; or none.
  struct Parameters {
    Values scales, zeroPoints;
  };
  /// Rows of weights of the panel: element \p k of the rows of x and those
  /// after it, \p offset bytes a column behind the panel's beginning.
  struct WeightRows {
    llvm::Value *k, *offset;
    int64_t count;
  };
  /// What is done with a row of weights, a vector each, that belongs to element
  /// \p k of the rows of x and is \p factor times too large. Changes the values
  /// that are carried from one to the next; sums are those of set \p set.
  using Step =
      llvm::function_ref<void(llvm::Value *k, Values weights, float factor,
                              unsigned set, Values &sums)>;

  RowTile chooseTile(int64_t numRows) const override;
  RowTile chooseSmallTile() const override;
  void prepare() override;
  Values computeTile(llvm::Value *row, const RowTile &shape,
                     const Columns &columns) override;
  void emitRange(const TileRange &range, int64_t panelColumns,
                 llvm::Value *panel) override;

  bool looksUp() const;
  bool masksWords(const RowTile &shape) const;
  bool reloadsWords(const RowTile &shape) const;
  bool subtractsAtEnd(const RowTile &shape) const;
  bool scalesRow() const;
  void scaleRow();
  llvm::Value *scaleBlock(llvm::Value *number, int64_t count);
  llvm::Value *scaleElements(llvm::Value *k, unsigned row, unsigned count);
  /// How many times too large row \p row of a masked word is.
  float getFactor(unsigned row) const;
  /// Whether scaledRow is the row of the tile.
  bool hasScaledRow(const RowTile &shape) const {
    return scaledRow && shape.isFew && shape.rows == 1;
  }
  /// Whether sums of a block are followed by those of the elements of each row.
  bool sumsRows(const RowTile &shape) const {
    return subtractsAtEnd(shape) && !hasScaledRow(shape);
  }
  /// Whether sums of a block, or of all there are, have no scale yet.
  bool scalesSums(const RowTile &shape) const {
    return shape.isFew || layout.getNumBlocks() == 1;
  }
  Parameters loadParameters(const Columns &columns, llvm::Value *number,
                            const RowTile &shape);
  llvm::Value *takeFromWords(llvm::Value *words, unsigned row);
  llvm::Value *maskWords(llvm::Value *words, unsigned row);
  /// The words at \p address, a vector each.
  Values loadWords(llvm::Value *address, const RowTile &shape);
  Values forBytes(const RowTile &shape, const Columns &columns,
                  const WeightRows &weightRows, Values sums, Step step);
  Values forWords(const RowTile &shape, const Columns &columns,
                  const WeightRows &weightRows, Values sums, Step step);
  /// Calls \p step for each of \p weightRows.
  Values forWeights(const RowTile &shape, const Columns &columns,
                    const WeightRows &weightRows, Values sums, Step step) {
    return layout.hasWords()
               ? forWords(shape, columns, weightRows, std::move(sums), step)
               : forBytes(shape, columns, weightRows, std::move(sums), step);
  }
  void applyParameters(const RowTile &shape, const Parameters &parameters,
                       Values &taken);
  void addStep(llvm::Value *row, llvm::Value *k, const RowTile &shape,
               llvm::ArrayRef<llvm::Value *> taken, float factor, unsigned set,
               Values &sums);
  Values scale(Values sums, const Parameters &parameters, const RowTile &shape,
               llvm::Value *number, llvm::ArrayRef<llvm::Value *> totals);
  Values sumBlock(llvm::Value *row, const RowTile &shape,
                  const Columns &columns, llvm::Value *number, int64_t numRows,
                  Values sums);

  // Tiles of unpacked weights.
  /// Rows of weights that are unpacked together.
  int64_t getPieceRows() const;
  bool unpacks(const RowTile &shape) const;
  void allocatePieces();
  MicroKernel getMicroKernel(const RowTile &shape) const;
  void unpackRows(const RowTile &shape, const Columns &columns,
                  llvm::Value *number, llvm::Value *inBlock, int64_t numRows,
                  llvm::Value *to);
  void addPiece(const TileRange &range, const RowTile &shape,
                const Columns &columns, llvm::Value *number,
                llvm::Value *inBlock, int64_t numRows);
  void forSums(const TileRange &range, const RowTile &shape,
               const Columns &columns, TileBody body);
  void forPieces(llvm::function_ref<void(llvm::Value *number,
                                         llvm::Value *inBlock, int64_t numRows)>
                     body);
  void finishTiles(const TileRange &range, const RowTile &shape,
                   const Columns &columns);

  /// Floats: the elements of the only row, or of the first of a range, over the
  /// factors of their rows in words, and the sums of its blocks; null where
  /// that is left to tiles.
  llvm::Value *scaledRow = nullptr, *blockSums = nullptr;
  /// Floats: weights of a piece, a row a step; and the sums of a task's tiles.
  llvm::Value *unpacked = nullptr, *tileSums = nullptr;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_NBITS_NBITSMATMUL_H
