//===- RoiAlign.cpp - Import of RoiAlign ----------------------------------===//
//
// He et al., "Mask R-CNN" (2017).
//
//===----------------------------------------------------------------------===//

#include "Common/GridSampling.h"
#include "Common/Sampler.h"
#include "ONNX/Composer.h"
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
static RoiSides getRoiSides(Composer &c, const RoiGrid &grid, int64_t xy) {
  int64_t numBoxes = grid.boxes.getShape()[0];
  auto get = [&](int64_t column) {
    NodeValue value = c.slice(grid.boxes, 1, column, 1);
    return c.sub(c.mul(c.reshape(value, {numBoxes, 1, 1}), grid.scale),
                 grid.offset);
  };
  NodeValue low = get(xy);
  NodeValue size = c.sub(get(xy + 2), low);
  return {low, grid.isLegacy ? c.max(size, 1) : size};
}

/// Whether \p coordinate is in the image, or near enough to its edge to count.
static NodeValue isNearImage(Composer &c, NodeValue coordinate, double extent) {
  return c.logicalAnd(c.greaterOrEqual(coordinate, -1),
                      c.lessOrEqual(coordinate, extent));
}

//===- A stated number of samples -----------------------------------------===//

/// Returns the sample coordinates along x (0) or y (1): [R, bins, samples].
static NodeValue getRoiCoordinates(Composer &c, const RoiGrid &grid,
                                   int64_t xy) {
  RoiSides sides = getRoiSides(c, grid, xy);
  int64_t bins = grid.bins[xy];
  double count = double(grid.samples);
  NodeValue places = c.table(
      grid.boxes.getElemKind(), {1, bins, grid.samples}, [&](DimsRef index) {
        return (double(index[1]) + (double(index[2]) + 0.5) / count) /
               double(bins);
      });
  return c.add(sides.low, c.mul(sides.size, places));
}

/// Returns the two pixels around each coordinate, with weight 0 if it is far
/// outside, and clamped to the edge if it is near.
static std::vector<Tap> getRoiTaps(Composer &c, Sampler &sampler,
                                   NodeValue coordinate, unsigned d) {
  double extent = double(sampler.getExtent(d));
  NodeValue isNear =
      c.cast(isNearImage(c, coordinate, extent), sampler.getKind());
  coordinate = c.clip(coordinate, 0, extent - 1);
  NodeValue low = c.unary<FloorNode>(coordinate);
  NodeValue weight = c.sub(coordinate, low);
  NodeValue high = c.min(c.add(low, 1), extent - 1);
  return {{low, c.mul(c.sub(1, weight), isNear)},
          {high, c.mul(weight, isNear)}};
}

static NodeValue sampleStated(Composer &c, const RoiGrid &grid,
                              NodeValue images, NodeValue batch) {
  int64_t numBoxes = grid.boxes.getShape()[0], s = grid.samples;
  int64_t height = grid.bins[1], width = grid.bins[0];
  Sampler sampler(c, images, c.reshape(batch, {numBoxes, 1, 1, 1, 1}));
  NodeValue y =
      c.reshape(getRoiCoordinates(c, grid, 1), {numBoxes, height, 1, s, 1});
  NodeValue x =
      c.reshape(getRoiCoordinates(c, grid, 0), {numBoxes, 1, width, 1, s});
  Dims points = {numBoxes, height, width, s, s};
  std::vector<Tap> taps[] = {getRoiTaps(c, sampler, y, 0),
                             getRoiTaps(c, sampler, x, 1)};
  NodeValue value;
  // Mode max is the maximum of the weighted terms, as in the reference
  // implementation.
  for (NodeValue part : sampler.sampleEach(points, taps))
    value = !value       ? part
            : grid.isMax ? c.max(value, part)
                         : c.add(value, part);
  value = c.reduce(value, grid.isMax ? "max" : "mean", {3, 4},
                   /*keepDims=*/false);
  return moveChannelsFirst(c, value);
}

//===- As many samples as boxes decide ------------------------------------===//

