//===- StatedExtents.h - Extents that each run states -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_STATEDEXTENTS_H
#define GLOWISH_LIB_IMPORTER_ONNX_STATEDEXTENTS_H

#include "ONNX/GraphScope.h"

namespace glowish::onnximport {

/// Makes the inputs by which runs state the extents of symbolic dimensions, and
/// the nodes that compute expressions of them.
class StatedExtents {
public:
  /// \p scope: the graph of the model, which outlives this.
  explicit StatedExtents(GraphScope &scope) : scope(scope) {}

  /// Returns the extents of an input with the dimensions \p dims
  /// (InputExtents::dims). One with a single value is static.
  llvm::Expected<Extents> get(llvm::ArrayRef<std::string> dims);

private:
  llvm::Expected<NodeValue> getExtent(const std::string &dim);
  NodeValue getSymbol(const std::string &symbol);

  GraphScope &scope;
  /// The inputs that state symbols.
  llvm::StringMap<NodeValue> symbols;
  /// By expressions; null for those that are static.
  llvm::StringMap<NodeValue> extents;
};

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_STATEDEXTENTS_H
