//===- RandomDraws.cpp - Draws of what random operators have --------------===//

#include "Common/RandomDraws.h"
#include "glowish/Graph/RandomValues.h"
#include "glowish/Support/Checksum.h"

using namespace glowish;

uint64_t glowish::getRandomKey(llvm::StringRef name) {
  return checksum64(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(name.data()), name.size()));
}

ElemKind glowish::getDrawnKind(ElemKind kind) {
  return kind == ElemKind::Double ? kind : ElemKind::Float;
}

NodeValue glowish::drawClasses(NodeBuilder &b, NodeValue weights,
                               int64_t samples, NodeValue key, ElemKind kind) {
  if (!weights)
    return {};
  int64_t batch = weights.getShape()[0], classes = weights.getShape()[1];
  RandomValues random(b, {batch, samples}, key);
  // The number of cumulative weights that a uniform number reaches.
  NodeValue sums = b.cumSum(weights, 1);
  NodeValue total = b.slice(sums, 1, classes - 1, 1);
  NodeValue point = b.mul(random.uniform(ElemKind::Double), total);
  NodeValue reached = b.lessOrEqual(
      b.reshape(b.slice(sums, 1, 0, classes - 1), {batch, 1, classes - 1}),
      b.reshape(point, {batch, samples, 1}));
  return b.reduce(b.cast(reached, kind), "sum", {2}, false);
}
