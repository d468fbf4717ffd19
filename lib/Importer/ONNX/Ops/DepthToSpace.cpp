//===- DepthToSpace.cpp - Col2Im and CenterCropPad ------------------------===//

#include "Common/SlidingWindows.h"
#include "ONNX/Extents.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Col2Im -------------------------------------------------------------===//

/// Blocks that slide over an image with any number of dimensions.
static llvm::Expected<std::vector<Edge>> readBlocks(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> image, op.getConstantInts(1));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> block, op.getConstantInts(2));
  GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Int64, image));
  GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Int64, block));
  size_t rank = image.size();
  std::vector<int64_t> ones(rank, 1);
  std::vector<int64_t> strides = op.getInts("strides", ones);
  std::vector<int64_t> dilations = op.getInts("dilations", ones);
  std::vector<int64_t> pads =
      op.getInts("pads", std::vector<int64_t>(2 * rank, 0));
  bool fits = rank > 0 && block.size() == rank && strides.size() == rank &&
              dilations.size() == rank && pads.size() == 2 * rank;
  std::vector<Edge> edges;
  Dims padded, counts;
  for (size_t d = 0; fits && d < rank; ++d) {
    edges.push_back({image[d], block[d], strides[d], dilations[d], pads[d],
                     pads[rank + d]});
    fits = image[d] > 0 && edges[d].isWithinLimits() && edges[d].getCount() > 0;
    if (!fits)
      break;
    padded.push_back(edges[d].getPadded());
    counts.push_back(edges[d].getCount());
  }
  if (fits) {
    GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Int64, padded));
    GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Int64, counts));
    return edges;
  }
  return makeError("blocks {0} in an image {1}, strides {2}, dilations {3}, "
                   "pads {4}; accepted: blocks that fit",
                   formatShape(block), formatShape(image), formatShape(strides),
                   formatShape(dilations), formatShape(pads));
}

/// Adds the columns [N, C * elements, blocks] to an image, where they may
/// overlap.
static llvm::Error importCol2Im(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Edge> edges, readBlocks(op));
  DimsRef shape = input.getShape();
  int64_t elements = 1, blocks = 1, pixels = 1;
  for (const Edge &edge : edges) {
    elements *= edge.kernel;
    blocks *= edge.getCount();
    pixels *= edge.getPadded();
  }
  if (shape.size() != 3 || shape[1] % elements || shape[2] != blocks)
    return op.refuseInput(
        0, llvm::formatv("[N, a multiple of {0}, {1}]", elements, blocks));
  int64_t images = shape[0] * (shape[1] / elements);
  GLOWISH_RETURN_IF_ERROR(checkShape(input.getElemKind(), {pixels, images}));
  return op.setOutput(0, addWindows(op, input, edges));
}

//===- CenterCropPad ------------------------------------------------------===//

/// Crops or pads each dimension at both ends, with the odd element at the end.
static llvm::Error importCenterCropPad(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, op.getConstantInts(1));
  DimsRef shape = input.getShape();
  std::vector<int64_t> axes = op.getInts("axes", getAllDims(shape.size()));
  if (sizes.size() != axes.size())
    return makeError("{0} sizes; accepted: {1}", sizes.size(), axes.size());
  std::vector<int64_t> pads(2 * shape.size(), 0);
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    llvm::Expected<int64_t> d = normalizeAxis(axis, shape.size());
    if (!d)
      return addContext(d.takeError(), "an axis is ");
    if (size < 0)
      return makeError("a size is {0}; accepted: at least 0", size);
    if (input.getType().getExtent(*d))
      return makeError("a run decides the extent of dimension {0} of input 0, "
                       "which gets a size; accepted: such extents of others",
                       *d);
    // Division truncates towards zero, for cropping and padding alike.
    int64_t added = size - shape[*d];
    pads[*d] = added / 2;
    pads[shape.size() + *d] = added - added / 2;
  }
  return op.setOutput(0, op.pad(input, pads, 0));
}

static OnnxOperator col2ImOp("Col2Im", 18, withExtents<importCol2Im>);
static OnnxOperator centerCropPadOp("CenterCropPad", 18,
                                    withExtents<importCenterCropPad>);
