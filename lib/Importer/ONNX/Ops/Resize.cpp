//===- Resize.cpp - Resize and Upsample -----------------------------------===//

#include "Common/Interpolation.h"
#include "ONNX/DynamicDims.h"
#include "glowish/Importer/OperatorNotes.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace glowish;

namespace {
/// Scales and extents of all dimensions of the result.
struct Scaling {
  std::vector<double> scales;
  std::vector<int64_t> sizes;
};
} // namespace

/// Whether the operator is Upsample or Resize-10.
static bool isLegacy(const OpContext &op) {
  return op.getOpType() == "Upsample" || op.getOpset() < 11;
}

/// Reads the elements of input \p index, which must be a constant.
static llvm::Expected<std::vector<double>> readFloats(const OpContext &op,
                                                      unsigned index) {
  std::vector<double> values;
  if (!op.hasInput(index))
    return values;
  GLOWISH_ASSIGN_OR_RETURN(const Tensor *tensor, op.getConstant(index));
  for (int64_t i = 0; i < tensor->getNumElements(); ++i)
    values.push_back(tensor->getAsDouble(i));
  return values;
}

/// Reads `axes` of Resize-18, the dimensions of scales and sizes; all by
/// default.
static llvm::Expected<std::vector<int64_t>> readAxes(const OpContext &op,
                                                     unsigned rank) {
  std::vector<int64_t> axes = getAllDims(rank);
  GLOWISH_ASSIGN_OR_RETURN(axes, op.getInts("axes", axes));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> distinct,
                           normalizeAxes(axes, rank));
  if (distinct.size() != axes.size())
    return makeError("attribute 'axes' names a dimension twice");
  for (int64_t &axis : axes)
    axis = axis < 0 ? axis + rank : axis;
  return axes;
}

/// Scales \p extent by \p scale and rounds to float first, as in ONNX:
/// 10 * 0.7f is 7.
static int64_t scaleExtent(int64_t extent, double scale) {
  return int64_t(std::floor(float(extent) * float(scale)));
}

static llvm::Expected<Scaling> scaleBy(DimsRef shape,
                                       llvm::ArrayRef<int64_t> axes,
                                       llvm::ArrayRef<double> scales) {
  if (scales.size() != axes.size())
    return makeError("{0} scales; accepted: {1}", scales.size(), axes.size());
  Scaling result{std::vector<double>(shape.size(), 1), shape.vec()};
  for (unsigned i = 0; i < axes.size(); ++i) {
    if (!(scales[i] > 0 && scales[i] < 65536))
      return makeError("a scale is {0}; accepted: above 0 and below 65536",
                       scales[i]);
    result.scales[axes[i]] = scales[i];
    result.sizes[axes[i]] = scaleExtent(shape[axes[i]], scales[i]);
  }
  return result;
}

/// With \p policy stretch, each dimension gets its size; otherwise all have the
/// same scale, so that no size is larger (not_larger) or smaller (not_smaller).
static llvm::Expected<Scaling> scaleTo(DimsRef shape,
                                       llvm::ArrayRef<int64_t> axes,
                                       llvm::ArrayRef<int64_t> sizes,
                                       llvm::StringRef policy) {
  if (sizes.size() != axes.size())
    return makeError("{0} sizes; accepted: {1}", sizes.size(), axes.size());
  Scaling result{std::vector<double>(shape.size(), 1), shape.vec()};
  std::vector<double> scales;
  for (unsigned i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 1 || shape[axes[i]] < 1)
      return makeError(
          "an extent of {0} is resized to {1}; accepted: at least 1",
          shape[axes[i]], sizes[i]);
    scales.push_back(double(sizes[i]) / double(shape[axes[i]]));
    result.scales[axes[i]] = scales[i];
    result.sizes[axes[i]] = sizes[i];
  }
  if (policy == "stretch" || axes.empty())
    return result;
  if (policy != "not_larger" && policy != "not_smaller")
    return makeError("attribute 'keep_aspect_ratio_policy' is '{0}'; accepted: "
                     "stretch, not_larger, not_smaller",
                     policy);
  double scale = policy == "not_larger"
                     ? *std::min_element(scales.begin(), scales.end())
                     : *std::max_element(scales.begin(), scales.end());
  for (int64_t axis : axes) {
    result.scales[axis] = scale;
    result.sizes[axis] = int64_t(std::floor(scale * double(shape[axis]) + 0.5));
  }
  return result;
}

