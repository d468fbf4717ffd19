//===- Sampling.cpp - Sampling of images at computed points ---------------===//

#include "Common/GridSampling.h"
#include "Common/Positions.h"
#include "Common/SlidingWindows.h"
#include "ONNX/Extents.h"
#include "ONNX/ShapeInts.h"
#include "glowish/Importer/OperatorNotes.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

//===- GridSample ---------------------------------------------------------===//

static llvm::Error importGridSample(OpContext &op, NodeValue images,
                                    NodeValue grid) {
  GridRules rules;
  rules.mode = op.getString("mode", "linear");
  rules.padding = op.getString("padding_mode", "zeros");
  int64_t alignCorners = op.getInt("align_corners", 0);
  rules.alignCorners = alignCorners != 0;
  // Names of opset 16.
  if (rules.mode == "bilinear")
    rules.mode = "linear";
  if (rules.mode == "bicubic")
    rules.mode = "cubic";
  if (!images.getShape().empty() && !grid.getShape().empty())
    GLOWISH_RETURN_IF_ERROR(align(op, images, 0, grid, 0));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  DimsRef shape = images.getShape(), points = grid.getShape();
  unsigned count = shape.size() - 2;
  if (shape.size() < 3 || points.size() != shape.size() ||
      points.back() != count || points[0] != shape[0] ||
      !isFloatKind(images.getElemKind()))
    return makeError("inputs are {0} and {1}; accepted: images [N, C, ...] of "
                     "a float kind and points [N, ..., dimensions]",
                     images.getType().str(), grid.getType().str());
  bool isKnown = rules.mode == "linear" || rules.mode == "nearest" ||
                 rules.mode == "cubic";
  if (!isKnown || (rules.padding != "zeros" && rules.padding != "border" &&
                   rules.padding != "reflection"))
    return makeError("attributes 'mode' and 'padding_mode' are '{0}' and "
                     "'{1}'; accepted: linear, nearest, cubic and zeros, "
                     "border, reflection",
                     rules.mode, rules.padding);
  GLOWISH_RETURN_IF_ERROR(
      refuseExtents(images, 0, getDimsFrom(2, count + 2), samplesWholeImages));
  GLOWISH_RETURN_IF_ERROR(refuseExtents(
      grid, 1, {count + 1}, "a point has known coordinates; accepted: others"));
  ExtentList extents = {findExtent(images, 0), findExtent(images, 1)};
  for (unsigned d = 1; d <= count; ++d)
    extents.push_back(findExtent(grid, d));
  images = op.dropExtents(images);
  grid = op.dropExtents(grid);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return op.setOutput(
      0, restateExtents(op, sampleGrid(op, images, grid, rules), extents));
}

//===- AffineGrid ---------------------------------------------------------===//

/// Reads the size of images [N, C, ...]. Where the number of images is
/// computed, it is that of \p theta.
static llvm::Expected<std::vector<int64_t>> readImageSize(OpContext &op,
                                                          NodeValue &theta) {
  if (!findExtent(theta, 0))
    return op.getConstantInts(1);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ShapeInt> ints, readShapeInts(op, 1));
  if (ints.empty() || !areConstant(llvm::ArrayRef(ints).drop_front()))
    return op.getConstantInts(1);
  std::vector<int64_t> size;
  for (const ShapeInt &number : ints)
    size.push_back(number.getConstant());
  if (!ints[0].isConstant())
    size[0] = theta.getShape()[0];
  else if (size[0] >= 0 && size[0] <= theta.getShape()[0])
    theta = op.crop(theta, 0, size[0], std::nullopt);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return size;
}

