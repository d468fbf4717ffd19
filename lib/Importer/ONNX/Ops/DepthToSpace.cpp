//===- DepthToSpace.cpp - Col2Im and CenterCropPad ------------------------===//

#include "ONNX/Composer.h"

using namespace glowish;

//===- Col2Im -------------------------------------------------------------===//

namespace {
/// Blocks that slide over an image with any number of dimensions.
struct SlidingBlocks {
  std::vector<int64_t> image, block, strides, dilations, pads;
  Dims padded, counts; // padded image extents; number of blocks per dimension
};
} // namespace

static llvm::Expected<SlidingBlocks> readBlocks(OpContext &op) {
  SlidingBlocks b;
  GLOWISH_ASSIGN_OR_RETURN(b.image, op.getConstantInts(1));
  GLOWISH_ASSIGN_OR_RETURN(b.block, op.getConstantInts(2));
  GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Int64, b.image));
  GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Int64, b.block));
  size_t rank = b.image.size();
  GLOWISH_ASSIGN_OR_RETURN(
      b.strides, op.getInts("strides", std::vector<int64_t>(rank, 1)));
  GLOWISH_ASSIGN_OR_RETURN(
      b.dilations, op.getInts("dilations", std::vector<int64_t>(rank, 1)));
  GLOWISH_ASSIGN_OR_RETURN(
      b.pads, op.getInts("pads", std::vector<int64_t>(2 * rank, 0)));
  bool fits = rank > 0 && b.block.size() == rank && b.strides.size() == rank &&
              b.dilations.size() == rank && b.pads.size() == 2 * rank;
  for (size_t d = 0; fits && d < rank; ++d) {
    // Keeps the following arithmetic from overflowing.
    for (int64_t value : {b.image[d], b.block[d], b.strides[d], b.dilations[d],
                          b.pads[d] + 1, b.pads[rank + d] + 1})
      fits &= value >= 1 && value <= (int64_t(1) << 30);
    b.padded.push_back(b.image[d] + b.pads[d] + b.pads[rank + d]);
    int64_t space = b.padded[d] - b.dilations[d] * (b.block[d] - 1) - 1;
    fits &= space >= 0;
    b.counts.push_back(fits ? space / b.strides[d] + 1 : 0);
  }
  if (fits) {
    GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Int64, b.padded));
    GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Int64, b.counts));
    return b;
  }
  return makeError("blocks {0} in an image {1}, strides {2}, dilations {3}, "
                   "pads {4}; accepted: blocks that fit",
                   formatShape(b.block), formatShape(b.image),
                   formatShape(b.strides), formatShape(b.dilations),
                   formatShape(b.pads));
}

/// Returns the position in the padded image of element index[0] of block
/// index[1].
static int64_t getPosition(const SlidingBlocks &b, DimsRef index) {
  Dims blockStrides = getDenseStrides(b.block);
  Dims countStrides = getDenseStrides(b.counts);
  Dims imageStrides = getDenseStrides(b.padded);
  int64_t position = 0;
  for (unsigned d = 0; d < b.image.size(); ++d) {
    int64_t element = index[0] / blockStrides[d] % b.block[d];
    int64_t block = index[1] / countStrides[d] % b.counts[d];
    position +=
        imageStrides[d] * (block * b.strides[d] + element * b.dilations[d]);
  }
  return position;
}

/// Adds the columns [N, C * elements, blocks] to an image, where they may
/// overlap.
static llvm::Error importCol2Im(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(SlidingBlocks b, readBlocks(op));
  DimsRef shape = input.getShape();
  int64_t elements = countElements(b.block), blocks = countElements(b.counts);
  if (shape.size() != 3 || shape[1] % elements || shape[2] != blocks)
    return makeError("input 0 is {0}; accepted: [N, a multiple of {1}, {2}]",
                     input.getType().str(), elements, blocks);
  int64_t images = shape[0] * (shape[1] / elements), taps = elements * blocks;
  int64_t pixels = countElements(b.padded);
  GLOWISH_RETURN_IF_ERROR(checkShape(input.getElemKind(), {pixels, images}));
  Composer c(op);
  NodeValue rows = c.reshape(
      c.table(ElemKind::Int64, {elements, blocks},
              [&](DimsRef index) { return double(getPosition(b, index)); }),
      {taps});
  NodeValue updates = c.transposeLast(c.reshape(input, {images, taps}));
  NodeValue zeros = c.splat(input.getElemKind(), {pixels, images}, 0);
  if (c.hasFailed())
    return c.setOutput(0, zeros);
  NodeValue sums = c.make<ScatterNode>(zeros, rows, updates, "add");
  Dims result = {shape[0], shape[1] / elements};
  result.append(b.padded);
  NodeValue padded = c.reshape(c.transposeLast(sums), result);
  std::vector<int64_t> crop(2 * result.size(), 0);
  for (unsigned d = 0; d < b.image.size(); ++d) {
    crop[2 + d] = -b.pads[d];
    crop[result.size() + 2 + d] = -b.pads[b.image.size() + d];
  }
  return c.setOutput(0, c.pad(padded, crop, 0));
}

//===- CenterCropPad ------------------------------------------------------===//

/// Crops or pads each dimension at both ends, with the odd element at the end.
static llvm::Error importCenterCropPad(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, op.getConstantInts(1));
  DimsRef shape = input.getShape();
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> axes,
                           op.getInts("axes", getAllDims(shape.size())));
  if (sizes.size() != axes.size())
    return makeError("{0} sizes; accepted: {1}", sizes.size(), axes.size());
  std::vector<int64_t> pads(2 * shape.size(), 0);
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    llvm::Expected<int64_t> d = normalizeAxis(axis, shape.size());
    if (!d)
      return addContext(d.takeError(), "an axis is ");
    if (size < 0)
      return makeError("a size is {0}; accepted: at least 0", size);
    // Division truncates towards zero, for cropping and padding alike.
    int64_t added = size - shape[*d];
    pads[*d] = added / 2;
    pads[shape.size() + *d] = added - added / 2;
  }
  Composer c(op);
  return c.setOutput(0, c.pad(input, pads, 0));
}

static OnnxOperator col2ImOp("Col2Im", 18, importCol2Im);
static OnnxOperator centerCropPadOp("CenterCropPad", 18, importCenterCropPad);