/// Returns the mean weights that the samples of each bin give to the \p extent
/// pixels along x (0) or y (1): [R, bins, extent]. A bin has as many samples as
/// it has pixels, rounded up, so that they are more than half a pixel apart
/// where there are several.
static NodeValue getMeanWeights(Composer &c, const RoiGrid &grid, int64_t xy,
                                int64_t extent) {
  ElemKind kind = grid.boxes.getElemKind();
  RoiSides sides = getRoiSides(c, grid, xy);
  NodeValue bin = c.div(sides.size, double(grid.bins[xy]));
  NodeValue count = c.unary<CeilNode>(bin), divisor = c.max(count, 1);
  NodeValue start =
      c.add(sides.low, c.mul(c.iota(kind, 3, 1, grid.bins[xy]), bin));
  // A box of no extent has no samples.
  NodeValue step =
      c.select(c.greater(bin, 0), c.div(bin, divisor), c.number(bin, 1));
  NodeValue pixel = c.iota(kind, 3, 2, extent);
  // Samples give weight to a pixel from one pixel before to one behind: at most
  // five. One more at both ends is against rounding of the first's number.
  constexpr int numNear = 7;
  NodeValue first = c.div(c.sub(c.sub(pixel, 1), start), step);
  first = c.max(c.sub(c.unary<CeilNode>(c.sub(first, 0.5)), 1), 0);
  NodeValue sum;
  for (int i = 0; i < numNear; ++i) {
    NodeValue number = c.add(first, i);
    NodeValue place = c.add(start, c.mul(c.add(number, 0.5), step));
    NodeValue distance =
        c.unary<AbsNode>(c.sub(c.clip(place, 0, double(extent - 1)), pixel));
    NodeValue counts = c.logicalAnd(c.less(number, count),
                                    isNearImage(c, place, double(extent)));
    NodeValue weight =
        c.select(counts, c.max(c.sub(1, distance), 0), c.number(distance, 0));
    sum = sum ? c.add(sum, weight) : weight;
  }
  return c.div(sum, divisor);
}

/// The weights of the samples of a bin are products of those along y and x, so
/// their mean is that along y times that along x.
static NodeValue sampleAdaptively(Composer &c, const RoiGrid &grid,
                                  NodeValue images, NodeValue batch) {
  DimsRef shape = images.getShape();
  int64_t n = shape[0], channels = shape[1], height = shape[2],
          width = shape[3];
  int64_t numBoxes = grid.boxes.getShape()[0];
  NodeValue y = c.unsqueeze(getMeanWeights(c, grid, 1, height), 2);
  NodeValue own =
      c.equal(c.reshape(batch, {numBoxes, 1, 1, 1}),
              c.reshape(c.iota(ElemKind::Int64, 1, 0, n), {1, 1, n, 1}));
  if (c.hasFailed())
    return {};
  y = c.select(own, y, c.number(y, 0)); // [R, bins, N, height]
  NodeValue rows = c.matMul(c.reshape(y, {numBoxes * grid.bins[1], n * height}),
                            c.reshape(c.transpose(images, {0, 2, 3, 1}),
                                      {n * height, width * channels}));
  rows = c.reshape(rows, {numBoxes, grid.bins[1], width, channels});
  NodeValue x = c.unsqueeze(getMeanWeights(c, grid, 0, width), 1);
  return moveChannelsFirst(c, c.matMul(x, rows));
}

//===- The operator -------------------------------------------------------===//

static llvm::Expected<RoiGrid> readRoiGrid(OpContext &op) {
  RoiGrid grid;
  GLOWISH_ASSIGN_OR_RETURN(grid.boxes, op.getInput(1));
  GLOWISH_ASSIGN_OR_RETURN(grid.scale, op.getFloat("spatial_scale", 1));
  GLOWISH_ASSIGN_OR_RETURN(grid.samples, op.getInt("sampling_ratio", 0));
  GLOWISH_ASSIGN_OR_RETURN(
      std::string coordinates,
      op.getString("coordinate_transformation_mode",
                   op.getOpset() < 16 ? "output_half_pixel" : "half_pixel"));
  if (grid.boxes.getShape().size() != 2 || grid.boxes.getShape()[1] != 4)
    return makeError("input 1 is {0}; accepted: [boxes, 4]",
                     grid.boxes.getType().str());
  GLOWISH_ASSIGN_OR_RETURN(std::string mode, op.getString("mode", "avg"));
  GLOWISH_ASSIGN_OR_RETURN(grid.bins[1], op.getInt("output_height", 1));
  GLOWISH_ASSIGN_OR_RETURN(grid.bins[0], op.getInt("output_width", 1));
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

static llvm::Error importRoiAlign(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue images, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue batch, op.getInput(2));
  GLOWISH_ASSIGN_OR_RETURN(RoiGrid grid, readRoiGrid(op));
  if (images.getShape().size() != 4)
    return makeError("input 0 is {0}; accepted: rank 4",
                     images.getType().str());
  Composer c(op);
  batch = c.cast(batch, ElemKind::Int64);
  GLOWISH_RETURN_IF_ERROR(
      c.setOutput(0, grid.samples ? sampleStated(c, grid, images, batch)
                                  : sampleAdaptively(c, grid, images, batch)));
  // The number of boxes, which equals that of batch indices.
  Extents boxes = op.getExtents(1), batches = op.getExtents(2);
  op.setExtents(0, {boxes.empty() ? NodeValue() : boxes[0], {}, {}, {}});
  return llvm::Error::success();
}

static OnnxOperator roiAlignOp("RoiAlign", 10, importRoiAlign);
static OnnxOperatorNotes
    roiAlignNotes("RoiAlign",
                  {.limit = "in mode max, sampling_ratio is at least 1"});
