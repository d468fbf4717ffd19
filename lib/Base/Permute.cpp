//===- Permute.cpp - Permute the dimensions of a tensor -------------------===//

#include "glowish/Base/Permute.h"
#include "glowish/Support/Task.h"

using namespace glowish;

/// Writes the elements, of type \p T, to \p target in the order that \p shape
/// and \p steps walk through \p source. Stops where the task is cancelled.
template <typename T>
static void walk(const void *source, void *target, DimsRef shape,
                 DimsRef steps) {
  auto *from = static_cast<const T *>(source);
  auto *to = static_cast<T *>(target);
  size_t last = shape.size() - 1;
  Dims index(last, 0);
  while (!isCancelled()) {
    for (int64_t i = 0; i < shape[last]; ++i)
      to[i] = from[i * steps[last]];
    to += shape[last];
    size_t d = last;
    for (; d > 0; --d) {
      from += steps[d - 1];
      if (++index[d - 1] < shape[d - 1])
        break;
      from -= steps[d - 1] * shape[d - 1];
      index[d - 1] = 0;
    }
    if (d == 0)
      return;
  }
}

Tensor glowish::permute(const Tensor &tensor,
                        llvm::ArrayRef<int64_t> permutation) {
  const Type &type = tensor.getType();
  Dims strides = getDenseStrides(type.getShape()), shape, steps;
  for (int64_t axis : permutation) {
    shape.push_back(type.getDim(axis));
    steps.push_back(strides[axis]);
  }
  Tensor result(type.withShape(shape));
  if (type.getNumElements() == 0)
    return result;
  // A scalar is a row of one element.
  if (shape.empty()) {
    shape.push_back(1);
    steps.push_back(1);
  }
  auto run = [&](auto element) {
    walk<decltype(element)>(tensor.getBytes(), result.getBytes(), shape, steps);
  };
  switch (getElemSize(type.getKind())) {
  case 1:
    run(uint8_t());
    break;
  case 2:
    run(uint16_t());
    break;
  case 4:
    run(uint32_t());
    break;
  case 8:
    run(uint64_t());
    break;
  default:
    llvm_unreachable("elements have 1, 2, 4 or 8 bytes");
  }
  return result;
}
