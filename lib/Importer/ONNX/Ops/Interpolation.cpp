//===- Interpolation.cpp - Resizing as a product with a matrix ------------===//

#include "ONNX/Ops/Interpolation.h"
#include <cmath>

using namespace glowish;

/// The place of pixel \p i of the result in the input.
static double getPlace(const ResizedDim &dim, const Sampling &sampling,
                       int64_t i) {
  llvm::StringRef coordinates = sampling.coordinates;
  double at = double(i), from = double(dim.from), to = double(dim.to);
  if (coordinates == "asymmetric")
    return at / dim.scale;
  if (coordinates == "tf_half_pixel_for_nn")
    return (at + 0.5) / dim.scale;
  if (coordinates == "align_corners") {
    // The scaled extent as it is, with its fraction.
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
  double place = (at + 0.5) / dim.scale - 0.5;
  // The image stays in the middle when its extent is rounded.
  if (coordinates == "half_pixel_symmetric")
    place += from / 2 * (1 - to / (dim.scale * from));
  return place;
}

static double round(llvm::StringRef mode, double place) {
  if (mode == "floor")
    return std::floor(place);
  if (mode == "ceil")
    return std::ceil(place);
  if (mode == "round_prefer_ceil")
    return std::floor(place + 0.5);
  return std::ceil(place - 0.5);
}

/// What a pixel at distance \p x counts for.
static double getShare(const Sampling &sampling, double x) {
  x = std::fabs(x);
  if (sampling.mode == "linear")
    return std::max(1 - x, 0.0);
  double a = sampling.cubicCoefficient;
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// What the pixels of the input count for at \p place. A smaller result takes
/// more of them with antialias.
static std::vector<double> getShares(const ResizedDim &dim,
                                     const Sampling &sampling, double place) {
  double stretch = sampling.antialias ? std::min(dim.scale, 1.0) : 1;
  double reach = (sampling.mode == "linear" ? 1 : 2) / stretch;
  std::vector<double> shares(dim.from, 0.0);
  double sum = 0;
  // Farther outside, nothing changes.
  place = std::clamp(place, -reach - 2, double(dim.from) + reach + 2);
  for (double at = std::floor(place - reach); at <= std::ceil(place + reach);
       ++at) {
    bool isInside = at >= 0 && at < double(dim.from);
    if (sampling.excludeOutside && !isInside)
      continue;
    double share = getShare(sampling, (at - place) * stretch);
    // The edge is repeated outside.
    shares[size_t(std::clamp(at, 0.0, double(dim.from - 1)))] += share;
    sum += share;
  }
  for (double &share : shares)
    share = sum == 0 ? 0 : share / sum;
  return shares;
}

/// \p value with \p axis last.
static NodeValue moveLast(Composer &c, NodeValue value, int64_t axis) {
  if (!value)
    return value;
  int64_t last = int64_t(value.getShape().size()) - 1;
  if (axis == last)
    return value;
  std::vector<int64_t> order;
  for (int64_t d = 0; d <= last; ++d)
    order.push_back(d);
  std::swap(order[axis], order[last]);
  return c.transpose(value, order);
}

static NodeValue resizeNearest(Composer &c, NodeValue value,
                               const ResizedDim &dim,
                               const Sampling &sampling) {
  NodeValue indices = c.table(ElemKind::Int64, {dim.to}, [&](DimsRef index) {
    double place = getPlace(dim, sampling, index[0]);
    return std::clamp(round(sampling.rounding, place), 0.0,
                      double(dim.from - 1));
  });
  return c.gather(value, indices, dim.axis);
}

static NodeValue resizeSmooth(Composer &c, NodeValue value,
                              const ResizedDim &dim, const Sampling &sampling) {
  value = moveLast(c, value, dim.axis);
  if (!value)
    return value;
  // A row at a time: the budget is asked before any is made.
  std::vector<double> shares;
  NodeValue matrix = c.transposeLast(
      c.table(value.getElemKind(), {dim.to, dim.from}, [&](DimsRef index) {
        if (index[1] == 0)
          shares = getShares(dim, sampling, getPlace(dim, sampling, index[0]));
        return shares[index[1]];
      }));
  Dims shape(value.getShape());
  NodeValue rows =
      c.reshape(value, {countElements(DimsRef(shape).drop_back()), dim.from});
  shape.back() = dim.to;
  return moveLast(c, c.reshape(c.matMul(rows, matrix), shape), dim.axis);
}

/// tf_crop_and_resize has one value for all pixels outside of the input.
static NodeValue extrapolate(Composer &c, NodeValue value,
                             llvm::ArrayRef<ResizedDim> dims,
                             const Sampling &sampling) {
  for (const ResizedDim &dim : dims) {
    if (!value)
      return value;
    Dims shape(value.getShape().size(), 1);
    shape[dim.axis] = dim.to;
    NodeValue isInside = c.table(ElemKind::Bool, shape, [&](DimsRef index) {
      double place = getPlace(dim, sampling, index[dim.axis]);
      return double(place >= 0 && place <= double(dim.from - 1));
    });
    value = c.select(isInside, value, c.number(value, sampling.extrapolation));
  }
  return value;
}

NodeValue glowish::interpolate(Composer &c, NodeValue value,
                               llvm::ArrayRef<ResizedDim> dims,
                               const Sampling &sampling) {
  for (const ResizedDim &dim : dims)
    value = sampling.mode == "nearest" ? resizeNearest(c, value, dim, sampling)
                                       : resizeSmooth(c, value, dim, sampling);
  if (sampling.coordinates == "tf_crop_and_resize")
    value = extrapolate(c, value, dims, sampling);
  return value;
}
