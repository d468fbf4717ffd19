//===- RoiAlign.cpp - Import of RoiAlign ----------------------------------===//
//
// He et al., "Mask R-CNN" (2017).
//
//===----------------------------------------------------------------------===//

#include "Common/GridSampling.h"
#include "Common/Positions.h"
#include "Common/Sampler.h"
#include "ONNX/Extents.h"
#include "glowish/Importer/OperatorNotes.h"

using namespace glowish;
using namespace glowish::onnximport;

namespace {
/// Boxes divided into bins, each sampled at `samples` by `samples` points; with
/// 0 the extents of a box decide.
struct RoiGrid {
  NodeValue boxes; // [R, 4]: x1, y1, x2, y2
  double scale, offset;
  bool isLegacy; // boxes have at least one pixel
  int64_t samples;
  bool isMax;      // the maximum of samples, not their mean
  int64_t bins[2]; // along x and y
};

/// The sides of boxes along one dimension, [R, 1, 1] each.
struct RoiSides {
  NodeValue low, size;
};
} // namespace

/// Returns the sides along x (0) or y (1).
static RoiSides getRoiSides(OpContext &op, const RoiGrid &grid, int64_t xy) {
  int64_t numBoxes = grid.boxes.getShape()[0];
  auto get = [&](int64_t column) {
    NodeValue value = op.slice(grid.boxes, 1, column, 1);
    return op.sub(op.mul(op.reshape(value, {numBoxes, 1, 1}), grid.scale),
                  grid.offset);
  };
  NodeValue low = get(xy);
  NodeValue size = op.sub(get(xy + 2), low);
  return {low, grid.isLegacy ? op.max(size, 1) : size};
}

/// Whether \p coordinate is in the image, or near enough to its edge to count.
static NodeValue isNearImage(OpContext &op, NodeValue coordinate,
                             double extent) {
  return op.logicalAnd(op.greaterOrEqual(coordinate, -1),
                       op.lessOrEqual(coordinate, extent));
}

//===- A stated number of samples -----------------------------------------===//

/// Returns the sample coordinates along x (0) or y (1): [R, bins, samples].
static NodeValue getRoiCoordinates(OpContext &op, const RoiGrid &grid,
                                   int64_t xy) {
  RoiSides sides = getRoiSides(op, grid, xy);
  int64_t bins = grid.bins[xy];
  double count = double(grid.samples);
  NodeValue places = op.table(
      grid.boxes.getElemKind(), {1, bins, grid.samples}, [&](DimsRef index) {
        return (double(index[1]) + (double(index[2]) + 0.5) / count) /
               double(bins);
      });
  return op.add(sides.low, op.mul(sides.size, places));
}

/// Returns the two pixels around each coordinate, with weight 0 if it is far
/// outside, and clamped to the edge if it is near.
static std::vector<Tap> getRoiTaps(OpContext &op, Sampler &sampler,
                                   NodeValue coordinate, unsigned d) {
  double extent = double(sampler.getExtent(d));
  NodeValue isNear =
      op.cast(isNearImage(op, coordinate, extent), sampler.getKind());
  coordinate = op.clip(coordinate, 0, extent - 1);
  NodeValue low = op.unary<FloorNode>(coordinate);
  NodeValue weight = op.sub(coordinate, low);
  NodeValue high = op.min(op.add(low, 1), extent - 1);
  return {{low, op.mul(op.sub(1, weight), isNear)},
          {high, op.mul(weight, isNear)}};
}

static NodeValue sampleStated(OpContext &op, const RoiGrid &grid,
                              NodeValue images, NodeValue batch) {
  int64_t numBoxes = grid.boxes.getShape()[0], s = grid.samples;
  int64_t height = grid.bins[1], width = grid.bins[0];
  Sampler sampler(op, images, op.reshape(batch, {numBoxes, 1, 1, 1, 1}));
  NodeValue y =
      op.reshape(getRoiCoordinates(op, grid, 1), {numBoxes, height, 1, s, 1});
  NodeValue x =
      op.reshape(getRoiCoordinates(op, grid, 0), {numBoxes, 1, width, 1, s});
  Dims points = {numBoxes, height, width, s, s};
  std::vector<Tap> taps[] = {getRoiTaps(op, sampler, y, 0),
                             getRoiTaps(op, sampler, x, 1)};
  NodeValue value;
  // Mode max is the maximum of the weighted terms, as in the reference
  // implementation.
  for (NodeValue part : sampler.sampleEach(points, taps))
    value = !value       ? part
            : grid.isMax ? op.max(value, part)
                         : op.add(value, part);
  value = op.reduce(value, grid.isMax ? "max" : "mean", {3, 4},
                    /*keepDims=*/false);
  return moveChannelsFirst(op, value);
}

//===- As many samples as boxes decide ------------------------------------===//

