//===- RandomValues.cpp - Random tensors ----------------------------------===//

#include "glowish/Graph/RandomValues.h"

using namespace glowish;

/// Returns 64 random bits per element: those of the \p stream of \p numStreams
/// independent ones.
NodeValue RandomValues::bits(uint64_t stream, uint64_t numStreams) {
  NodeValue counter = c.uint64(stream);
  double stride = double(numStreams);
  unsigned rank = shape.size();
  for (unsigned d = rank; d-- > 0;) {
    Dims row(rank, 1);
    row[d] = shape[d];
    bool isDivided = part && part->axis == d;
    counter = c.add(counter, c.table(ElemKind::UInt64, row, [&](DimsRef index) {
      return double(isDivided ? part->locate(index[d]) : index[d]) * stride;
    }));
    stride *= double(shape[d] * (isDivided ? part->count : 1));
  }
  NodeValue value =
      counter && key ? c.make<RandomBitsNode>(counter, key) : NodeValue();
  return c.broadcast(value, shape);
}

NodeValue RandomValues::uniform(ElemKind kind) {
  bool isDouble = kind == ElemKind::Double;
  NodeValue whole = c.cast(upper(bits(0, 1), isDouble ? 53 : 24), kind);
  return c.mul(whole, isDouble ? 0x1p-53 : 0x1p-24);
}

NodeValue RandomValues::normal(ElemKind kind) {
  NodeValue radius, turn;
  if (kind == ElemKind::Double) {
    radius = c.mul(c.add(c.cast(upper(bits(0, 2), 53), kind), 1), 0x1p-53);
    turn = c.mul(c.cast(upper(bits(1, 2), 53), kind), 0x1p-53);
  } else {
    // Radius and angle use the two halves of the same bits. The radius has 32
    // bits, not 24, as its smallest values give the largest results.
    NodeValue both = bits(0, 1);
    radius = c.mul(c.add(c.cast(upper(both, 32), kind), 1), 0x1p-32);
    NodeValue low =
        both ? c.make<BitAndNode>(both, c.number(both, 0xFFFFFF)) : both;
    turn = c.mul(c.cast(low, kind), 0x1p-24);
  }
  NodeValue length = c.unary<SqrtNode>(c.mul(c.unary<LogNode>(radius), -2));
  return c.mul(length, c.unary<CosNode>(c.mul(turn, 6.283185307179586)));
}
