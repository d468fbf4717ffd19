//===- Storage.cpp - Export of outputs and constants ----------------------===//

#include "ONNX/GraphWriter.h"

using namespace glowish;

/// The enclosing graph's writer declares the output.
static void exportSave(GraphWriter &w, const SaveNode &node) {
  w.save(node.getOutput().node, node.getInput());
}
static const NodeExporter save(NodeKind::Save, exportSave);

static void exportSplat(GraphWriter &w, const SplatNode &node) {
  w.setResult(node,
              w.filled(node.getElemKind(), node.getShape(), node.getValue()));
}
static const NodeExporter splat(NodeKind::Splat, exportSplat);
