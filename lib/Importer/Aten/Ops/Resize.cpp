//===- Resize.cpp - Upsampling --------------------------------------------===//

#include "Aten/AtenOp.h"
#include "Common/Interpolation.h"
#include "glowish/Ops/ResizeSource.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <optional>

using namespace glowish;
using namespace glowish::aten;

/// `self` or `input`, whichever the schema has.
static llvm::StringRef getImageName(const AtenOp &op) {
  return op.getSchema().arguments.front().name == "self" ? "self" : "input";
}

namespace {

/// A spatial dimension that is resized.
struct ScaledDim {
  int64_t from, to;
  /// The factor that the program states; none where the extents do.
  std::optional<double> factor;

  double getScale() const {
    return factor ? *factor : double(to) / double(from);
  }
  /// The scale where the first and the last pixels are those of the image;
  /// infinite if all pixels are the first one.
  double getAlignedScale() const {
    return to > 1 ? double(to - 1) / double(from - 1) : HUGE_VAL;
  }
};

} // namespace

/// The factors of the spatial dimensions, as far as they are stated.
static llvm::Expected<std::vector<std::optional<double>>>
readFactors(const AtenOp &op, size_t count) {
  std::vector<std::optional<double>> factors;
  if (op.has("scale_factors")) {
    std::vector<double> all = op.numbers("scale_factors");
    if (!all.empty() && all.size() != count)
      return op.refuse("scale_factors",
                       "one number for each spatial dimension");
    factors.assign(all.begin(), all.end());
    factors.resize(count);
    return factors;
  }
  static constexpr llvm::StringLiteral names[] = {"scales_d", "scales_h",
                                                  "scales_w", "scales"};
  for (llvm::StringRef name : names)
    if (op.has(name))
      factors.push_back(op.number(name, 0));
  if (factors.size() != count)
    return op.refuse(
        getImageName(op),
        llvm::formatv("{0} spatial dimensions", factors.size()).str());
  return factors;
}

/// Whether a run decides a spatial extent of the image.
static bool isOpen(AtenOp &op) {
  const Type &type = op.tensor(getImageName(op)).getType();
  return llvm::any_of(llvm::seq(2u, type.getRank()),
                      [&](unsigned d) { return type.getExtent(d); });
}

/// The spatial dimensions of the image: `output_size`, or what the factors make
/// of its extents.
static llvm::Expected<std::vector<ScaledDim>> readDims(AtenOp &op) {
  llvm::StringRef name = getImageName(op);
  DimsRef shape = op.getShape(name);
  if (shape.size() < 3)
    return op.refuse(name, "[N, C, ...]");
  DimsRef spatial = shape.drop_front(2);
  for (unsigned d = 2; d < shape.size(); ++d)
    if (op.tensor(name).getType().getExtent(d))
      return op.refuse(name, "extents of images that are known when the model "
                             "is compiled");
  GLOWISH_ASSIGN_OR_RETURN(auto factors, readFactors(op, spatial.size()));
  std::vector<int64_t> sizes = op.integers("output_size");
  if (isOpen(op) && (!sizes.empty() || spatial.size() > 2))
    return op.refuse(name, "spatial extents that no run decides, or one or two "
                           "of them and scale factors");
  if (sizes.empty() && op.has("scale_factors"))
    for (auto [extent, factor] : llvm::zip_equal(spatial, factors)) {
      double size = std::floor(double(extent) * factor.value_or(1));
      if (!(size >= 1 && size <= double(INT32_MAX)))
        return op.refuse("scale_factors",
                         "factors that make extents from 1 to 2^31 - 1");
      sizes.push_back(int64_t(size));
    }
  if (sizes.size() != spatial.size())
    return op.refuse("output_size", "one extent for each spatial dimension");
  std::vector<ScaledDim> dims;
  for (auto [from, to, factor] : llvm::zip_equal(spatial, sizes, factors)) {
    if (from < 1 || to < 1)
      return op.refuse("output_size", "extents of at least 1");
    // PyTorch takes other factors for none.
    bool isStated = factor && *factor > 0;
    dims.push_back({from, to, isStated ? factor : std::nullopt});
  }
  return dims;
}

static llvm::SmallVector<double> getScales(llvm::ArrayRef<ScaledDim> dims) {
  return llvm::map_to_vector(
      dims, [](const ScaledDim &dim) { return dim.getScale(); });
}

/// Resizes \p dims by \p scales as \p sampling says.
static llvm::Error setResized(AtenOp &op, llvm::ArrayRef<ScaledDim> dims,
                              llvm::ArrayRef<double> scales,
                              const Sampling &sampling) {
  NodeValue image = op.tensor(getImageName(op));
  DimsRef shape = image.getShape();
  Scaling scaling{std::vector<double>(shape.size(), 1), shape.vec()};
  for (auto [d, dim] : llvm::enumerate(dims)) {
    scaling.sizes[d + 2] = dim.to;
    scaling.scales[d + 2] = scales[d];
  }
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result,
                           makeResize(op, image, std::move(scaling), sampling));
  return op.setResult(result);
}

//===- Nearest pixels -----------------------------------------------------===//

