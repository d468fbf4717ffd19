//===- Registry.cpp - Registry of node exporters --------------------------===//

#include "ONNX/GraphWriter.h"
#include "glowish/Exporter/ONNX.h"

using namespace glowish;

/// Created on first use, as the order of static initialization across files is
/// unspecified.
static std::map<NodeKind, NodeExporter::Function> &getExporters() {
  static std::map<NodeKind, NodeExporter::Function> exporters;
  return exporters;
}
static std::map<NodeKind, llvm::StringRef> &getRefusals() {
  static std::map<NodeKind, llvm::StringRef> refusals;
  return refusals;
}

NodeExporter::NodeExporter(NodeKind kind, const Function &exporter) {
  bool isNew = getExporters().try_emplace(kind, exporter).second;
  assert(isNew && "a node kind is registered once");
  (void)isNew;
}

NodeRefusal::NodeRefusal(NodeKind kind, llvm::StringLiteral reason) {
  bool isNew = getRefusals().try_emplace(kind, reason).second;
  assert(isNew && "a refusal is stated once");
  (void)isNew;
}

const NodeExporter::Function *glowish::findExporter(NodeKind kind) {
  auto found = getExporters().find(kind);
  return found == getExporters().end() ? nullptr : &found->second;
}

bool glowish::hasOnnxExporter(NodeKind kind) { return findExporter(kind); }

llvm::StringRef glowish::getOnnxRefusal(NodeKind kind) {
  auto found = getRefusals().find(kind);
  return found == getRefusals().end() ? llvm::StringRef() : found->second;
}
