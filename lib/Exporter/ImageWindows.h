//===- ImageWindows.h - Windows over images ---------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_IMAGEWINDOWS_H
#define GLOWISH_LIB_EXPORTER_IMAGEWINDOWS_H

#include "glowish/Base/Tensor.h"
#include "glowish/Ops/TypeRuleHelpers.h"

namespace glowish {

using typerules::Windows;

/// Returns the windows of a pooling or of its gradient.
template <typename T> Windows getWindows(const T &node) {
  return {node.getKernels(), node.getStrides(), node.getPads(),
          node.getDilations()};
}

/// Counts the elements of each window inside an image of \p size (height and
/// width), or inside it and its padding: [1, OH, OW, 1] of \p kind. An empty
/// window counts as 1: AvgPool defines its mean as 0.
Tensor countInside(const Windows &windows, DimsRef size, DimsRef resultSize,
                   bool countPads, ElemKind kind);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_IMAGEWINDOWS_H