/// Points [N, ..., dimensions]: theta times the pixel coordinates from -1 to 1.
static llvm::Error importAffineGrid(OpContext &op, NodeValue theta) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> size, readImageSize(op, theta));
  int64_t alignCorners = op.getInt("align_corners", 0);
  int64_t count = int64_t(size.size()) - 2;
  if (count < 1 || theta.getShape() != DimsRef({size[0], count, count + 1}))
    return makeError("input 0 is {0} for a size of {1}; accepted: [N, "
                     "dimensions, dimensions + 1]",
                     theta.getType().str(), formatShape(size));
  DimsRef spatial = DimsRef(size).drop_front(2);
  GLOWISH_RETURN_IF_ERROR(checkShape(theta.getElemKind(), size));
  int64_t pixels = countElements(spatial);
  Dims strides = getDenseStrides(spatial);
  NodeValue places =
      op.table(theta.getElemKind(), {count + 1, pixels}, [&](DimsRef index) {
        if (index[0] == count)
          return 1.0;
        int64_t d = count - 1 - index[0];
        double extent = double(spatial[d]);
        double at = double(index[1] / strides[d] % spatial[d]);
        if (!alignCorners)
          return (2 * at + 1) / extent - 1;
        return extent == 1 ? -1.0 : 2 * at / (extent - 1) - 1;
      });
  NodeValue grid = op.transposeLast(op.matMul(theta, places));
  Dims shape = {size[0]};
  shape.append(spatial.begin(), spatial.end());
  shape.push_back(count);
  return op.setOutput(0, op.reshape(grid, shape));
}

//===- DeformConv ---------------------------------------------------------===//

static constexpr llvm::StringLiteral needsAllPixels =
    "windows need all of it; accepted: such extents of the batch, and of the "
    "windows";
/// Each pixel of a window is unrolled.
static constexpr int64_t maxTaps = 4096;

namespace {
/// The window of DeformConv, [vertical, horizontal] each.
struct DeformWindow {
  std::vector<int64_t> kernels, strides, dilations, pads;
  int64_t group, offsetGroup;
};
} // namespace

static llvm::Expected<DeformWindow>
readDeformWindow(OpContext &op, NodeValue images, NodeValue filter) {
  DimsRef shape = images.getShape(), kernel = filter.getShape();
  if (shape.size() != 4 || kernel.size() != 4)
    return makeError("inputs are {0} and {1}; accepted: rank 4",
                     images.getType().str(), filter.getType().str());
  DeformWindow w;
  w.kernels = op.getInts("kernel_shape", kernel.drop_front(2));
  w.strides = op.getInts("strides", {1, 1});
  w.dilations = op.getInts("dilations", {1, 1});
  w.pads = op.getInts("pads", {0, 0, 0, 0});
  w.group = op.getInt("group", 1);
  w.offsetGroup = op.getInt("offset_group", 1);
  bool isSmall = true;
  for (const auto *list : {&w.strides, &w.dilations, &w.pads})
    for (int64_t value : *list)
      isSmall &= value >= 0 && value <= maxWindowValue;
  isSmall &= countElements(kernel.drop_front(2)) <= maxTaps;
  if (!isSmall || DimsRef(w.kernels) != kernel.drop_front(2) ||
      w.strides.size() != 2 || w.dilations.size() != 2 || w.pads.size() != 4 ||
      w.offsetGroup < 1 || w.offsetGroup > std::max<int64_t>(shape[1], 1) ||
      shape[1] % w.offsetGroup)
    return makeError("kernel {0}, strides {1}, dilations {2}, pads {3}, {4} "
                     "groups of offsets; accepted: those of a filter {5} over "
                     "{6}",
                     formatShape(w.kernels), formatShape(w.strides),
                     formatShape(w.dilations), formatShape(w.pads),
                     w.offsetGroup, filter.getType().str(),
                     images.getType().str());
  return w;
}

