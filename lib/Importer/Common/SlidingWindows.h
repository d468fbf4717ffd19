//===- SlidingWindows.h - Sliding windows in N dimensions -------*- C++ -*-===//
//
// Poolings over three dimensions, or with indices, are composed of one slice
// per element along a window dimension; 3-D convolutions of 2-D ones.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_SLIDINGWINDOWS_H
#define GLOWISH_LIB_IMPORTER_COMMON_SLIDINGWINDOWS_H

#include "glowish/Graph/NodeBuilder.h"
#include <algorithm>

namespace glowish {

/// The largest number of a window that is accepted. Up to it nothing that is
/// computed of a window and the extents of a tensor overflows.
constexpr int64_t maxWindowValue = int64_t(1) << 31;

/// The window along one spatial dimension.
struct Edge {
  int64_t extent = 1, kernel = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0; // pads
  int64_t beyond = 0;            // the part of `after` added by ceil_mode

  /// Whether the window's numbers are at most maxWindowValue, pads at least 0
  /// and the others at least 1.
  bool isWithinLimits() const {
    return std::min({kernel, stride, dilation}) >= 1 &&
           std::min(before, after) >= 0 &&
           std::max({kernel, stride, dilation, before, after}) <=
               maxWindowValue;
  }
  int64_t getReach() const { return (kernel - 1) * dilation + 1; }
  int64_t getPadded() const { return extent + before + after; }
  int64_t getCount() const {
    int64_t space = getPadded() - getReach();
    return space < 0 ? 0 : space / stride + 1;
  }
};

/// Returns the edges of images of the extents \p spatial; \p pads has those
/// before all of them, then those behind them.
std::vector<Edge> makeEdges(DimsRef spatial, llvm::ArrayRef<int64_t> kernels,
                            llvm::ArrayRef<int64_t> strides,
                            llvm::ArrayRef<int64_t> dilations,
                            llvm::ArrayRef<int64_t> pads);

/// The windows along both dimensions of images: pairs are [height, width].
struct ImageWindow {
  std::vector<int64_t> kernels = {1, 1}, strides = {1, 1}, dilations = {1, 1};
  /// [top, left, bottom, right].
  std::vector<int64_t> pads = {0, 0, 0, 0};
  /// [bottom, right]: the part of the pads that ceil_mode adds.
  std::vector<int64_t> beyondPads = {0, 0};

  /// Returns the windows along \p edges: both, or that of lines, which are
  /// images of height 1.
  static ImageWindow along(llvm::ArrayRef<Edge> edges);
  /// Returns the window along dimension \p d, which has \p extent.
  Edge getEdge(unsigned d, int64_t extent) const;
  /// Takes the pads of dimension \p d from \p edge.
  void setPads(unsigned d, const Edge &edge);
  bool hasPads() const;
};

/// The largest extent of a kernel of which each element becomes nodes.
constexpr int64_t maxUnrolledKernel = 4096;

/// Returns an error unless the kernels of \p edges, whose elements become
/// nodes, are at most maxUnrolledKernel.
llvm::Error checkUnrolled(llvm::ArrayRef<Edge> edges);

/// Resolves \p autoPad (ONNX's auto_pad, NOTSET if there is none) and
/// \p ceilMode of one dimension. \p length is its extent where a run decides
/// that, else null: an error where the pads would not be the same for all.
llvm::Error completePads(Edge &edge, llvm::StringRef autoPad, bool ceilMode,
                         const Extent *length);

// Values are [N, C, ...], with an edge for each dimension from 2 on.

/// Sums over windows, one dimension after the other.
NodeValue sumWindows(NodeBuilder &b, NodeValue value,
                     llvm::ArrayRef<Edge> edges);
/// Means over windows; with \p countPads padding counts, but for what ceil_mode
/// adds.
NodeValue averageWindows(NodeBuilder &b, NodeValue value,
                         llvm::ArrayRef<Edge> edges, bool countPads);

/// Makes padding of \p pixels [N, H, W, C] that counts in a mean a part of
/// them. \p pads are then what ceil_mode adds, \p bottom and \p right, which
/// does not count.
NodeValue padCounted(NodeBuilder &b, NodeValue pixels,
                     std::vector<int64_t> &pads, int64_t bottom, int64_t right);

/// Values and, unless null, the positions that they were taken from.
struct IndexedMaxima {
  NodeValue values, positions;
};
/// The position that maxWindows() gives a window with NaN.
enum class NaNPosition { First, Last };
/// Returns the maxima of windows, reducing the last dimension first. Of equal
/// elements the first in row-major order is selected, of NaNs that at
/// \p ofNaN.
IndexedMaxima maxWindows(NodeBuilder &b, IndexedMaxima value,
                         llvm::ArrayRef<Edge> edges, NaNPosition ofNaN);

/// For each element of each window its row-major position in an image with its
/// padding: [elements, windows], int64.
NodeValue makeWindowPositions(NodeBuilder &b, llvm::ArrayRef<Edge> edges);
/// Adds the columns [N, C * elements, windows] to images [N, C, ...] of the
/// extents of \p edges, where they may overlap (ONNX Col2Im-18, aten::col2im).
NodeValue addWindows(NodeBuilder &b, NodeValue columns,
                     llvm::ArrayRef<Edge> edges);

/// A convolution of \p input [N, C, D, H, W] with \p filter [OC, C / group, KD,
/// KH, KW]: a sum of 2-D convolutions, one per layer of the filter. \p bias
/// may be null.
NodeValue makeVolumeConvolution(NodeBuilder &b, NodeValue input,
                                NodeValue filter, NodeValue bias,
                                llvm::ArrayRef<Edge> edges, int64_t group);
/// A transposed one likewise, with \p filter [C, OC / group, KD, KH, KW]; the
/// pads of the edges crop the result, to which \p outputPads are appended.
NodeValue makeVolumeConvTranspose(NodeBuilder &b, NodeValue input,
                                  NodeValue filter, NodeValue bias,
                                  llvm::ArrayRef<Edge> edges,
                                  llvm::ArrayRef<int64_t> outputPads,
                                  int64_t group);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_SLIDINGWINDOWS_H
