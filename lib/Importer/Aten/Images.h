//===- Images.h - Images and windows of ATen's operators --------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ATEN_IMAGES_H
#define GLOWISH_LIB_IMPORTER_ATEN_IMAGES_H

#include "Aten/AtenOp.h"
#include "Common/SlidingWindows.h"

namespace glowish::aten {

/// Images of one, two or three spatial dimensions: [N, C, ...] in PyTorch.
/// Those of one or two are [N, H, W, C] in the graph.
class AtenImages {
public:
  /// Reads \p argument, whose batch may be left out. An error unless it has
  /// \p numSpatial dimensions then.
  static llvm::Expected<AtenImages> read(AtenOp &op, llvm::StringRef argument,
                                         unsigned numSpatial);

  /// Returns the images as PyTorch has them, [N, C, ...].
  NodeValue getValue() const { return value; }
  DimsRef getSpatial() const { return value.getShape().drop_front(2); }
  /// Returns whether a run decides the extent of a spatial dimension.
  bool hasOpenSides() const;
  /// Returns the images as [N, H, W, C]; with one spatial dimension H is 1.
  NodeValue getNHWC(AtenOp &op) const { return toNHWC(op, value); }
  /// Returns \p value, [N, C, W] or [N, C, H, W], as [N, H, W, C].
  static NodeValue toNHWC(AtenOp &op, NodeValue value);

  /// Brings \p result [N, H, W, C] back to PyTorch's form of the images.
  NodeValue fromNHWC(AtenOp &op, NodeValue result) const;
  /// Drops the batch of \p result [N, C, ...] if there was none.
  NodeValue restoreBatch(AtenOp &op, NodeValue result) const;

private:
  NodeValue value;
  unsigned numSpatial = 2;
  bool hasBatch = true;
};

/// Returns the windows over \p spatial that `kernel_size`, `stride`, `padding`,
/// and `dilation` and `ceil_mode` where the schema has them, state. Strides
/// that are not stated are the kernel's extents. \p extents: those that runs
/// decide, if any.
llvm::Expected<std::vector<Edge>>
readEdges(AtenOp &op, DimsRef spatial,
          llvm::ArrayRef<std::optional<Extent>> extents = {});
/// Returns the windows over the spatial dimensions of \p images.
llvm::Expected<std::vector<Edge>> readEdges(AtenOp &op,
                                            const AtenImages &images);

} // namespace glowish::aten

#endif // GLOWISH_LIB_IMPORTER_ATEN_IMAGES_H