/// Returns the mean weights that the samples of each bin give to the \p extent
/// pixels along x (0) or y (1): [R, bins, extent]. A bin has as many samples as
/// it has pixels, rounded up, so that they are more than half a pixel apart
/// where there are several.
static NodeValue getMeanWeights(OpContext &op, const RoiGrid &grid, int64_t xy,
                                int64_t extent) {
  ElemKind kind = grid.boxes.getElemKind();
  RoiSides sides = getRoiSides(op, grid, xy);
  NodeValue bin = op.div(sides.size, double(grid.bins[xy]));
  NodeValue count = op.unary<CeilNode>(bin), divisor = op.max(count, 1);
  NodeValue start =
      op.add(sides.low, op.mul(op.iota(kind, 3, 1, grid.bins[xy]), bin));
  // A box of no extent has no samples.
  NodeValue step =
      op.select(op.greater(bin, 0), op.div(bin, divisor), op.number(bin, 1));
  NodeValue pixel = op.iota(kind, 3, 2, extent);
  // Samples give weight to a pixel from one pixel before to one behind: at most
  // five. One more at both ends is against rounding of the first's number.
  constexpr int numNear = 7;
  NodeValue first = op.div(op.sub(op.sub(pixel, 1), start), step);
  first = op.max(op.sub(op.unary<CeilNode>(op.sub(first, 0.5)), 1), 0);
  NodeValue sum;
  for (int i = 0; i < numNear; ++i) {
    NodeValue number = op.add(first, i);
    NodeValue place = op.add(start, op.mul(op.add(number, 0.5), step));
    NodeValue distance =
        op.unary<AbsNode>(op.sub(op.clip(place, 0, double(extent - 1)), pixel));
    NodeValue counts = op.logicalAnd(op.less(number, count),
                                     isNearImage(op, place, double(extent)));
    NodeValue weight = op.select(counts, op.max(op.sub(1, distance), 0),
                                 op.number(distance, 0));
    sum = sum ? op.add(sum, weight) : weight;
  }
  return op.div(sum, divisor);
}

/// The weights of the samples of a bin are products of those along y and x, so
/// their mean is that along y times that along x.
static NodeValue sampleAdaptively(OpContext &op, const RoiGrid &grid,
                                  NodeValue images, NodeValue batch) {
  DimsRef shape = images.getShape();
  int64_t n = shape[0], channels = shape[1], height = shape[2],
          width = shape[3];
  int64_t numBoxes = grid.boxes.getShape()[0];
  NodeValue y = op.unsqueeze(getMeanWeights(op, grid, 1, height), 2);
  NodeValue own =
      op.equal(op.reshape(batch, {numBoxes, 1, 1, 1}),
               op.reshape(op.iota(ElemKind::Int64, 1, 0, n), {1, 1, n, 1}));
  if (op.hasFailed())
    return {};
  y = op.select(own, y, op.number(y, 0)); // [R, bins, N, height]
  NodeValue rows =
      op.matMul(op.reshape(y, {numBoxes * grid.bins[1], n * height}),
                op.reshape(op.transpose(images, {0, 2, 3, 1}),
                           {n * height, width * channels}));
  rows = op.reshape(rows, {numBoxes, grid.bins[1], width, channels});
  NodeValue x = op.unsqueeze(getMeanWeights(op, grid, 0, width), 1);
  return moveChannelsFirst(op, op.matMul(x, rows));
}

//===- The operator -------------------------------------------------------===//

static llvm::Expected<RoiGrid> readRoiGrid(OpContext &op) {
  RoiGrid grid;
  GLOWISH_ASSIGN_OR_RETURN(grid.boxes, op.getInput(1));
  grid.scale = op.getFloat("spatial_scale", 1);
  grid.samples = op.getInt("sampling_ratio", 0);
  std::string coordinates =
      op.getString("coordinate_transformation_mode",
                   op.getOpset() < 16 ? "output_half_pixel" : "half_pixel");
  if (grid.boxes.getShape().size() != 2 || grid.boxes.getShape()[1] != 4)
    return op.refuseInput(1, "[boxes, 4]");
  std::string mode = op.getString("mode", "avg");
  grid.bins[1] = op.getInt("output_height", 1);
  grid.bins[0] = op.getInt("output_width", 1);
  if (grid.bins[0] < 1 || grid.bins[1] < 1 || (mode != "avg" && mode != "max"))
    return makeError("the output is {0}x{1}, mode '{2}'; accepted: at least "
                     "1x1, avg or max",
                     grid.bins[1], grid.bins[0], mode);
  grid.isMax = mode == "max";
  // A maximum has no closed form for a number of samples that boxes decide.
  if (grid.samples < (grid.isMax ? 1 : 0) || grid.samples > 1024)
    return makeError("attribute 'sampling_ratio' is {0}, mode '{1}'; "
                     "accepted: 1 to 1024, and 0 in mode avg",
                     grid.samples, mode);
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return makeError("attribute 'coordinate_transformation_mode' is '{0}'; "
                     "accepted: half_pixel, output_half_pixel",
                     coordinates);
  grid.isLegacy = coordinates == "output_half_pixel";
  grid.offset = grid.isLegacy ? 0 : 0.5;
  return grid;
}

static llvm::Error importRoiAlign(OpContext &op, NodeValue images) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue batch, op.getInput(2));
  GLOWISH_ASSIGN_OR_RETURN(RoiGrid grid, readRoiGrid(op));
  if (images.getShape().size() != 4)
    return op.refuseInput(0, "rank 4");
  GLOWISH_RETURN_IF_ERROR(refuseExtents(images, 0, {2, 3}, samplesWholeImages));
  if (batch.getShape().size() == 1)
    GLOWISH_RETURN_IF_ERROR(align(op, grid.boxes, 0, batch, 0));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  ExtentList extents = {
      findExtent(grid.boxes, 0), findExtent(images, 1), {}, {}};
  // Images that are not there have the weight 0, and would count if they are no
  // numbers.
  if (!grid.samples)
    images = op.fillOutside(images, {0}, 0);
  images = op.dropExtents(images);
  grid.boxes = op.dropExtents(grid.boxes);
  batch = op.dropExtents(op.cast(batch, ElemKind::Int64));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  NodeValue result = grid.samples ? sampleStated(op, grid, images, batch)
                                  : sampleAdaptively(op, grid, images, batch);
  return op.setOutput(0, restateExtents(op, result, extents));
}

static OnnxOperator roiAlignOp("RoiAlign", 10, withExtents<importRoiAlign>);
static OnnxOperatorNotes
    roiAlignNotes("RoiAlign",
                  {.limit = "in mode max, sampling_ratio is at least 1"});
