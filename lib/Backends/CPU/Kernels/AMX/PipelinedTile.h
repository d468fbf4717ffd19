//===- PipelinedTile.h - AMX tiles with a pending result --------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_PIPELINEDTILE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_PIPELINEDTILE_H

#include "Kernels/AMX/AmxTile.h"

namespace glowish {

/// A software pipeline of tiles: while the AMX unit multiplies one tile, the
/// vector units finish the rows of the previous one, which is pending. Its sums
/// are in stack memory.
class PipelinedTile : public AmxTile {
public:
  using RowBody = llvm::function_ref<void(llvm::Value *row)>;

  using AmxTile::AmxTile;

  /// Allocates the sums of \p numTiles >= 2 tiles.
  void allocateSums(int64_t numTiles);
  /// Starts the pipeline, after allocateSums: no tile is pending.
  void start();

  /// The memory for the sums of tile \p number.
  llvm::Value *getSums(llvm::Value *number);
  /// The memory of tile 0 or 1: that of them which is not pending.
  llvm::Value *getFreeSums();

  /// Makes the tile pending whose sums are stored at \p sums. Its first \p
  /// count rows have results.
  void setPending(llvm::Value *sums, llvm::Value *count);
  void clearPending();
  llvm::Value *getPendingSums();

  /// Emits \p body for row \p row of the pending tile, if it has a result.
  void finishRow(llvm::Value *row, llvm::function_ref<void()> body);
  /// Calls \p finishRow for all rows. No tile is pending then.
  void finish(RowBody finishRow);

  /// As AmxTile::multiply, for reduction step \p step of a tile. Each step
  /// calls \p finishRow for \p rowsPerStep rows, between tile multiplications.
  void multiplyAndFinish(Slices rows, Slices columns, llvm::Value *step,
                         int64_t rowsPerStep, RowBody finishRow);

private:
  llvm::Value *buffer = nullptr;
  /// Stack variables: the address of the pending tile's sums, and the number of
  /// its rows with results, 0 if none is pending.
  llvm::Value *pendingSums = nullptr, *pendingCount = nullptr;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_PIPELINEDTILE_H
