//===- Sampler.cpp - Interpolated sampling --------------------------------===//

#include "ONNX/Ops/Sampler.h"

using namespace glowish;

Sampler::Sampler(Composer &c, NodeValue images, NodeValue batch)
    : c(c), batch(batch), spatial(images.getShape().drop_front(2)),
      numImages(images.getShape()[0]), channels(images.getShape()[1]),
      kind(images.getElemKind()) {
  std::vector<int64_t> order = {0};
  for (unsigned d = 0; d < spatial.size(); ++d)
    order.push_back(d + 2);
  order.push_back(1);
  pixels = c.reshape(c.transpose(images, order),
                     {numImages * countElements(spatial), channels});
}

Tap Sampler::takeInside(NodeValue position, NodeValue weight, unsigned d) {
  double last = double(spatial[d] - 1);
  NodeValue isInside = c.logicalAnd(c.greaterOrEqual(position, 0),
                                    c.lessOrEqual(position, last));
  NodeValue share = c.cast(isInside, kind);
  return {c.clip(position, 0, last), weight ? c.mul(weight, share) : share};
}

std::vector<Tap> Sampler::takeLinear(NodeValue position, unsigned d) {
  NodeValue low = c.unary<FloorNode>(position);
  NodeValue share = c.sub(position, low);
  return {takeInside(low, c.sub(1, share), d),
          takeInside(c.add(low, 1), share, d)};
}

std::vector<NodeValue>
Sampler::sampleEach(DimsRef points, llvm::ArrayRef<std::vector<Tap>> taps) {
  Dims strides = getDenseStrides(spatial);
  NodeValue images = batch;
  if (!images)
    images = c.iota(ElemKind::Int64, points.size(), 0, numImages);
  images = c.mul(images, double(countElements(spatial)));
  std::vector<Tap> combined = {{images, {}}};
  for (unsigned d = 0; d < taps.size(); ++d) {
    std::vector<Tap> next;
    for (const Tap &before : combined)
      for (const Tap &tap : taps[d]) {
        NodeValue index =
            c.mul(c.cast(tap.index, ElemKind::Int64), double(strides[d]));
        NodeValue weight = before.weight && tap.weight
                               ? c.mul(before.weight, tap.weight)
                           : tap.weight ? tap.weight
                                        : before.weight;
        next.push_back({c.add(before.index, index), weight});
      }
    combined = std::move(next);
  }
  std::vector<NodeValue> results;
  for (const Tap &tap : combined) {
    NodeValue value = c.gather(pixels, c.broadcast(tap.index, points), 0);
    if (tap.weight)
      value = c.mul(
          value, c.unsqueeze(c.broadcast(tap.weight, points), points.size()));
    results.push_back(value);
  }
  return results;
}

NodeValue Sampler::sample(DimsRef points,
                          llvm::ArrayRef<std::vector<Tap>> taps) {
  NodeValue sum;
  for (NodeValue part : sampleEach(points, taps))
    sum = sum ? c.add(sum, part) : part;
  return sum;
}
