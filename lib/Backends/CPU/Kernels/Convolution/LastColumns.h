//===- LastColumns.h - Tiles behind the last whole one ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_LASTCOLUMNS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_LASTCOLUMNS_H

#include "Kernels/Convolution/Convolution.h"

namespace glowish {

/// Returns the multiply-adds that do not wait for each other which the units of
/// a core need: two of latency 4 on cores that issue one to each in every
/// cycle; on others, each instruction takes its time.
inline unsigned getFewestSums(const TargetDescription &target) {
  return target.issuesWidely ? 8 : 0;
}

/// Whether columns of the only row that are too few for a tile of \p pixels
/// have tiles of their own where a run states how many there are: those of a
/// matrix.
inline bool hasSmallTiles(const ConvolutionShape &shape, int64_t pixels) {
  return shape.kernelH == 1 && shape.kernelW == 1 && !shape.padLeft &&
         shape.strideW == 1 && pixels > 1;
}

/// The tiles for the columns of a matrix that are behind the last whole tile,
/// where a run states how many columns there are. They may take the last whole
/// tile's columns, too: two tiles of half the columns take less time than a
/// whole one and one of few, which is as slow as the multiply-adds that wait
/// for each other.
class LastColumns {
public:
  /// For tiles of \p tile.pixels out of \p extent columns, of which there are
  /// as many or more.
  LastColumns(Tile tile, int64_t extent, const TargetDescription &target);

  /// The plan for \p left columns behind number \p whole of the whole tiles, of
  /// which tile number \p low is the first that may be taken: an index.
  llvm::Value *getPlan(KernelBuilder &b, llvm::Value *left, llvm::Value *whole,
                       llvm::Value *low) const;
  /// How many whole tiles are in front of those of \p plan.
  llvm::Value *getEnd(KernelBuilder &b, llvm::Value *plan,
                      llvm::Value *whole) const;
  /// Emits the tiles behind the last whole one of \p needed columns, if that is
  /// one of the tiles \p low ... \p high - 1: calls \p emitTile as forTiles
  /// does. Returns the end of the whole tiles that are left.
  llvm::Value *
  emit(KernelBuilder &b, llvm::Value *needed, llvm::Value *low,
       llvm::Value *high,
       llvm::function_ref<void(unsigned, llvm::Value *)> emitTile) const;
  /// Calls \p emitTile(size, column) in loops for all sizes that tiles may
  /// have. \p first: the first column behind the whole tiles.
  void
  forTiles(KernelBuilder &b, llvm::Value *plan, llvm::Value *first,
           llvm::function_ref<void(unsigned, llvm::Value *)> emitTile) const;

private:
  /// One or two sizes, in the order of their columns, and whether they take a
  /// whole tile's columns; none if there are no columns.
  struct Plan {
    llvm::SmallVector<unsigned, 2> sizes;
    bool takesWhole = false;
  };

  Plan divide(unsigned left, bool mayTakeWhole) const;

  unsigned pixels;
  /// Multiply-adds that a unit needs at once, a column's.
  double fewest;
  llvm::SmallVector<unsigned, 16> sizes;
  /// By the number of columns that are left, then the same for those that may
  /// take a whole tile's columns.
  std::vector<Plan> plans;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_LASTCOLUMNS_H
