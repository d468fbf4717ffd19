//===- Resize.cpp - Resize and Upsample -----------------------------------===//

#include "Common/Interpolation.h"
#include "ONNX/Extents.h"
#include "ONNX/ShapeInts.h"
#include "glowish/Base/CheckedInt.h"
#include "glowish/Importer/OperatorNotes.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

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
  std::vector<int64_t> axes = op.getInts("axes", getAllDims(rank));
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
    std::optional<int64_t> size =
        toInt64(std::floor(scale * double(shape[axis]) + 0.5));
    if (!size)
      return makeError("an extent of {0} is scaled by {1}, which is too large",
                       shape[axis], scale);
    result.scales[axis] = scale;
    result.sizes[axis] = *size;
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
    double scale = op.getFloat(name, 1);
    scales.push_back(scale);
  }
  return scaleBy(shape, axes, scales);
}

/// Reads the sizes of dimensions \p axes of \p input, which are input 3. One
/// whose extent a run decides must keep that; its bound stands for it.
static llvm::Expected<std::vector<int64_t>>
readSizes(OpContext &op, NodeValue input, llvm::ArrayRef<int64_t> axes) {
  const Type &type = input.getType();
  if (!type.hasExtents())
    return op.getConstantInts(3);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ShapeInt> given, readShapeInts(op, 3));
  std::vector<int64_t> sizes;
  for (auto [i, size] : llvm::enumerate(given)) {
    const Extent *extent =
        i < axes.size() ? type.getExtent(unsigned(axes[i])) : nullptr;
    bool isSame = extent && size.value &&
                  size.value == op.getLength(input, unsigned(axes[i]));
    if (extent ? !isSame : !size.isConstant())
      return makeError(
          "a run decides size {0} of input 3 or the extent that it "
          "replaces; accepted: constants for constant extents, and "
          "the extents of other dimensions as they are",
          i);
    sizes.push_back(isSame ? type.getDim(unsigned(axes[i]))
                           : size.getConstant());
  }
  return sizes;
}

/// The scales are two attributes of Upsample-1, one of Upsample-7, input 1 of
/// Upsample-9 and Resize-10, and input 2 since Resize-11, where the sizes are
/// input 3.
static llvm::Expected<Scaling> readScaling(OpContext &op, NodeValue input) {
  Dims shape(input.getShape());
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes,
                           readAxes(op, shape.size()));
  std::string policy = op.getString("keep_aspect_ratio_policy", "stretch");
  if (op.hasAttr("height_scale") || op.hasAttr("width_scale"))
    return readImageScaling(op, shape, axes);
  if (op.hasAttr("scales")) {
    std::vector<double> scales = op.getFloats("scales");
    return scaleBy(shape, axes, scales);
  }
  GLOWISH_ASSIGN_OR_RETURN(std::vector<double> scales,
                           readFloats(op, isLegacy(op) ? 1 : 2));
  if (isLegacy(op) || !scales.empty())
    return scaleBy(shape, axes, scales);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> sizes,
                           readSizes(op, input, axes));
  for (int64_t axis : axes)
    if (policy != "stretch" && input.getType().getExtent(unsigned(axis)))
      return makeError("a run decides the extent of dimension {0} of input 0, "
                       "and attribute 'keep_aspect_ratio_policy' is '{1}'; "
                       "accepted: stretch",
                       axis, policy);
  return scaleTo(shape, axes, sizes, policy);
}

/// Upsample and Resize-10 use source = floor(target / scale).
static llvm::Expected<Sampling> readSampling(OpContext &op) {
  Sampling result{"", "asymmetric", "floor"};
  result.mode = op.getString("mode", "nearest");
  if (result.mode == "bilinear")
    result.mode = "linear";
  if (isLegacy(op))
    return result;
  result.coordinates =
      op.getString("coordinate_transformation_mode", "half_pixel");
  result.rounding = op.getString("nearest_mode", "round_prefer_floor");
  result.cubicCoefficient = op.getFloat("cubic_coeff_a", -0.75);
  result.extrapolation = op.getFloat("extrapolation_value", 0);
  result.excludeOutside = op.getInt("exclude_outside", 0) != 0;
  result.antialias = op.getInt("antialias", 0) != 0;
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

/// Resizes the part of the input that tf_crop_and_resize takes, input 1.
static llvm::Error importCrop(OpContext &op, NodeValue input,
                              const Scaling &scaling,
                              const Sampling &sampling) {
  DimsRef shape = input.getShape();
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes,
                           readAxes(op, shape.size()));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<double> region, readFloats(op, 1));
  if (region.size() != 2 * axes.size())
    return makeError("input 1 has {0} elements; accepted: {1}", region.size(),
                     2 * axes.size());
  std::vector<ResizedDim> dims;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (shape[axis] < 1)
      return op.refuseInput(0, "extents of at least 1");
    bool isWhole = region[i] == 0 && region[axes.size() + i] == 1 &&
                   scaling.scales[axis] == 1;
    if (input.getType().getExtent(unsigned(axis))) {
      if (isWhole)
        continue;
      return makeError("a run decides the extent of dimension {0} of input 0; "
                       "accepted: such extents that stay as they are",
                       axis);
    }
    dims.push_back({.axis = axis,
                    .from = shape[axis],
                    .to = scaling.sizes[axis],
                    .scale = scaling.scales[axis],
                    .start = region[i],
                    .end = region[axes.size() + i]});
  }
  return op.setOutput(0, interpolate(op, input, dims, sampling));
}

static llvm::Error importResize(OpContext &op, NodeValue input) {
  Dims shape(input.getShape());
  GLOWISH_ASSIGN_OR_RETURN(Scaling scaling, readScaling(op, input));
  GLOWISH_ASSIGN_OR_RETURN(Sampling sampling, readSampling(op));
  GLOWISH_RETURN_IF_ERROR(checkSampling(sampling));
  bool crops = sampling.coordinates == "tf_crop_and_resize";
  if (!crops)
    op.ignoreInput(1);
  if (!isFloatKind(input.getElemKind()) && sampling.mode != "nearest" &&
      (crops || !isResizable(sampling, scaling, shape)))
    return makeError("input 0 is {0}; accepted in mode {1}: a float kind",
                     input.getType().str(), sampling.mode);
  if (crops)
    return importCrop(op, input, scaling, sampling);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result,
                           makeResize(op, input, std::move(scaling), sampling));
  return op.setOutput(0, result);
}

static OnnxOperator resizeOp("Resize", 10, withExtents<importResize>);
static OnnxOperator upsampleOp("Upsample", 1, withExtents<importResize>);
static OnnxOperatorNotes upsampleNotes("Upsample", {.until = 9});
