//===- CumSum.cpp - Cumulative sums of whole tensors ----------------------===//

#include "MLIR/TensorWriter.h"

using namespace glowish;

/// \p x with \p count zeros before the first elements along \p axis, in place
/// of the last ones.
static MlirValue shiftAlong(TensorWriter &w, const MlirValue &x, int64_t axis,
                            int64_t count) {
  unsigned rank = x.getRank();
  std::vector<int64_t> pads(2 * rank, 0);
  pads[axis] = count;
  pads[rank + axis] = -count;
  return w.pad(x, pads, 0);
}

/// \p x from its end to its start along \p axis.
static MlirValue turnAround(TensorWriter &w, const MlirValue &x, int64_t axis) {
  std::vector<int64_t> starts(x.getRank(), 0), steps(x.getRank(), 1);
  starts[axis] = x.getShape()[axis] - 1;
  steps[axis] = -1;
  return w.slice(x, starts, x.getShape(), steps);
}

/// Sums of two neighbours, then of four, and so on.
static const MlirForm cumSum = [](TensorWriter &w, const CumSumNode &node) {
  const Type &type = node.getType();
  int64_t axis = node.getAxis();
  if (type.getNumElements() == 0)
    return w.splat(type, 0);
  MlirValue x = w.getWide(node.getInput());
  if (node.getReverse())
    x = turnAround(w, x, axis);
  if (node.getExclusive())
    x = shiftAlong(w, x, axis, 1);
  for (int64_t count = 1; count < type.getDim(axis); count *= 2)
    x = w.add(x, shiftAlong(w, x, axis, count));
  if (node.getReverse())
    x = turnAround(w, x, axis);
  return x;
};