/// Reads the scales of Upsample-1, of images.
static llvm::Expected<Scaling> readImageScaling(OpContext &op, DimsRef shape,
                                                llvm::ArrayRef<int64_t> axes) {
  if (shape.size() != 4)
    return makeError("input 0 has rank {0}; accepted: [N, C, H, W]",
                     shape.size());
  std::vector<double> scales = {1, 1};
  for (const char *name : {"height_scale", "width_scale"}) {
    if (!op.hasAttr(name))
      return makeError("attribute '{0}' is missing", name);
    GLOWISH_ASSIGN_OR_RETURN(double scale, op.getFloat(name, 1));
    scales.push_back(scale);
  }
  return scaleBy(shape, axes, scales);
}

/// The scales are two attributes of Upsample-1, one of Upsample-7, input 1 of
/// Upsample-9 and Resize-10, and input 2 since Resize-11, where the sizes are
/// input 3.
static llvm::Expected<Scaling> readScaling(OpContext &op, DimsRef shape) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes,
                           readAxes(op, shape.size()));
  GLOWISH_ASSIGN_OR_RETURN(std::string policy,
                           op.getString("keep_aspect_ratio_policy", "stretch"));
  if (op.hasAttr("height_scale") || op.hasAttr("width_scale"))
    return readImageScaling(op, shape, axes);
  if (op.hasAttr("scales")) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<double> scales,
                             op.getFloats("scales"));
    return scaleBy(shape, axes, scales);
  }
  GLOWISH_ASSIGN_OR_RETURN(std::vector<double> scales,
                           readFloats(op, isLegacy(op) ? 1 : 2));
  if (isLegacy(op) || !scales.empty())
    return scaleBy(shape, axes, scales);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, op.getConstantInts(3));
  return scaleTo(shape, axes, sizes, policy);
}