/// The pixels that PyTorch takes, whose step is a float.
template <bool IsExact>
static std::vector<int64_t> getNearest(const ScaledDim &dim) {
  float step =
      dim.factor ? float(1 / *dim.factor) : float(dim.from) / float(dim.to);
  std::vector<int64_t> pixels;
  for (int64_t i = 0; i < dim.to; ++i) {
    float at = std::floor((float(i) + (IsExact ? 0.5f : 0.0f)) * step);
    // Infinite steps times 0 are NaN.
    pixels.push_back(at < float(dim.from) ? std::min(int64_t(at), dim.from - 1)
                     : at > 0             ? dim.from - 1
                                          : 0);
  }
  return pixels;
}

/// The pixel at floor(i / scale), or the one nearest to the centre.
template <bool IsExact> static llvm::Error importNearest(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ScaledDim> dims, readDims(op));
  // Floats don't tell indices above from one another.
  constexpr int64_t maxExtent = 1 << 24;
  for (const ScaledDim &dim : dims)
    if (dim.to > maxExtent)
      return op.refuse("output_size", "extents of at most 2^24");
  Sampling sampling{.mode = "nearest",
                    .coordinates = IsExact ? "half_pixel" : "asymmetric",
                    .rounding = IsExact ? "round_prefer_ceil" : "floor"};
  // Doubles decide for the node, which is another pixel now and then.
  bool isNode = llvm::all_of(dims, [&](const ScaledDim &dim) {
    ResizeDim own{.mode = sampling.mode,
                  .coordinates = sampling.coordinates,
                  .nearestMode = sampling.rounding,
                  .from = dim.from,
                  .to = dim.to,
                  .scale = dim.getScale()};
    std::vector<int64_t> pixels = getNearest<IsExact>(dim);
    return llvm::all_of(llvm::seq(dim.to), [&](int64_t i) {
      return getResizeSource(own, i).low == pixels[size_t(i)];
    });
  });
  if (isNode)
    return setResized(op, dims, getScales(dims), sampling);
  if (isOpen(op))
    return op.refuse(getImageName(op), "spatial extents that no run decides, "
                                       "or whole scale factors");
  NodeValue result = op.tensor(getImageName(op));
  for (auto [d, dim] : llvm::enumerate(dims))
    result =
        op.gather(result, op.int64s(getNearest<IsExact>(dim)), int64_t(d) + 2);
  return op.setResult(result);
}

//===- Weighted sums of pixels --------------------------------------------===//

template <bool IsCubic> static llvm::Error importInterpolated(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(getImageName(op)));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ScaledDim> dims, readDims(op));
  bool alignsCorners = op.flag("align_corners");
  // The extents alone decide then, whatever the factors are, and so they do
  // where lines of pixels stay as many.
  for (ScaledDim &dim : dims)
    if (alignsCorners || (!IsCubic && dim.from == dim.to))
      dim.factor.reset();
  return setResized(
      op, dims, getScales(dims),
      {.mode = IsCubic ? "cubic" : "linear",
       .coordinates = alignsCorners ? "align_corners" : "half_pixel",
       .rounding = "floor"});
}

/// Means of all pixels that are smaller than those of the result, by weights
/// that count only pixels of the image. The centres are those of half a pixel
/// also with aligned corners, which only change the scale.
template <bool IsCubic> static llvm::Error importAntialiased(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat(getImageName(op)));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ScaledDim> dims, readDims(op));
  if (op.flag("align_corners"))
    for (ScaledDim &dim : dims)
      dim.factor = dim.getAlignedScale();
  return setResized(op, dims, getScales(dims),
                    {.mode = IsCubic ? "cubic" : "linear",
                     .coordinates = "half_pixel",
                     .rounding = "floor",
                     .cubicCoefficient = -0.5,
                     .antialias = true,
                     .excludeOutside = true});
}

static AtenOperators nearest(
    {"1d(Tensor self, int[1] output_size, float? scales=None) -> Tensor",
     "2d(Tensor self, int[2] output_size, float? scales_h=None, float? "
     "scales_w=None) -> Tensor",
     "3d(Tensor self, int[3] output_size, float? scales_d=None, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     "1d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> "
     "Tensor",
     "2d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> "
     "Tensor",
     "3d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> "
     "Tensor"},
    {{importNearest<false>, {"upsample_nearest"}},
     {importNearest<true>, {"_upsample_nearest_exact"}}},
    AtenOrder::Images);
static AtenOperators
    linear({{importInterpolated<false>,
             {"upsample_linear1d(Tensor self, int[1] output_size, bool "
              "align_corners, float? scales=None) -> Tensor",
              "upsample_trilinear3d(Tensor self, int[3] output_size, bool "
              "align_corners, float? scales_d=None, float? scales_h=None, "
              "float? scales_w=None) -> Tensor",
              "upsample_linear1d.vec(Tensor input, int[]? output_size, bool "
              "align_corners, float[]? scale_factors) -> Tensor",
              "upsample_trilinear3d.vec(Tensor input, int[]? output_size, bool "
              "align_corners, float[]? scale_factors) -> Tensor"}}},
           AtenOrder::Images);
static AtenOperators
    ofTwoDims({"(Tensor self, int[2] output_size, bool align_corners, float? "
               "scales_h=None, float? scales_w=None) -> Tensor",
               ".vec(Tensor input, int[]? output_size, bool align_corners, "
               "float[]? scale_factors) -> Tensor"},
              {{importInterpolated<false>, {"upsample_bilinear2d"}},
               {importAntialiased<false>, {"_upsample_bilinear2d_aa"}},
               {importInterpolated<true>, {"upsample_bicubic2d"}},
               {importAntialiased<true>, {"_upsample_bicubic2d_aa"}}},
              AtenOrder::Images);
