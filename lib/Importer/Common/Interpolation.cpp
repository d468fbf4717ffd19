//===- Interpolation.cpp - Resizing as matrix multiplication --------------===//

#include "Common/Interpolation.h"
#include <cmath>

using namespace glowish;

/// Returns the input coordinate of pixel \p i of the result.
static double getCoordinate(const ResizedDim &dim, const Sampling &sampling,
                            int64_t i) {
  llvm::StringRef coordinates = sampling.coordinates;
  double at = double(i), from = double(dim.from), to = double(dim.to);
  if (coordinates == "asymmetric")
    return at / dim.scale;
  if (coordinates == "tf_half_pixel_for_nn")
    return (at + 0.5) / dim.scale;
  if (coordinates == "align_corners") {
    // The scaled extent is not rounded.
    double extent = from * dim.scale;
    return extent == 1 ? 0 : at * (from - 1) / (extent - 1);
  }
  if (coordinates == "tf_crop_and_resize") {
    if (dim.to == 1)
      return 0.5 * (dim.start + dim.end) * (from - 1);
    return dim.start * (from - 1) +
           at * (dim.end - dim.start) * (from - 1) / (to - 1);
  }
  if (coordinates == "pytorch_half_pixel" && dim.to == 1)
    return 0;
  double coordinate = (at + 0.5) / dim.scale - 0.5;
  // Keeps the image centered if its extent is rounded.
  if (coordinates == "half_pixel_symmetric")
    coordinate += from / 2 * (1 - to / (dim.scale * from));
  return coordinate;
}

static double round(llvm::StringRef mode, double coordinate) {
  if (mode == "floor")
    return std::floor(coordinate);
  if (mode == "ceil")
    return std::ceil(coordinate);
  if (mode == "round_prefer_ceil")
    return std::floor(coordinate + 0.5);
  return std::ceil(coordinate - 0.5);
}

/// Returns the weight of a pixel at distance \p x.
static double getWeight(const Sampling &sampling, double x) {
  x = std::fabs(x);
  if (sampling.mode == "linear")
    return std::max(1 - x, 0.0);
  double a = sampling.cubicCoefficient;
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Returns the weights of the input pixels for \p coordinate. With
/// antialias, downscaling widens the filter.
static std::vector<double>
getWeights(const ResizedDim &dim, const Sampling &sampling, double coordinate) {
  double stretch = sampling.antialias ? std::min(dim.scale, 1.0) : 1;
  double reach = (sampling.mode == "linear" ? 1 : 2) / stretch;
  std::vector<double> weights(dim.from, 0.0);
  double sum = 0;
  // Limits the loop: farther outside the weights do not change.
  coordinate = std::clamp(coordinate, -reach - 2, double(dim.from) + reach + 2);
  for (double at = std::floor(coordinate - reach);
       at <= std::ceil(coordinate + reach); ++at) {
    bool isInside = at >= 0 && at < double(dim.from);
    if (sampling.excludeOutside && !isInside)
      continue;
    double weight = getWeight(sampling, (at - coordinate) * stretch);
    // Pixels outside repeat the edge.
    weights[size_t(std::clamp(at, 0.0, double(dim.from - 1)))] += weight;
    sum += weight;
  }
  for (double &weight : weights)
    weight = sum == 0 ? 0 : weight / sum;
  return weights;
}

/// Swaps dimension \p axis with the last.
static NodeValue moveLast(NodeBuilder &b, NodeValue value, int64_t axis) {
  if (!value)
    return value;
  int64_t last = int64_t(value.getShape().size()) - 1;
  if (axis == last)
    return value;
  std::vector<int64_t> order;
  for (int64_t d = 0; d <= last; ++d)
    order.push_back(d);
  std::swap(order[axis], order[last]);
  return b.transpose(value, order);
}

static NodeValue resizeNearest(NodeBuilder &b, NodeValue value,
                               const ResizedDim &dim,
                               const Sampling &sampling) {
  NodeValue indices = b.table(ElemKind::Int64, {dim.to}, [&](DimsRef index) {
    double coordinate = getCoordinate(dim, sampling, index[0]);
    return std::clamp(round(sampling.rounding, coordinate), 0.0,
                      double(dim.from - 1));
  });
  return b.gather(value, indices, dim.axis);
}

static NodeValue resizeSmooth(NodeBuilder &b, NodeValue value,
                              const ResizedDim &dim, const Sampling &sampling) {
  value = moveLast(b, value, dim.axis);
  if (!value)
    return value;
  // Compute row by row: table() checks the budget before the first one.
  std::vector<double> weights;
  NodeValue matrix = b.transposeLast(
      b.table(value.getElemKind(), {dim.to, dim.from}, [&](DimsRef index) {
        if (index[1] == 0)
          weights =
              getWeights(dim, sampling, getCoordinate(dim, sampling, index[0]));
        return weights[index[1]];
      }));
  Dims shape(value.getShape());
  NodeValue rows =
      b.reshape(value, {countElements(DimsRef(shape).drop_back()), dim.from});
  shape.back() = dim.to;
  return moveLast(b, b.reshape(b.matMul(rows, matrix), shape), dim.axis);
}

/// tf_crop_and_resize has one value for all coordinates outside of the input.
static NodeValue extrapolate(NodeBuilder &b, NodeValue value,
                             llvm::ArrayRef<ResizedDim> dims,
                             const Sampling &sampling) {
  for (const ResizedDim &dim : dims) {
    if (!value)
      return value;
    Dims shape(value.getShape().size(), 1);
    shape[dim.axis] = dim.to;
    NodeValue isInside = b.table(ElemKind::Bool, shape, [&](DimsRef index) {
      double coordinate = getCoordinate(dim, sampling, index[dim.axis]);
      return double(coordinate >= 0 && coordinate <= double(dim.from - 1));
    });
    value = b.select(isInside, value, b.number(value, sampling.extrapolation));
  }
  return value;
}

NodeValue glowish::interpolate(NodeBuilder &b, NodeValue value,
                               llvm::ArrayRef<ResizedDim> dims,
                               const Sampling &sampling) {
  for (const ResizedDim &dim : dims)
    value = sampling.mode == "nearest" ? resizeNearest(b, value, dim, sampling)
                                       : resizeSmooth(b, value, dim, sampling);
  if (sampling.coordinates == "tf_crop_and_resize")
    value = extrapolate(b, value, dims, sampling);
  return value;
}
