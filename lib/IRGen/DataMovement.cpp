//===- DataMovement.cpp - Moves as copies between views -------------------===//

#include "IRGenerator.h"
#include "glowish/Support/Error.h"

using namespace glowish;

llvm::Error IRGenerator::copyView(Node &node, Buffer *view) {
  auto *copy =
      function.create<CopyInstr>(node.getName(), createResult(node), view);
  copy->setLoopBounds(getBounds(node));
  copy->setPredicate(getBuffer(node.getPredicate()));
  return llvm::Error::success();
}

llvm::Error IRGenerator::generateSplat(SplatNode &node) {
  function.create<FillInstr>(node.getName(), createResult(node),
                             node.getValue());
  return llvm::Error::success();
}

llvm::Error IRGenerator::generateDeclareExtents(DeclareExtentsNode &node) {
  buffers[node.getResult()] = getBuffer(node.getInput());
  return llvm::Error::success();
}

/// Copies the elements to where larger bounds have them.
llvm::Error IRGenerator::generateRepack(RepackNode &node) {
  Buffer *input = getBuffer(node.getInput()), *result = createResult(node);
  Buffer *corner = createView(node, result, node.getInput().getShape(), 0,
                              getDenseStrides(result->getShape()));
  function.create<CopyInstr>(node.getName(), corner, input)
      ->setLoopBounds(getCopyBounds(node.getInput(), CopyInstr::resultIdx));
  return llvm::Error::success();
}

llvm::Error IRGenerator::generateReshape(ReshapeNode &node) {
  buffers[node.getResult()] =
      createView(node, getBuffer(node.getInput()), node.getType().getShape(), 0,
                 getDenseStrides(node.getType().getShape()));
  return llvm::Error::success();
}

llvm::Error IRGenerator::generateTranspose(TransposeNode &node) {
  Buffer *input = getBuffer(node.getInput());
  Dims own = StridedLayout::of(*input).strides, strides;
  for (int64_t axis : node.getPermutation())
    strides.push_back(own[axis]);
  return copyView(
      node, createView(node, input, node.getType().getShape(), 0, strides));
}

llvm::Error IRGenerator::generateBroadcast(BroadcastNode &node) {
  return copyView(
      node, broadcast(getBuffer(node.getInput()), node.getType().getShape()));
}

llvm::Error IRGenerator::generateTile(TileNode &node) {
  // Each dimension as two: which repetition, and where in it.
  Buffer *input = getBuffer(node.getInput());
  Dims own = StridedLayout::of(*input).strides, shape, strides;
  for (unsigned d = 0; d < own.size(); ++d) {
    shape.append({node.getRepeats()[d], input->getType().getDim(d)});
    strides.append({0, own[d]});
  }
  Buffer *result = createResult(node);
  function.create<CopyInstr>(
      node.getName(),
      createView(node, result, shape, 0, getDenseStrides(shape)),
      createView(node, input, shape, 0, strides));
  return llvm::Error::success();
}

llvm::Error IRGenerator::generateSlice(SliceNode &node) {
  Buffer *input = getBuffer(node.getInput());
  Dims own = StridedLayout::of(*input).strides, strides;
  int64_t offset = 0;
  // A slice of nothing starts anywhere, perhaps outside.
  bool isEmpty = node.getType().getNumElements() == 0;
  for (unsigned d = 0; d < own.size(); ++d) {
    offset += isEmpty ? 0 : node.getStarts()[d] * own[d];
    // The step from the only element may be any.
    bool hasNext = !isEmpty && node.getSizes()[d] > 1;
    strides.push_back(hasNext ? node.getSteps()[d] * own[d] : own[d]);
  }
  return copyView(node, createView(node, input, node.getType().getShape(),
                                   offset, strides));
}

llvm::Error IRGenerator::generateConcat(ConcatNode &node) {
  Buffer *result = createResult(node);
  Dims strides = getDenseStrides(result->getShape());
  int64_t start = 0;
  for (auto [i, value] : llvm::enumerate(node.getInputs())) {
    int64_t extent = value.getShape()[node.getAxis()];
    if (value.getType().getNumElements() != 0) {
      Buffer *part = createView(node, result, value.getShape(),
                                start * strides[node.getAxis()], strides);
      function.create<CopyInstr>(node.getName(), part, getBuffer(value))
          ->setLoopBounds(getCopyBounds(value, CopyInstr::resultIdx));
    }
    start += extent;
  }
  return llvm::Error::success();
}

