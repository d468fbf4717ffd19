//===- CopyCorner.cpp - Copy what two tensors both have -------------------===//

#include "glowish/Base/CopyCorner.h"
#include "glowish/Base/ForEachIndex.h"

using namespace glowish;

void glowish::copyCorner(const Tensor &from, Tensor &to) {
  DimsRef shape = from.getType().getShape(), other = to.getType().getShape();
  Dims common, strides = getDenseStrides(shape),
               target = getDenseStrides(other);
  for (auto [x, y] : llvm::zip_equal(shape, other))
    common.push_back(std::min(x, y));
  int64_t size = getElemSize(from.getType().getKind());
  auto *source = static_cast<const uint8_t *>(from.getBytes());
  auto *result = static_cast<uint8_t *>(to.getBytes());
  forEachIndex(common, [&](DimsRef index) {
    int64_t own = 0, others = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      own += index[d] * strides[d];
      others += index[d] * target[d];
    }
    std::copy_n(source + own * size, size, result + others * size);
  });
}
