//===- Resize.cpp - Upsampling --------------------------------------------===//

#include "Aten/AtenOp.h"
#include "Common/Interpolation.h"
#include <cmath>

using namespace glowish;
using namespace glowish::aten;

/// `self` or `input`, whichever the schema has.
static llvm::StringRef getImageName(const AtenOp &op) {
  return op.getSchema().arguments.front().name == "self" ? "self" : "input";
}

/// The scales of the spatial dimensions; empty where the extents state them.
static std::vector<double> readScales(const AtenOp &op, size_t count) {
  const AtenSchema &schema = op.getSchema();
  if (schema.findArgument("scale_factors"))
    return op.numbers("scale_factors");
  static constexpr llvm::StringLiteral names[] = {"scales_d", "scales_h",
                                                  "scales_w", "scales"};
  std::vector<double> scales;
  for (llvm::StringRef name : names)
    if (schema.findArgument(name) && !op.isNone(name))
      scales.push_back(op.number(name, 1));
  return scales.size() == count ? scales : std::vector<double>();
}

static llvm::Expected<Scaling> readScaling(AtenOp &op) {
  llvm::StringRef name = getImageName(op);
  DimsRef shape = op.getShape(name);
  if (shape.size() < 3)
    return op.refuse(name, "[N, C, ...]");
  size_t count = shape.size() - 2;
  std::vector<double> scales = readScales(op, count);
  if (!scales.empty() && scales.size() != count)
    return op.refuse("scale_factors", "one number for each spatial dimension");
  std::vector<int64_t> sizes = op.integers("output_size");
  if (sizes.empty() && op.getSchema().findArgument("scale_factors"))
    for (size_t d = 0; d < scales.size(); ++d) {
      double size = std::floor(double(shape[d + 2]) * scales[d]);
      if (!(size >= 1 && size <= double(INT32_MAX)))
        return op.refuse("scale_factors",
                         "factors that make extents from 1 to 2^31 - 1");
      sizes.push_back(int64_t(size));
    }
  if (sizes.size() != count)
    return op.refuse("output_size", "one extent for each spatial dimension");
  Scaling scaling{std::vector<double>(shape.size(), 1), shape.vec()};
  for (size_t d = 0; d < count; ++d) {
    if (sizes[d] < 1 || shape[d + 2] < 1)
      return op.refuse("output_size", "extents of at least 1");
    scaling.sizes[d + 2] = sizes[d];
    scaling.scales[d + 2] =
        scales.empty() ? double(sizes[d]) / double(shape[d + 2]) : scales[d];
  }
  return scaling;
}

static llvm::Error setResized(AtenOp &op, const Sampling &sampling) {
  GLOWISH_ASSIGN_OR_RETURN(Scaling scaling, readScaling(op));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result,
                           makeResize(op, op.tensor(getImageName(op)),
                                      std::move(scaling), sampling));
  return op.setResult(result);
}

/// The pixel at floor(i / scale), or the one nearest to the centre.
template <bool IsExact> static llvm::Error importNearest(AtenOp &op) {
  return setResized(op, {.mode = "nearest",
                         .coordinates = IsExact ? "half_pixel" : "asymmetric",
                         .rounding = IsExact ? "round_prefer_ceil" : "floor"});
}

template <bool IsCubic, bool IsAntialiased>
static llvm::Error importInterpolated(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(getImageName(op)));
  return setResized(
      op,
      {.mode = IsCubic ? "cubic" : "linear",
       .coordinates = op.flag("align_corners") ? "align_corners" : "half_pixel",
       .rounding = "floor",
       .antialias = IsAntialiased});
}

static AtenOperators nearestOp(
    importNearest<false>,
    {"upsample_nearest1d(Tensor self, int[1] output_size, float? scales=None) "
     "-> Tensor",
     "upsample_nearest2d(Tensor self, int[2] output_size, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     "upsample_nearest3d(Tensor self, int[3] output_size, float? "
     "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
     "upsample_nearest1d.vec(Tensor input, int[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     "upsample_nearest2d.vec(Tensor input, int[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     "upsample_nearest3d.vec(Tensor input, int[]? output_size, float[]? "
     "scale_factors) -> Tensor"});
static AtenOperators nearestExactOp(
    importNearest<true>,
    {"_upsample_nearest_exact1d(Tensor self, int[1] output_size, float? "
     "scales=None) -> Tensor",
     "_upsample_nearest_exact2d(Tensor self, int[2] output_size, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     "_upsample_nearest_exact1d.vec(Tensor input, int[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     "_upsample_nearest_exact2d.vec(Tensor input, int[]? output_size, float[]? "
     "scale_factors) -> Tensor"});
static AtenOperators interpolatedOp(
    importInterpolated<false, false>,
    {"upsample_linear1d(Tensor self, int[1] output_size, bool align_corners, "
     "float? scales=None) -> Tensor",
     "upsample_bilinear2d(Tensor self, int[2] output_size, bool align_corners, "
     "float? scales_h=None, float? scales_w=None) -> Tensor",
     "upsample_trilinear3d(Tensor self, int[3] output_size, bool "
     "align_corners, float? scales_d=None, float? scales_h=None, float? "
     "scales_w=None) -> Tensor",
     "upsample_linear1d.vec(Tensor input, int[]? output_size, bool "
     "align_corners, float[]? scale_factors) -> Tensor",
     "upsample_bilinear2d.vec(Tensor input, int[]? output_size, bool "
     "align_corners, float[]? scale_factors) -> Tensor",
     "upsample_trilinear3d.vec(Tensor input, int[]? output_size, bool "
     "align_corners, float[]? scale_factors) -> Tensor"});
static AtenOperators
    linearAntialiasOp(importInterpolated<false, true>,
                      {"_upsample_bilinear2d_aa(Tensor self, int[2] "
                       "output_size, bool align_corners, float? "
                       "scales_h=None, float? scales_w=None) -> Tensor",
                       "_upsample_bilinear2d_aa.vec(Tensor input, int[]? "
                       "output_size, bool align_corners, float[]? "
                       "scale_factors) -> Tensor"});
static AtenOperators
    cubicOp(importInterpolated<true, false>,
            {"upsample_bicubic2d(Tensor self, int[2] output_size, bool "
             "align_corners, float? scales_h=None, float? scales_w=None) -> "
             "Tensor",
             "upsample_bicubic2d.vec(Tensor input, int[]? output_size, bool "
             "align_corners, float[]? scale_factors) -> Tensor"});
