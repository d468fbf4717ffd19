//===- Permutations.cpp - Permutations of dimensions ----------------------===//

#include "Util/Permutations.h"

using namespace glowish;

Permutation glowish::invert(llvm::ArrayRef<int64_t> permutation) {
  Permutation inverse(permutation.size());
  for (size_t d = 0; d < permutation.size(); ++d)
    inverse[permutation[d]] = d;
  return inverse;
}

std::vector<int64_t>
glowish::moveToOperand(llvm::ArrayRef<int64_t> values,
                       llvm::ArrayRef<int64_t> permutation) {
  std::vector<int64_t> moved(values.size());
  for (size_t d = 0; d < values.size(); ++d)
    moved[permutation[d]] = values[d];
  return moved;
}

bool glowish::movesNoElements(DimsRef shape,
                              llvm::ArrayRef<int64_t> permutation) {
  int64_t last = -1;
  for (int64_t axis : permutation) {
    if (shape[axis] == 1)
      continue;
    if (axis < last)
      return false;
    last = axis;
  }
  return true;
}

bool glowish::isReshape(const TransposeNode &node) {
  const Type &type = node.getInput().getType();
  if (type.isQuantized() && type.getQuantParams().axis >= 0)
    return false;
  return movesNoElements(type.getShape(), node.getPermutation());
}
