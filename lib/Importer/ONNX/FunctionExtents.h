//===- FunctionExtents.h - Extents of a function's values -------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_FUNCTIONEXTENTS_H
#define GLOWISH_LIB_IMPORTER_ONNX_FUNCTIONEXTENTS_H

#include "Common/ExtentFinder.h"
#include "ONNX/GraphScope.h"

namespace glowish::onnximport {

/// Converts between the extents in the types of a function's values and int64
/// scalars that have their values, which importers compute with.
class FunctionExtents {
public:
  /// \p state outlives this.
  FunctionExtents(Function &function, ImportState &state)
      : function(function), state(state) {}

  /// Makes \p value, an int64 scalar, that of \p symbol.
  void define(llvm::StringRef symbol, NodeValue value);
  /// Returns the value of \p extent, of which all symbols are defined, and
  /// makes the nodes that compute it where there are none.
  NodeValue getValue(const Extent &extent);
  /// Returns the values of the extents of \p type.
  Lengths getValues(const Type &type);

  /// Returns what finds the extents that numbers of the function are.
  ExtentFinder makeFinder() const;
  /// Returns the extent that \p value, an int64 scalar from 0 to \p bound, is
  /// in each run: a new symbol, \p name, if no expression is known to be it.
  Extent getExtent(NodeValue value, int64_t bound, llvm::StringRef name);

  /// Returns \p value with the extents \p values, null for static dimensions.
  /// Each that is no expression of symbols becomes the value of a new one.
  NodeValue declare(NodeValue value, llvm::ArrayRef<NodeValue> values);
  /// Returns \p value with the extents of \p type, of which all symbols are
  /// known here.
  NodeValue restate(NodeValue value, const Type &type);
  /// Returns the elements of \p value in the type \p type (Repack).
  NodeValue repack(NodeValue value, const Type &type);
  /// Returns \p value, which may be null, with the bounds as its extents.
  NodeValue drop(NodeValue value);

  /// Forgets the results of \p node, which is erased.
  void forget(Node &node);

private:
  void record(const Extent &extent, NodeValue value);
  Extent makeSymbol(llvm::StringRef name);
  template <typename T>
  NodeValue stateExtents(NodeValue value, const Type &type);

  Function &function;
  ImportState &state;
  std::map<Extent, NodeValue> values;
  /// The extents that values are known to be.
  ExtentFinder::Known extents;
  /// For values with extents the same without.
  llvm::DenseMap<NodeValue, NodeValue> dropped;
};

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_FUNCTIONEXTENTS_H
