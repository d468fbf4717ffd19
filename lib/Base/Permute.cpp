//===- Permute.cpp - Permute the dimensions of a tensor -------------------===//

#include "glowish/Base/Permute.h"
#include <cstring>

using namespace glowish;

Tensor glowish::permute(const Tensor &tensor,
                        llvm::ArrayRef<int64_t> permutation) {
  const Type &type = tensor.getType();
  Dims strides = getDenseStrides(type.getShape()), shape, steps;
  for (int64_t axis : permutation) {
    shape.push_back(type.getDim(axis));
    steps.push_back(strides[axis]);
  }
  Tensor result(type.withShape(shape));
  int64_t count = type.getNumElements();
  int64_t size = getElemSize(type.getKind());
  auto *source = static_cast<const uint8_t *>(tensor.getBytes());
  auto *target = static_cast<uint8_t *>(result.getBytes());
  Dims index(shape.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(target + i * size, source + offset * size, size);
    for (size_t d = shape.size(); d-- > 0;) {
      offset += steps[d];
      if (++index[d] < shape[d])
        break;
      offset -= steps[d] * shape[d];
      index[d] = 0;
    }
  }
  return result;
}
