//===- GridSampling.cpp - Images sampled at a grid of points --------------===//

#include "Common/GridSampling.h"
#include "Common/Axes.h"

using namespace glowish;

NodeValue glowish::moveChannelsFirst(NodeBuilder &b, NodeValue value) {
  if (!value)
    return value;
  unsigned rank = value.getType().getRank();
  return b.transpose(value, getMovedDims(rank, rank - 1, 1));
}

namespace {

class GridSampler {
public:
  GridSampler(NodeBuilder &b, Sampler &sampler, const GridRules &rules)
      : b(b), sampler(sampler), rules(rules) {}
  /// Returns the taps for coordinates from -1 to 1 along dimension \p d.
  std::vector<Tap> getTaps(NodeValue grid, unsigned d);

private:
  NodeValue reflect(NodeValue x, unsigned d);
  NodeValue keepInside(NodeValue x, unsigned d);
  Tap makeTap(NodeValue index, NodeValue weight, unsigned d);
  std::vector<Tap> getCubicTaps(NodeValue x, unsigned d);

  NodeBuilder &b;
  Sampler &sampler;
  const GridRules &rules;
};

} // namespace

/// Reflects at the centers of the first and last pixel, or at their outer
/// edges: a triangle wave.
NodeValue GridSampler::reflect(NodeValue x, unsigned d) {
  double low = rules.alignCorners ? 0 : -0.5;
  double range = double(sampler.getExtent(d)) - (rules.alignCorners ? 1 : 0);
  if (range == 0)
    return b.mul(x, 0);
  NodeValue distance = b.unary<AbsNode>(b.sub(x, low));
  NodeValue periods = b.unary<FloorNode>(b.div(distance, 2 * range));
  distance = b.sub(distance, b.mul(periods, 2 * range));
  return b.add(b.min(distance, b.sub(2 * range, distance)), low);
}

/// Moves points outside of the image into it, except for zero padding.
NodeValue GridSampler::keepInside(NodeValue x, unsigned d) {
  if (rules.padding == "zeros")
    return x;
  if (rules.padding == "reflection")
    x = reflect(x, d);
  NodeValue first = b.number(x, 0);
  NodeValue last = b.number(x, double(sampler.getExtent(d) - 1));
  if (rules.isNaNLast)
    return b.select(b.lessOrEqual(x, last), b.max(x, first), last);
  return b.select(b.greaterOrEqual(x, first), b.min(x, last), first);
}

/// \p index may be outside of the image.
Tap GridSampler::makeTap(NodeValue index, NodeValue weight, unsigned d) {
  if (rules.padding == "zeros")
    return sampler.takeInside(index, weight, d);
  // What is reflected is a whole number but for rounding errors.
  return {b.unary<RoundNode>(keepInside(index, d)), weight};
}

/// Cubic convolution with a = -0.75 of the four pixels around \p x.
std::vector<Tap> GridSampler::getCubicTaps(NodeValue x, unsigned d) {
  constexpr double a = -0.75;
  NodeValue low = b.unary<FloorNode>(x);
  NodeValue t = b.sub(x, low);
  auto near = [&](NodeValue s) { // for distances up to 1
    NodeValue slope = b.sub(b.mul(s, a + 2), a + 3);
    return b.add(b.mul(b.mul(slope, s), s), 1);
  };
  auto far = [&](NodeValue s) { // for distances from 1 to 2
    NodeValue p = b.add(b.mul(b.sub(s, 5), s), 8);
    return b.mul(b.sub(b.mul(p, s), 4), a);
  };
  NodeValue rest = b.sub(1, t);
  return {makeTap(b.sub(low, 1), far(b.add(t, 1)), d), makeTap(low, near(t), d),
          makeTap(b.add(low, 1), near(rest), d),
          makeTap(b.add(low, 2), far(b.add(rest, 1)), d)};
}

std::vector<Tap> GridSampler::getTaps(NodeValue grid, unsigned d) {
  double extent = double(sampler.getExtent(d));
  NodeValue x = b.add(grid, 1);
  x = rules.alignCorners ? b.mul(x, (extent - 1) / 2)
                         : b.div(b.sub(b.mul(x, extent), 1), 2);
  // Not the point is moved into the image, but each of the pixels around it:
  // the curve goes on beyond the center of the last pixel.
  if (rules.mode == "cubic")
    return getCubicTaps(x, d);
  if (rules.mode == "nearest" && rules.roundsFirst)
    x = b.unary<RoundNode>(x);
  x = keepInside(x, d);
  if (rules.mode == "nearest") {
    x = b.unary<RoundNode>(x);
    return {rules.padding == "zeros" ? sampler.takeInside(x, {}, d)
                                     : Tap{x, {}}};
  }
  NodeValue low = b.unary<FloorNode>(x);
  NodeValue weight = b.sub(x, low);
  return {makeTap(low, b.sub(1, weight), d), makeTap(b.add(low, 1), weight, d)};
}

NodeValue glowish::sampleGrid(NodeBuilder &b, NodeValue images, NodeValue grid,
                              const GridRules &rules) {
  Sampler sampler(b, images, {});
  GridSampler gridSampler(b, sampler, rules);
  DimsRef points = grid.getShape().drop_back();
  unsigned count = unsigned(images.getShape().size()) - 2;
  std::vector<std::vector<Tap>> taps;
  for (unsigned d = 0; d < count; ++d) {
    // The coordinates of a point are in reverse order of dimensions.
    NodeValue part = b.slice(grid, int64_t(points.size()), count - 1 - d, 1);
    part = b.cast(b.reshape(part, points), images.getElemKind());
    taps.push_back(gridSampler.getTaps(part, d));
  }
  return moveChannelsFirst(b, sampler.sample(points, taps));
}
