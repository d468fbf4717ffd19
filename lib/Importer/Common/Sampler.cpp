//===- Sampler.cpp - Interpolated sampling --------------------------------===//

#include "Common/Sampler.h"

using namespace glowish;

Sampler::Sampler(NodeBuilder &b, NodeValue images, NodeValue batch)
    : b(b), batch(batch), spatial(images.getShape().drop_front(2)),
      numImages(images.getShape()[0]), channels(images.getShape()[1]),
      kind(images.getElemKind()) {
  std::vector<int64_t> order = {0};
  for (unsigned d = 0; d < spatial.size(); ++d)
    order.push_back(d + 2);
  order.push_back(1);
  pixels = b.reshape(b.transpose(images, order),
                     {numImages * countElements(spatial), channels});
}

Tap Sampler::takeInside(NodeValue position, NodeValue weight, unsigned d) {
  double last = double(spatial[d] - 1);
  NodeValue isInside = b.logicalAnd(b.greaterOrEqual(position, 0),
                                    b.lessOrEqual(position, last));
  NodeValue share = b.cast(isInside, kind);
  return {b.clip(position, 0, last), weight ? b.mul(weight, share) : share};
}

std::vector<Tap> Sampler::takeLinear(NodeValue position, unsigned d) {
  NodeValue low = b.unary<FloorNode>(position);
  NodeValue share = b.sub(position, low);
  return {takeInside(low, b.sub(1, share), d),
          takeInside(b.add(low, 1), share, d)};
}

std::vector<NodeValue>
Sampler::sampleEach(DimsRef points, llvm::ArrayRef<std::vector<Tap>> taps) {
  Dims strides = getDenseStrides(spatial);
  NodeValue images = batch;
  if (!images)
    images = b.iota(ElemKind::Int64, points.size(), 0, numImages);
  images = b.mul(images, double(countElements(spatial)));
  std::vector<Tap> combined = {{images, {}}};
  for (unsigned d = 0; d < taps.size(); ++d) {
    std::vector<Tap> next;
    for (const Tap &before : combined)
      for (const Tap &tap : taps[d]) {
        NodeValue index =
            b.mul(b.cast(tap.index, ElemKind::Int64), double(strides[d]));
        NodeValue weight = before.weight && tap.weight
                               ? b.mul(before.weight, tap.weight)
                           : tap.weight ? tap.weight
                                        : before.weight;
        next.push_back({b.add(before.index, index), weight});
      }
    combined = std::move(next);
  }
  std::vector<NodeValue> results;
  for (const Tap &tap : combined) {
    NodeValue value = b.gather(pixels, b.broadcast(tap.index, points), 0);
    if (tap.weight)
      value = b.mul(
          value, b.unsqueeze(b.broadcast(tap.weight, points), points.size()));
    results.push_back(value);
  }
  return results;
}

NodeValue Sampler::sample(DimsRef points,
                          llvm::ArrayRef<std::vector<Tap>> taps) {
  NodeValue sum;
  for (NodeValue part : sampleEach(points, taps))
    sum = sum ? b.add(sum, part) : part;
  return sum;
}