/// Upsample and Resize-10 use source = floor(target / scale).
static llvm::Expected<Sampling> readSampling(OpContext &op) {
  Sampling result{"", "asymmetric", "floor"};
  GLOWISH_ASSIGN_OR_RETURN(result.mode, op.getString("mode", "nearest"));
  if (result.mode == "bilinear")
    result.mode = "linear";
  if (isLegacy(op))
    return result;
  GLOWISH_ASSIGN_OR_RETURN(
      result.coordinates,
      op.getString("coordinate_transformation_mode", "half_pixel"));
  GLOWISH_ASSIGN_OR_RETURN(result.rounding,
                           op.getString("nearest_mode", "round_prefer_floor"));
  GLOWISH_ASSIGN_OR_RETURN(result.cubicCoefficient,
                           op.getFloat("cubic_coeff_a", -0.75));
  GLOWISH_ASSIGN_OR_RETURN(result.extrapolation,
                           op.getFloat("extrapolation_value", 0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t exclude, op.getInt("exclude_outside", 0));
  GLOWISH_ASSIGN_OR_RETURN(int64_t antialias, op.getInt("antialias", 0));
  result.excludeOutside = exclude != 0;
  result.antialias = antialias != 0;
  return result;
}

/// Returns an error unless \p value is one of \p accepted.
static llvm::Error checkName(llvm::StringRef attribute, llvm::StringRef value,
                             llvm::ArrayRef<llvm::StringRef> accepted) {
  if (llvm::is_contained(accepted, value))
    return llvm::Error::success();
  return makeError("attribute '{0}' is '{1}'; accepted: {2}", attribute, value,
                   llvm::join(accepted, ", "));
}

static llvm::Error checkSampling(const Sampling &sampling) {
  GLOWISH_RETURN_IF_ERROR(
      checkName("mode", sampling.mode, {"nearest", "linear", "cubic"}));
  GLOWISH_RETURN_IF_ERROR(
      checkName("coordinate_transformation_mode", sampling.coordinates,
                {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                 "align_corners", "asymmetric", "tf_half_pixel_for_nn",
                 "tf_crop_and_resize"}));
  return checkName(
      "nearest_mode", sampling.rounding,
      {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
}

/// Whether the Resize node supports the parameters.
static bool isSupportedByNode(const Sampling &sampling, const Scaling &scaling,
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

/// Resizes one dimension after the other, for parameters that the node does not
/// support.
static llvm::Error importInterpolation(OpContext &op, NodeValue input,
                                       const Scaling &scaling,
                                       const Sampling &sampling) {
  DimsRef shape = input.getShape();
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes,
                           readAxes(op, shape.size()));
  bool crops = sampling.coordinates == "tf_crop_and_resize";
  op.ignoreInput(1); // roi, used by tf_crop_and_resize only
  std::vector<double> region;
  if (crops) {
    GLOWISH_ASSIGN_OR_RETURN(region, readFloats(op, 1));
    if (region.size() != 2 * axes.size())
      return makeError("input 1 has {0} elements; accepted: {1}", region.size(),
                       2 * axes.size());
  }
  std::vector<ResizedDim> dims;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (!crops && scaling.scales[axis] == 1 &&
        scaling.sizes[axis] == shape[axis])
      continue;
    if (shape[axis] < 1)
      return makeError("input 0 is {0}; accepted: extents of at least 1",
                       input.getType().str());
    dims.push_back(
        {axis, shape[axis], scaling.sizes[axis], scaling.scales[axis]});
    if (crops) {
      dims.back().start = region[i];
      dims.back().end = region[axes.size() + i];
    }
  }
  if (sampling.mode != "nearest" && !isFloatKind(input.getElemKind()))
    return makeError("input 0 is {0}; accepted in mode {1}: a float kind",
                     input.getType().str(), sampling.mode);
  Composer c(op);
  return c.setOutput(0, interpolate(c, input, dims, sampling));
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

/// The Resize node resizes at most two dimensions. Tensors of lower rank get
/// leading dimensions of extent 1.
static llvm::Error importResize(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  Dims shape(input.getShape());
  GLOWISH_ASSIGN_OR_RETURN(Scaling scaling, readScaling(op, shape));
  GLOWISH_ASSIGN_OR_RETURN(Sampling sampling, readSampling(op));
  GLOWISH_RETURN_IF_ERROR(checkSampling(sampling));
  if (!isSupportedByNode(sampling, scaling, shape))
    return importInterpolation(op, input, scaling, sampling);
  op.ignoreInput(1);
  if (shape.empty())
    return makeError("input 0 is {0}; accepted: rank 1 and more",
                     input.getType().str());
  unsigned added = 4 - shape.size();
  shape.insert(shape.begin(), added, 1);
  scaling.scales.insert(scaling.scales.begin(), added, 1);
  scaling.sizes.insert(scaling.sizes.begin(), added, 1);
  llvm::SmallVector<int64_t, 4> resized;
  for (int64_t d = 0; d < 4; ++d)
    if (scaling.scales[d] != 1 || scaling.sizes[d] != shape[d])
      resized.push_back(d);
  // By default, dimensions 2 and 3 are height and width.
  for (int64_t d = 3; resized.size() < 2; --d)
    if (!llvm::is_contained(resized, d))
      resized.push_back(d);
  llvm::sort(resized);
  std::vector<int64_t> order = toImageOrder(resized[0], resized[1]);
  bool isTransposed = order != std::vector<int64_t>{0, 1, 2, 3};
  GLOWISH_ASSIGN_OR_RETURN(NodeValue image, op.reshape(input, shape, ".image"));
  if (isTransposed) {
    GLOWISH_ASSIGN_OR_RETURN(
        image, op.createHelper<TransposeNode>(".nhwc", image, order));
  }
  std::vector<int64_t> sizes = {scaling.sizes[resized[0]],
                                scaling.sizes[resized[1]]};
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue result,
      op.create<ResizeNode>(image, sizes, scaling.scales[resized[0]],
                            scaling.scales[resized[1]], sampling.mode,
                            sampling.coordinates, sampling.rounding));
  if (isTransposed) {
    GLOWISH_ASSIGN_OR_RETURN(
        result, op.createHelper<TransposeNode>(".nchw", result, invert(order)));
  }
  return op.setOutput(
      0, op.reshape(result, llvm::ArrayRef(scaling.sizes).drop_front(added),
                    ".shaped"));
}

static OnnxOperator resizeOp("Resize", 10, importResize);
static OnnxOperator upsampleOp("Upsample", 1, importResize);
static OnnxOperatorNotes upsampleNotes("Upsample", {.until = 9});
