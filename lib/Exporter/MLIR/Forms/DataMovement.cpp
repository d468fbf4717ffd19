//===- DataMovement.cpp - Movement of elements as MLIR --------------------===//

#include "MLIR/Writer.h"

using namespace glowish;

static void writeSplat(MlirWriter &w, const SplatNode &node) {
  w.setResult(node, w.splat(node.getType(), node.getValue()));
}
static const MlirForm splatForm(NodeKind::Splat, writeSplat);

static void writeReshape(MlirWriter &w, const ReshapeNode &node) {
  w.setResult(node, w.reshape(w.get(node.getInput()), node.getShape()));
}
static const MlirForm reshapeForm(NodeKind::Reshape, writeReshape);

static void writeTranspose(MlirWriter &w, const TransposeNode &node) {
  w.setResult(node, w.transpose(w.get(node.getInput()), node.getPermutation()));
}
static const MlirForm transposeForm(NodeKind::Transpose, writeTranspose);

static void writeBroadcast(MlirWriter &w, const BroadcastNode &node) {
  w.setResult(node,
              w.broadcast(w.get(node.getInput()), node.getType().getShape()));
}
static const MlirForm broadcastForm(NodeKind::Broadcast, writeBroadcast);

static void writeSlice(MlirWriter &w, const SliceNode &node) {
  w.setResult(node, w.slice(w.get(node.getInput()), node.getStarts(),
                            node.getSizes(), node.getSteps()));
}
static const MlirForm sliceForm(NodeKind::Slice, writeSlice);

static void writeConcat(MlirWriter &w, const ConcatNode &node) {
  MlirValues inputs;
  for (NodeValue input : node.getInputs())
    inputs.push_back(w.get(input));
  w.setResult(node, w.concat(inputs, node.getAxis(), node.getType()));
}
static const MlirForm concatForm(NodeKind::Concat, writeConcat);

static void writePad(MlirWriter &w, const PadNode &node) {
  w.setResult(node,
              w.pad(w.get(node.getInput()), node.getPads(), node.getValue()));
}
/// Lowering composes the other modes of slices and concatenations.
static bool padsWithConstant(const Node &node) {
  return llvm::cast<PadNode>(node).getMode() == "constant";
}
static const MlirForm padForm(NodeKind::Pad, writePad, padsWithConstant);

static void writeGather(MlirWriter &w, const GatherNode &node) {
  w.setResult(node, w.gather(w.get(node.getInput()), w.get(node.getIndices()),
                             node.getAxis(), node.getType()));
}
static const MlirForm gatherForm(NodeKind::Gather, writeGather);

static void writeBitCast(MlirWriter &w, const BitCastNode &node) {
  const Type &type = node.getType();
  w.setResult(node, w.bitCast(w.get(node.getInput()), type.getKind()));
}
static const MlirForm bitCastForm(NodeKind::BitCast, writeBitCast);
