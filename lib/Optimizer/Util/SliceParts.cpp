//===- SliceParts.cpp - Slices that make up a value -----------------------===//

#include "Util/SliceParts.h"

using namespace glowish;

NodeValue glowish::findWhole(llvm::ArrayRef<NodeValue> parts, int64_t axis) {
  NodeValue whole;
  int64_t expected = 0;
  for (NodeValue part : parts) {
    auto *slice = part.getNodeAs<SliceNode>();
    if (!slice || (whole && slice->getInput() != whole))
      return {};
    whole = slice->getInput();
    for (unsigned d = 0; d < slice->getStarts().size(); ++d)
      if (slice->getSteps()[d] != 1 ||
          slice->getStarts()[d] != (int64_t(d) == axis ? expected : 0) ||
          (int64_t(d) != axis && slice->getSizes()[d] != whole.getShape()[d]))
        return {};
    expected += slice->getSizes()[axis];
  }
  return whole && whole.getShape()[axis] == expected ? whole : NodeValue();
}
