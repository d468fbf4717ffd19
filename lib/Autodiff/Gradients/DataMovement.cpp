//===- DataMovement.cpp - Gradients of data movement ----------------------===//

#include "../GradientContext.h"

using namespace glowish;

void glowish::differentiateConcat(ConcatNode &node, GradientContext &g) {
  NodeValue gradient = g.getGradient();
  int64_t start = 0;
  for (unsigned i = 0; i < node.getNumOperands(); ++i) {
    int64_t size = node.getOperand(i).getShape()[node.getAxis()];
    if (g.needsGradient(i))
      g.accumulate(i, g.slice(gradient, node.getAxis(), start, size));
    start += size;
  }
}

/// Inserts \p step - 1 zeros after each element along dimension \p axis.
static NodeValue insertZeros(GradientContext &g, NodeValue value, int64_t axis,
                             int64_t step) {
  if (!value)
    return value;
  NodeValue column = g.unsqueeze(value, axis + 1);
  std::vector<int64_t> pads(2 * (value.getShape().size() + 1), 0);
  pads[pads.size() / 2 + axis + 1] = step - 1;
  Dims shape(value.getShape());
  shape[axis] *= step;
  return g.reshape(g.pad(column, pads, 0), shape);
}

void glowish::differentiateSlice(SliceNode &node, GradientContext &g) {
  NodeValue gradient = g.getGradient();
  DimsRef input = node.getInput().getShape();
  if (node.getType().getNumElements() == 0) {
    g.accumulate(node.inputIdx, g.zeros(node.getInput().getType()));
    return;
  }
  size_t rank = input.size();
  std::vector<int64_t> starts(rank, 0), sizes = node.getSizes().vec();
  std::vector<int64_t> reversed(rank, 1), pads(2 * rank, 0);
  for (size_t d = 0; d < rank; ++d)
    if (node.getSteps()[d] < 0) {
      starts[d] = sizes[d] - 1;
      reversed[d] = -1;
    }
  if (llvm::is_contained(reversed, -1) && gradient)
    gradient = g.make<SliceNode>(gradient, starts, sizes, reversed);
  for (size_t d = 0; d < rank; ++d) {
    int64_t step = node.getSteps()[d], first = node.getStarts()[d];
    if (step < 0)
      first += (sizes[d] - 1) * step;
    step = std::abs(step);
    if (sizes[d] == 1)
      step = 1;
    if (step > 1)
      gradient = insertZeros(g, gradient, int64_t(d), step);
    pads[d] = first;
    // Negative (cropping) if the zeros inserted after the last element exceed
    // the extent.
    pads[rank + d] = input[d] - first - sizes[d] * step;
  }
  g.accumulate(node.inputIdx, g.pad(gradient, pads, 0));
}

void glowish::differentiateTranspose(TransposeNode &node, GradientContext &g) {
  std::vector<int64_t> inverse(node.getPermutation().size());
  for (auto [index, source] : llvm::enumerate(node.getPermutation()))
    inverse[source] = int64_t(index);
  g.accumulate(node.inputIdx, g.transpose(g.getGradient(), inverse));
}

void glowish::differentiateDeclareExtents(DeclareExtentsNode &node,
                                          GradientContext &g) {
  g.accumulate(node.inputIdx,
               g.declareExtents(g.getGradient(), node.getInput().getType()));
}

void glowish::differentiateRepack(RepackNode &node, GradientContext &g) {
  g.accumulate(
      node.inputIdx,
      g.make<RepackNode>(g.getGradient(), TypeList{node.getInput().getType()}));
}

void glowish::differentiateReshape(ReshapeNode &node, GradientContext &g) {
  g.accumulate(node.inputIdx,
               g.reshape(g.getGradient(), node.getInput().getShape()));
}

void glowish::differentiateBroadcast(BroadcastNode &node, GradientContext &g) {
  g.addBroadcast(node.inputIdx, g.getGradient());
}

void glowish::differentiateTile(TileNode &node, GradientContext &g) {
  DimsRef input = node.getInput().getShape();
  Dims split;
  std::vector<int64_t> axes;
  for (auto [extent, repeats] : llvm::zip_equal(input, node.getRepeats())) {
    axes.push_back(int64_t(split.size()));
    split.push_back(repeats);
    split.push_back(extent);
  }
  NodeValue copies = g.reshape(g.getGradient(), split);
  g.accumulate(node.inputIdx,
               g.reduce(copies, "sum", axes, /*keepDims=*/false));
}

/// Returns the index of the element that mode \p mode pads \p position with,
/// relative to the first element.
static int64_t getPadSource(llvm::StringRef mode, int64_t position,
                            int64_t extent) {
  if (mode == "edge" || extent == 1)
    return std::clamp<int64_t>(position, 0, extent - 1);
  int64_t period = 2 * (extent - 1);
  int64_t folded = ((position % period) + period) % period;
  return std::min(folded, period - folded);
}

void glowish::differentiatePad(PadNode &node, GradientContext &g) {
  NodeValue gradient = g.getGradient();
  DimsRef input = node.getInput().getShape();
  size_t rank = input.size();
  auto pads = node.getPads();
  if (node.getMode() == "constant") {
    std::vector<int64_t> back;
    for (int64_t count : pads)
      back.push_back(-count);
    g.accumulate(node.inputIdx, g.pad(gradient, back, 0));
    return;
  }
  for (size_t d = 0; d < rank; ++d) {
    if (pads[d] == 0 && pads[rank + d] == 0)
      continue;
    std::vector<int64_t> sources;
    for (int64_t i = -pads[d]; i < input[d] + pads[rank + d]; ++i)
      sources.push_back(getPadSource(node.getMode(), i, input[d]));
    gradient = g.scatterAdd(gradient, g.int64s(sources), int64_t(d), input[d]);
  }
  g.accumulate(node.inputIdx, gradient);
}

/// Returns the matrix [size, extent] by which Resize scales one dimension,
/// obtained by resizing the unit vectors.
static NodeValue makeScaling(ResizeNode &node, GradientContext &g,
                             unsigned axis) {
  ElemKind kind = node.getType().getKind();
  int64_t extent = node.getInput().getShape()[axis + 1];
  int64_t size = node.getSizes()[axis];
  Dims shape = {1, 1, 1, extent};
  shape[axis + 1] = extent;
  NodeValue units = g.table(kind, shape, [&](DimsRef index) {
    return index[axis + 1] == index[3] ? 1.0 : 0.0;
  });
  if (!units)
    return {};
  std::vector<int64_t> sizes = {1, 1};
  sizes[axis] = size;
  NodeValue scaled =
      g.make<ResizeNode>(units, sizes, axis == 0 ? node.getScaleH() : 1.0,
                         axis == 1 ? node.getScaleW() : 1.0, node.getMode(),
                         node.getCoordinates(), node.getNearestMode());
  return g.reshape(scaled, {size, extent});
}

/// Resize multiplies height and width by matrices; its gradient multiplies by
/// their transposes.
void glowish::differentiateResize(ResizeNode &node, GradientContext &g) {
  DimsRef input = node.getInput().getShape();
  int64_t images = input[0], channels = input[3];
  int64_t height = node.getSizes()[0], width = node.getSizes()[1];
  NodeValue rows =
      g.reshape(g.getGradient(), {images, height, width * channels});
  rows = g.matMul(g.transposeLast(makeScaling(node, g, 0)), rows);
  NodeValue columns = g.reshape(rows, {images * input[1], width, channels});
  columns = g.matMul(g.transposeLast(makeScaling(node, g, 1)), columns);
  g.accumulate(node.inputIdx, g.reshape(columns, input));
}
