//===- ForEachIndex.h - Iterate over the indices of a shape -----*- C++ -*-===//

#ifndef GLOWISH_BASE_FOREACHINDEX_H
#define GLOWISH_BASE_FOREACHINDEX_H

#include "glowish/Base/Type.h"

namespace glowish {

/// Calls \p fn(index) for every index of \p shape in row-major order.
template <typename Fn> void forEachIndex(DimsRef shape, Fn &&fn) {
  Dims index(shape.size(), 0);
  for (int64_t dim : shape)
    if (dim == 0)
      return;
  while (true) {
    fn(DimsRef(index));
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

} // namespace glowish

#endif // GLOWISH_BASE_FOREACHINDEX_H