llvm::Error
IRGenerator::generateDynamicUpdateSlice(DynamicUpdateSliceNode &node) {
  Buffer *result = createResult(node);
  auto *copy = function.create<CopyInstr>(node.getName(), result,
                                          getBuffer(node.getInput()));
  copy->setLoopBounds(getCopyBounds(node.getInput(), CopyInstr::resultIdx));
  if (node.getUpdate().getType().getNumElements() == 0)
    return llvm::Error::success();
  auto *insert = function.create<InsertSliceInstr>(
      node.getName(), result, getBuffer(node.getUpdate()),
      getBuffer(node.getStart()), node.getAxis());
  insert->setLoopBounds(
      getCopyBounds(node.getUpdate(), InsertSliceInstr::updateIdx));
  return llvm::Error::success();
}

//===- Padding ------------------------------------------------------------===//

/// Gives its values to \p slab, the part of the result before (\p isFront) or
/// after the indices \p low ... \p high - 1 of dimension \p d. These have
/// their values already.
void IRGenerator::fillBorder(PadNode &node, Buffer *result, unsigned d,
                             bool isFront, const StridedLayout &slab,
                             int64_t low, int64_t high) {
  if (slab.isEmpty())
    return;
  Buffer *border =
      createView(node, result, slab.shape, slab.offset, slab.strides);
  if (node.getMode() == "constant") {
    function.create<FillInstr>(node.getName(), border, node.getValue());
    return;
  }
  // The result itself has what is repeated: its edge, or its mirror image.
  StridedLayout source = slab;
  int64_t stride = slab.strides[d];
  int64_t slabStart = isFront ? 0 : high;
  int64_t edge = isFront ? low : high - 1;
  bool mirrors = node.getMode() == "reflect";
  int64_t start = mirrors ? 2 * edge - slabStart : edge;
  source.offset += (start - slabStart) * stride;
  source.strides[d] = mirrors ? -stride : 0;
  function.create<CopyInstr>(
      node.getName(), border,
      createView(node, result, source.shape, source.offset, source.strides));
}

llvm::Error IRGenerator::generatePad(PadNode &node) {
  Buffer *input = getBuffer(node.getInput()), *result = createResult(node);
  unsigned rank = result->getType().getRank();
  // The part of the input that is inside the result: negative pads crop.
  StridedLayout from = StridedLayout::of(*input),
                to = StridedLayout::of(*result);
  Dims low, high;
  for (unsigned d = 0; d < rank; ++d) {
    int64_t before = node.getPads()[d], after = node.getPads()[rank + d];
    int64_t extent = from.shape[d] + std::min<int64_t>(before, 0) +
                     std::min<int64_t>(after, 0);
    low.push_back(std::max<int64_t>(before, 0));
    high.push_back(low[d] + std::max<int64_t>(extent, 0));
    from.offset += std::max<int64_t>(-before, 0) * from.strides[d];
    from.shape[d] = high[d] - low[d];
    to.offset += low[d] * to.strides[d];
  }
  if (from.isEmpty()) {
    if (node.getMode() != "constant" && !StridedLayout::of(*result).isEmpty())
      return makeError("Pad '{0}': mode {1} has nothing to repeat",
                       node.getName(), node.getMode());
    function.create<FillInstr>(node.getName(), result, node.getValue());
    return llvm::Error::success();
  }
  auto *copy = function.create<CopyInstr>(
      node.getName(),
      createView(node, result, from.shape, to.offset, to.strides),
      createView(node, input, from.shape, from.offset, from.strides));
  if (DimsRef(from.shape) == input->getShape())
    copy->setLoopBounds(getCopyBounds(node.getInput(), CopyInstr::resultIdx));
  // One dimension after the other, so that the borders never overlap: what
  // produces the input can then write straight into the result.
  StridedLayout slab = {from.shape, to.offset, to.strides};
  for (unsigned d = 0; d < rank; ++d) {
    int64_t extent = result->getType().getDim(d);
    slab.offset -= low[d] * slab.strides[d];
    slab.shape[d] = low[d];
    fillBorder(node, result, d, /*isFront=*/true, slab, low[d], high[d]);
    StridedLayout back = slab;
    back.offset += high[d] * slab.strides[d];
    back.shape[d] = extent - high[d];
    // An output may have space for larger programs.
    if (isNeededFrom(node, d, high[d]))
      fillBorder(node, result, d, /*isFront=*/false, back, low[d], high[d]);
    slab.shape[d] = extent;
  }
  return llvm::Error::success();
}
