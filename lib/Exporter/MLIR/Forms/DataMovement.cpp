//===- DataMovement.cpp - Movement of elements as MLIR --------------------===//

#include "MLIR/Writer.h"

using namespace glowish;

static const MlirForm splat = [](MlirWriter &w, const SplatNode &node) {
  return w.splat(node.getType(), node.getValue());
};

static const MlirForm reshape = [](MlirWriter &w, const ReshapeNode &node) {
  return w.reshape(w.get(node.getInput()), node.getShape());
};

static const MlirForm transpose = [](MlirWriter &w, const TransposeNode &node) {
  return w.transpose(w.get(node.getInput()), node.getPermutation());
};

static const MlirForm broadcast = [](MlirWriter &w, const BroadcastNode &node) {
  return w.broadcast(w.get(node.getInput()), node.getType().getShape());
};

static const MlirForm slice = [](MlirWriter &w, const SliceNode &node) {
  return w.slice(w.get(node.getInput()), node.getStarts(), node.getSizes(),
                 node.getSteps());
};

static const MlirForm concat = [](MlirWriter &w, const ConcatNode &node) {
  MlirValues inputs;
  for (NodeValue input : node.getInputs())
    inputs.push_back(w.get(input));
  return w.concat(inputs, node.getAxis(), node.getType());
};

static MlirValue writePad(MlirWriter &w, const PadNode &node) {
  return w.pad(w.get(node.getInput()), node.getPads(), node.getValue());
}
/// Lowering composes the other modes of slices and concatenations.
static bool padsWithConstant(const Node &node) {
  return llvm::cast<PadNode>(node).getMode() == "constant";
}
static const MlirForm pad(writePad, padsWithConstant);

static const MlirForm gather = [](MlirWriter &w, const GatherNode &node) {
  return w.gather(w.get(node.getInput()), w.get(node.getIndices()),
                  node.getAxis(), node.getType());
};

static const MlirForm declareExtents = [](MlirWriter &w,
                                          const DeclareExtentsNode &node) {
  return w.get(node.getInput());
};

static const MlirForm bitCast = [](MlirWriter &w, const BitCastNode &node) {
  return w.bitCast(w.get(node.getInput()), node.getTo());
};
