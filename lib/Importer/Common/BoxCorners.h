//===- BoxCorners.h - Boxes by their corners --------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_BOXCORNERS_H
#define GLOWISH_LIB_IMPORTER_COMMON_BOXCORNERS_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Returns \p boxes [B, N, 4] as [top, left, bottom, right]. They are two
/// opposite corners, [y, x, y, x], or [x, y, width, height] with x and y at the
/// center (ONNX NonMaxSuppression-10, TensorFlow Lite NON_MAX_SUPPRESSION_V4).
NodeValue getCorners(NodeBuilder &b, NodeValue boxes, bool haveCenters);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_BOXCORNERS_H
