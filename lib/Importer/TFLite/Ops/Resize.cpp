//===- Resize.cpp - Images of other sizes ---------------------------------===//

#include "TFLite/Quantized.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

namespace {

/// How pixels of the result lie between those of the input, along a dimension.
struct Sampling {
  int64_t from, to;
  bool alignCorners, halfPixelCenters;

  /// The step between pixels, in float, as TensorFlow Lite has it.
  float getScale() const {
    return alignCorners && to > 1 ? float(from - 1) / float(to - 1)
                                  : float(from) / float(to);
  }
  /// Where pixel \p i of the result lies among those of the input, for bilinear
  /// interpolation: between two of them, or in front of the first.
  float getPosition(int64_t i) const {
    return halfPixelCenters ? (float(i) + 0.5f) * getScale() - 0.5f
                            : float(i) * getScale();
  }
  /// How much pixel \p i has of the second of the two.
  float getFraction(int64_t i) const {
    float at = getPosition(i);
    return at - std::max(std::floor(at), 0.0f);
  }
  /// \p at as a pixel of the input.
  int64_t limit(float at) const {
    return std::clamp<int64_t>(int64_t(at), 0, from - 1);
  }
};

} // namespace

/// Input 1 has the extents of the result. Options: of RESIZE_NEAREST_NEIGHBOR
/// or RESIZE_BILINEAR.
template <typename Options>
static llvm::Expected<std::array<Sampling, 2>>
readSampling(const TFLiteOp &op) {
  auto options = op.options<Options>();
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_RETURN_IF_ERROR(op.checkKnown(0, {1, 2}));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, op.getConstantInts(1));
  if (sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1)
    return op.refuseInput(1, "two positive numbers");
  std::array<Sampling, 2> result;
  for (unsigned d = 0; d < 2; ++d)
    result[d] = {op.getShape(0)[d + 1], sizes[d],
                 options.template get<"align_corners">(),
                 options.template get<"half_pixel_centers">()};
  if (result[0].from < 1 || result[1].from < 1)
    return op.refuseInput(0, "images with pixels");
  return result;
}

/// The pixels of the input along \p axis that \p find names for each of the
/// \p count pixels of the result.
static NodeValue pick(TFLiteOp &op, NodeValue x, int64_t axis, int64_t count,
                      llvm::function_ref<int64_t(int64_t)> find) {
  NodeValue indices = op.table(ElemKind::Int32, {count}, [&](DimsRef index) {
    return double(find(index[0]));
  });
  return op.gather(x, indices, axis);
}

static llvm::Error importNearest(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(
      auto dims, readSampling<schema::ResizeNearestNeighborOptions>(op));
  NodeValue x = op.input(0);
  for (unsigned d = 0; d < 2; ++d) {
    const Sampling &dim = dims[d];
    x = pick(op, x, d + 1, dim.to, [&](int64_t i) {
      float offset = dim.halfPixelCenters ? 0.5f : 0.0f;
      float at = (float(i) + offset) * dim.getScale();
      return dim.limit(dim.alignCorners ? std::round(at) : std::floor(at));
    });
  }
  return op.setOutput(0, x);
}

/// Between the four neighbours; integers are rounded at the end, halves up.
static llvm::Error importBilinear(TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(auto dims,
                           readSampling<schema::ResizeBilinearOptions>(op));
  ElemKind kind = op.getKind(0);
  if (kind != ElemKind::Float)
    GLOWISH_RETURN_IF_ERROR(
        op.checkKind(0, {ElemKind::Float, ElemKind::Int8, ElemKind::UInt8}));
  if (op.isQuantized(0) &&
      op.getTensor(0).quantization != op.getOutputQuantization())
    return op.refuseInput(0, "the scale and zero point of the output");
  NodeValue x = op.cast(op.input(0), ElemKind::Float);
  for (unsigned d = 0; d < 2; ++d) {
    const Sampling &dim = dims[d];
    Dims shape(4, 1);
    shape[d + 1] = dim.to;
    NodeValue fraction = op.table(ElemKind::Float, shape, [&](DimsRef index) {
      return double(dim.getFraction(index[d + 1]));
    });
    NodeValue lower = pick(op, x, d + 1, dim.to, [&](int64_t i) {
      return dim.limit(std::floor(dim.getPosition(i)));
    });
    NodeValue upper = pick(op, x, d + 1, dim.to, [&](int64_t i) {
      return dim.limit(std::ceil(dim.getPosition(i)));
    });
    x = op.add(op.mul(lower, op.sub(1, fraction)), op.mul(upper, fraction));
  }
  if (kind == ElemKind::Float)
    return op.setOutput(0, x);
  return op.setOutput(
      0, saturate(op,
                  op.cast(op.unary<FloorNode>(op.add(x, 0.5)), ElemKind::Int32),
                  kind));
}

static constexpr llvm::StringLiteral constantSize = "the size a constant";

static const TFLiteOperators operators = {
    {"RESIZE_NEAREST_NEIGHBOR",
     importNearest,
     {.inputs = 2, .limit = constantSize}},
    {"RESIZE_BILINEAR",
     importBilinear,
     {.inputs = 2, .limit = "float, int8, uint8; the size a constant"}}};
