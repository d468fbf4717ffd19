//===- AmxTile.h - Tiles of int8 dot products in AMX ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_AMXTILE_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_AMXTILE_H

#include "Kernels/AMX/AmxUnit.h"
#include "Kernels/AMX/SlicedImage.h"

namespace glowish {

/// A tile of 16 x 16 int32 sums of products of int8 slices in the tile
/// registers of Intel AMX. There is one register for each order, that is, for
/// the partial products of weight 2^32, 2^24 and 2^16.
class AmxTile : public AmxUnit {
public:
  /// The size of the sums of a tile in memory: [order][row][column].
  static constexpr int64_t sumBytes = numSlices * registerBytes;
  /// The tile multiplications of a reduction step: pairs of slices i and j with
  /// i + j < numSlices.
  static constexpr int64_t numMultiplications = numSlices * (numSlices + 1) / 2;

  using AmxUnit::AmxUnit;

  void clearSums();
  void loadSums(llvm::Value *sums);
  void storeSums(llvm::Value *sums);

  /// The slices of a reduction step: each has 16 rows of 64 bytes, and they are
  /// \p sliceBytes apart.
  struct Slices {
    llvm::Value *address;
    int64_t sliceBytes;
  };
  /// Accumulates \p rows times \p columns. Emits meanwhile(i) after tile
  /// multiplication i of numMultiplications, for code that runs concurrently.
  void multiply(Slices rows, Slices columns,
                llvm::function_ref<void(int64_t)> meanwhile);

  /// Adds row \p row of the stored sums of all orders as floats, in units of
  /// 2^16.
  llvm::Value *addOrders(llvm::Value *sums, llvm::Value *row);

private:
  void loadSlice(unsigned number, Slices slices, int64_t slice);
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_AMXTILE_H
