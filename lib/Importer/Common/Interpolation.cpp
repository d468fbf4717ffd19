//===- Interpolation.cpp - Resizing as matrix multiplication --------------===//

#include "Common/Interpolation.h"
#include "glowish/Support/Error.h"
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
  if (!value)
    return value;
  Dims shape(value.getShape());
  int64_t last = int64_t(shape.size()) - 1;
  std::swap(shape[dim.axis], shape[last]);
  NodeValue turned = b.swapDims(value, dim.axis, last);
  // Compute row by row: table() checks the budget before the first one.
  std::vector<double> weights;
  NodeValue matrix = b.transposeLast(
      b.table(value.getElemKind(), {dim.to, dim.from}, [&](DimsRef index) {
        if (index[1] == 0)
          weights =
              getWeights(dim, sampling, getCoordinate(dim, sampling, index[0]));
        return weights[index[1]];
      }));
  NodeValue rows =
      b.reshape(turned, {countElements(DimsRef(shape).drop_back()), dim.from});
  shape.back() = dim.to;
  return b.swapDims(b.reshape(b.matMul(rows, matrix), shape), dim.axis, last);
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

//===- By a node ----------------------------------------------------------===//

bool glowish::isResizable(const Sampling &sampling, const Scaling &scaling,
                          DimsRef shape) {
  llvm::StringRef coordinates = sampling.coordinates;
  unsigned numResized = 0;
  bool isExact = true;
  for (unsigned d = 0; d < shape.size(); ++d) {
    numResized += scaling.scales[d] != 1 || scaling.sizes[d] != shape[d];
    isExact &= scaling.scales[d] * double(shape[d]) == double(scaling.sizes[d]);
  }
  if (sampling.mode == "cubic" || sampling.antialias || numResized > 2 ||
      shape.size() > 4)
    return false;
  if (coordinates == "align_corners" && !isExact)
    return false;
  return coordinates != "half_pixel_symmetric" &&
         coordinates != "tf_half_pixel_for_nn" &&
         coordinates != "tf_crop_and_resize";
}

/// Returns the permutation that moves dimensions \p height and \p width to the
/// middle of a tensor of rank 4, as in NHWC.
static std::vector<int64_t> toImageOrder(int64_t height, int64_t width) {
  std::vector<int64_t> others;
  for (int64_t d = 0; d < 4; ++d)
    if (d != height && d != width)
      others.push_back(d);
  return {others[0], height, width, others[1]};
}

static std::vector<int64_t> invert(llvm::ArrayRef<int64_t> permutation) {
  std::vector<int64_t> inverse(permutation.size());
  for (auto [i, d] : llvm::enumerate(permutation))
    inverse[d] = int64_t(i);
  return inverse;
}

/// Whether dimension \p d of \p shape is resized.
static bool isResized(const Scaling &scaling, DimsRef shape, unsigned d) {
  return scaling.scales[d] != 1 || scaling.sizes[d] != shape[d];
}

/// One dimension after the other.
static llvm::Expected<NodeValue> resizeAlong(NodeBuilder &b, NodeValue input,
                                             const Scaling &scaling,
                                             const Sampling &sampling) {
  DimsRef shape = input.getShape();
  std::vector<ResizedDim> dims;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d) {
    if (!isResized(scaling, shape, unsigned(d)))
      continue;
    if (shape[d] < 1)
      return makeError("{0} is resized; accepted: extents of at least 1",
                       input.getType().str());
    dims.push_back({.axis = d,
                    .from = shape[d],
                    .to = scaling.sizes[d],
                    .scale = scaling.scales[d]});
  }
  return b.finish(interpolate(b, input, dims, sampling));
}

/// The node resizes two dimensions. Tensors of lower rank get leading
/// dimensions of extent 1.
llvm::Expected<NodeValue> glowish::makeResize(NodeBuilder &b, NodeValue input,
                                              Scaling scaling,
                                              const Sampling &sampling) {
  Dims shape(input.getShape());
  const Type &type = input.getType();
  bool isNode = isResizable(sampling, scaling, shape);
  for (unsigned d = 0; d < shape.size(); ++d)
    if (!isNode && type.getExtent(d) && isResized(scaling, shape, d))
      return makeError(
          "a run decides the extent of dimension {0} of {1}, which "
          "is resized; accepted: such extents of others",
          d, type.str());
  if (!isNode)
    return resizeAlong(b, input, scaling, sampling);
  if (shape.empty())
    return makeError("it resizes {0}; accepted: rank 1 and more",
                     input.getType().str());
  int64_t added = 4 - int64_t(shape.size());
  shape.insert(shape.begin(), added, 1);
  scaling.scales.insert(scaling.scales.begin(), added, 1);
  scaling.sizes.insert(scaling.sizes.begin(), added, 1);
  llvm::SmallVector<int64_t, 4> resized;
  for (int64_t d = 0; d < 4; ++d)
    if (isResized(scaling, shape, unsigned(d)))
      resized.push_back(d);
  // By default, dimensions 2 and 3 are height and width, but for those that
  // are not the same in all runs.
  for (bool takesOpen : {false, true})
    for (int64_t d = 3; d >= 0 && resized.size() < 2; --d)
      if (!llvm::is_contained(resized, d) &&
          (takesOpen || d < added || !type.getExtent(unsigned(d - added))))
        resized.push_back(d);
  llvm::sort(resized);
  std::vector<int64_t> order = toImageOrder(resized[0], resized[1]);
  bool isTransposed = order != std::vector<int64_t>{0, 1, 2, 3};
  NodeValue image = b.reshape(input, shape);
  if (isTransposed)
    image = b.transpose(image, order);
  std::vector<int64_t> sizes = {scaling.sizes[resized[0]],
                                scaling.sizes[resized[1]]};
  GLOWISH_RETURN_IF_ERROR(b.takeError());
  NodeValue result = b.make<ResizeNode>(
      image, sizes, scaling.scales[resized[0]], scaling.scales[resized[1]],
      sampling.mode, sampling.coordinates, sampling.rounding);
  if (isTransposed)
    result = b.transpose(result, invert(order));
  return b.finish(
      b.reshape(result, llvm::ArrayRef(scaling.sizes).drop_front(added)));
}
