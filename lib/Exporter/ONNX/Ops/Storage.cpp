//===- Storage.cpp - Export of outputs and constants ----------------------===//

#include "ONNX/GraphWriter.h"

using namespace glowish;

/// The enclosing graph's writer declares the output.
static const NodeExporter save = [](GraphWriter &w, const SaveNode &node) {
  w.save(node.getOutput().node, node.getInput());
};

static const NodeExporter splat = [](GraphWriter &w, const SplatNode &node) {
  return w.filled(node.getElemKind(), node.getShape(), node.getValue());
};
