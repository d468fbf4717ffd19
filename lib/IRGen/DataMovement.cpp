//===- DataMovement.cpp - Moves as copies between views -------------------===//

#include "IRGenerator.h"
#include "glowish/Support/Error.h"

using namespace glowish;

llvm::Error IRGenerator::copyView(Node &node, Buffer *view) {
  function.create<CopyInstr>(node.getName(), createResult(node), view);
  return llvm::Error::success();
}

llvm::Error IRGenerator::visitSave(SaveNode &node) {
  function.create<CopyInstr>(node.getName(), getBuffer(node.getOutput()),
                             getBuffer(node.getInput()));
  return llvm::Error::success();
}

llvm::Error IRGenerator::visitSplat(SplatNode &node) {
  function.create<FillInstr>(node.getName(), createResult(node),
                             node.getValue());
  return llvm::Error::success();
}

llvm::Error IRGenerator::visitReshape(ReshapeNode &node) {
  buffers[node.getResult()] =
      createView(node, getBuffer(node.getInput()), node.getType().getShape(),
                 0, getDenseStrides(node.getType().getShape()));
  return llvm::Error::success();
}

llvm::Error IRGenerator::visitTranspose(TransposeNode &node) {
  Buffer *input = getBuffer(node.getInput());
  Dims own = getStrides(input), strides;
  for (int64_t axis : node.getPermutation())
    strides.push_back(own[axis]);
  return copyView(node, createView(node, input, node.getType().getShape(), 0,
                                   strides));
}

llvm::Error IRGenerator::visitBroadcast(BroadcastNode &node) {
  return copyView(node, broadcast(getBuffer(node.getInput()),
                                  node.getType().getShape()));
}

llvm::Error IRGenerator::visitSlice(SliceNode &node) {
  Buffer *input = getBuffer(node.getInput());
  Dims own = getStrides(input), strides;
  int64_t offset = 0;
  // A slice of nothing starts anywhere, perhaps outside.
  bool isEmpty = node.getType().getNumElements() == 0;
  for (unsigned d = 0; d < own.size(); ++d) {
    offset += isEmpty ? 0 : node.getStarts()[d] * own[d];
    strides.push_back(node.getSteps()[d] * own[d]);
  }
  return copyView(node, createView(node, input, node.getType().getShape(),
                                   offset, strides));
}

llvm::Error IRGenerator::visitConcat(ConcatNode &node) {
  Buffer *result = createResult(node);
  Dims strides = getDenseStrides(result->getShape());
  int64_t start = 0;
  for (NodeValue value : node.getInputs()) {
    Buffer *part = createView(node, result, value.getShape(),
                              start * strides[node.getAxis()], strides);
    function.create<CopyInstr>(node.getName(), part, getBuffer(value));
    start += value.getShape()[node.getAxis()];
  }
  return llvm::Error::success();
}

llvm::Error IRGenerator::visitPad(PadNode &node) {
  if (node.getMode() != "constant")
    return makeError("Pad '{0}': mode {1} must be lowered", node.getName(),
                     node.getMode());
  Buffer *input = getBuffer(node.getInput()), *result = createResult(node);
  function.create<FillInstr>(node.getName(), result, node.getValue());
  // The part of the input that is inside the result: negative pads crop.
  Dims from = getStrides(input), to = getDenseStrides(result->getShape());
  Dims shape;
  int64_t source = 0, target = 0;
  for (unsigned d = 0; d < from.size(); ++d) {
    int64_t before = node.getPads()[d], after = node.getPads()[from.size() + d];
    int64_t size = input->getType().getDim(d) + std::min<int64_t>(before, 0) +
                   std::min<int64_t>(after, 0);
    if (size <= 0)
      return llvm::Error::success();
    shape.push_back(size);
    source += std::max<int64_t>(-before, 0) * from[d];
    target += std::max<int64_t>(before, 0) * to[d];
  }
  function.create<CopyInstr>(node.getName(),
                             createView(node, result, shape, target, to),
                             createView(node, input, shape, source, from));
  return llvm::Error::success();
}
