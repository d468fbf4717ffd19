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

  /// Returns the values of \p extents; null for dimensions that are static, as
  /// those with a single value are. Makes the inputs for all of their symbols,
  /// so that a program for some values has the placeholders of that for all.
  llvm::Expected<Extents> get(llvm::ArrayRef<std::optional<Extent>> extents);

private:
  llvm::Expected<NodeValue> getValue(const Extent &extent);
  /// Returns the input that states \p symbol, which it makes first.
  NodeValue getSymbol(const std::string &symbol);

  GraphScope &scope;
  /// The inputs that state symbols.
  llvm::StringMap<NodeValue> symbols;
  std::map<Extent, NodeValue> values;
};

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_STATEDEXTENTS_H