/// Samples the windows for the channels of offset group \p g: [N, height,
/// width, channels, taps].
static NodeValue sampleWindows(OpContext &op, NodeValue images,
                               NodeValue offset, NodeValue mask,
                               const DeformWindow &w, int64_t g) {
  DimsRef shape = images.getShape(), out = offset.getShape();
  Dims points = {shape[0], out[2], out[3]};
  int64_t channels = shape[1] / w.offsetGroup;
  int64_t taps = w.kernels[0] * w.kernels[1];
  auto take = [&](NodeValue value, int64_t channel) {
    return op.reshape(op.slice(value, 1, channel, 1), points);
  };
  NodeValue own = op.slice(images, 1, g * channels, channels);
  if (op.hasFailed())
    return {};
  Sampler sampler(op, own, {});
  std::vector<NodeValue> windows;
  for (int64_t k = 0; k < taps; ++k) {
    std::vector<Tap> around[2];
    for (int64_t d = 0; d < 2; ++d) {
      int64_t at = d == 0 ? k / w.kernels[1] : k % w.kernels[1];
      NodeValue start = op.iota(images.getElemKind(), 3, d + 1, points[d + 1]);
      start = op.add(op.mul(start, double(w.strides[d])),
                     double(at * w.dilations[d] - w.pads[d]));
      NodeValue coordinate =
          op.add(take(offset, 2 * (g * taps + k) + d), start);
      around[d] = sampler.takeLinear(coordinate, d);
    }
    NodeValue value = sampler.sample(points, around);
    if (mask)
      value = op.mul(value, op.unsqueeze(take(mask, g * taps + k), 3));
    windows.push_back(op.unsqueeze(value, 4));
  }
  return op.concat(windows, 4);
}

/// A convolution whose window elements are moved by offsets: the samples of
/// each window become channels, convolved with a 1 x 1 kernel.
static llvm::Error importDeformConv(OpContext &op, NodeValue images,
                                    NodeValue filter, NodeValue offset) {
  NodeValue bias = op.input(3), mask = op.input(4);
  GLOWISH_ASSIGN_OR_RETURN(DeformWindow w,
                           readDeformWindow(op, images, filter));
  for (NodeValue *other : {&offset, &mask})
    if (*other && !other->getShape().empty())
      GLOWISH_RETURN_IF_ERROR(align(op, images, 0, *other, 0));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  DimsRef shape = images.getShape(), out = offset.getShape();
  DimsRef kernel = filter.getShape();
  int64_t taps = w.kernels[0] * w.kernels[1];
  if (out.size() != 4 || out[0] != shape[0] ||
      out[1] != 2 * taps * w.offsetGroup)
    return op.refuseInput(
        2, llvm::formatv("[N, {0}, height, width]", 2 * taps * w.offsetGroup));
  GLOWISH_RETURN_IF_ERROR(refuseExtents(images, 0, {1, 2, 3}, needsAllPixels));
  GLOWISH_RETURN_IF_ERROR(refuseExtents(offset, 2, {1}, needsAllPixels));
  ExtentList extents = {
      findExtent(images, 0), {}, findExtent(offset, 2), findExtent(offset, 3)};
  for (NodeValue *value : {&images, &offset, &mask})
    *value = op.dropExtents(*value);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  std::vector<NodeValue> groups;
  for (int64_t g = 0; g < w.offsetGroup; ++g)
    groups.push_back(sampleWindows(op, images, offset, mask, w, g));
  NodeValue channels = op.reshape(op.concat(groups, 3),
                                  {shape[0], out[2], out[3], shape[1] * taps});
  NodeValue flat = op.reshape(filter, {kernel[0], 1, 1, kernel[1] * taps});
  if (op.hasFailed())
    return op.setOutput(0, flat);
  NodeValue result = op.make<ConvolutionNode>(
      channels, flat, bias, std::vector<int64_t>{1, 1},
      std::vector<int64_t>{0, 0, 0, 0}, std::vector<int64_t>{1, 1}, w.group);
  return op.setOutput(
      0, restateExtents(op, moveChannelsFirst(op, result), extents));
}

static OnnxOperator gridSampleOp("GridSample", 16,
                                 withExtents<importGridSample>);
static OnnxOperator affineGridOp("AffineGrid", 20,
                                 withExtents<importAffineGrid>);
static OnnxOperator deformConvOp("DeformConv", 19,
                                 withExtents<importDeformConv>);
static OnnxOperatorNotes deformConvNotes("DeformConv",
                                         {.limit = "2 spatial dimensions"});
