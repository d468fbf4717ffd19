//===- MatrixBlocking.h - Blocking of convolutions on AMX -------*- C++ -*-===//
//
// Convolutions of elements of 8 or 16 bits, of which a lane of 32 bits has
// several: channels are counted in lanes here. An AMX register holds 16 lanes
// of 16 pixels, or of 16 output channels.
//
// The reduction of an output pixel goes through runs of lanes that lie side by
// side in the input: the channels of all taps of a kernel row, or of one tap if
// those are dilated. Where pixels are at a constant distance in the input, as
// in matrix products, registers are loaded from it; else from a panel that a
// task packs first: rows with their padding, in which an output pixel's runs
// are at a constant distance from the next one's, across rows as well. The
// few results between two rows are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_MATRIXBLOCKING_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_MATRIXBLOCKING_H

#include "Kernels/AMX/AmxUnit.h"
#include "Kernels/Convolution/LanePacking.h"

namespace glowish {

/// The order of the lanes of a filter: that in which the kernel reads them,
/// each run filled up to whole registers.
LaneOrder getMatrixLaneOrder(const ConvolutionShape &lanes);

/// \p lanes: the convolution in lanes, with one group.
struct MatrixBlocking {
  /// \p rowStride: the distance of pixels in lanes where all pixels of input
  /// and result are one row; 0 where they are not.
  MatrixBlocking(const ConvolutionShape &lanes, int64_t rowStride,
                 const TargetDescription &target);

  /// Whether registers are loaded from the input.
  bool isDirect() const { return rowStride != 0; }

  ConvolutionShape lanes;
  int64_t rowStride;

  //===- The reduction ----------------------------------------------------===//

  /// In how many steps of a register's lanes a run is multiplied.
  int64_t runs, runSteps;
  int64_t getSteps() const { return runs * runSteps; }

  //===- Positions of pixels ----------------------------------------------===//

  /// A result has a position for each of its pixels, and for those between two
  /// rows.
  int64_t images, rows, rowPositions;
  /// The lanes from one position to the next.
  int64_t positionLanes;
  /// Tiles of matrixRows positions that can be loaded from the input: more
  /// lanes are loaded than a run has.
  int64_t directTiles = 0;

  //===- Tasks ------------------------------------------------------------===//

  /// A task computes a band of rows, or of tiles if there is one row, for a
  /// group of blocks of matrixColumns output channels.
  int64_t blocks;
  int64_t bandRows = 1, bandTiles = 0, bands = 1;
  int64_t groupBlocks = 0, groups = 1;
  int64_t getTasks() const { return images * bands * groups; }

  //===- The panel --------------------------------------------------------===//

  /// [phase][row][column][lane]: where the kernel has strides, the rows that
  /// are the same number modulo the stride apart are a phase.
  int64_t phases = 1, panelRows = 0, panelColumns = 0;
  /// With what registers are loaded behind it. The panel of a single row has
  /// the tiles that cannot be loaded from the input.
  int64_t panelLanes = 0;
  /// The lanes from a position to where each of its runs begins.
  std::vector<int64_t> getRunOffsets() const;

  /// The estimated cycles on one thread; infinite if the stack is too small.
  double cycles = 0;

private:
  void setDirect();
  void setBand(int64_t count, const TargetDescription &target);
  void chooseTasks(const TargetDescription &target);
  double estimate() const;
};

/// Emits the convolution \p lanes with a filter packed in getMatrixLaneOrder,
/// in blocks of matrixColumns.
void emitMatrixConvolution(KernelBuilder &b, const ConvolutionShape &lanes,
                           AmxUnit::Elements elements,
                           ConvolutionOperands operands);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_AMX_MATRIXBLOCKING_H
