//===- ExtentLowering.h - What lies beyond extents --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_EXTENTS_EXTENTLOWERING_H
#define GLOWISH_LIB_OPTIMIZER_EXTENTS_EXTENTLOWERING_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Replaces the elements beyond the extents that runs decide where they would
/// matter, node by node in their order. A dimension is called open if a run
/// decides its extent. Those of which an operand has been filled are closed:
/// it is read to its bounds.
class ExtentLowering final : public NodeBuilder {
public:
  explicit ExtentLowering(Function &function);

  /// Lowers all nodes of the function. Returns whether there was one to lower.
  llvm::Expected<bool> run();

  bool isOpen(NodeValue value, unsigned dim) const {
    return value.getType().getExtent(dim);
  }
  bool isAnyOpen(NodeValue value, llvm::ArrayRef<int64_t> dims) const {
    return llvm::any_of(dims, [&](int64_t dim) { return isOpen(value, dim); });
  }
  /// Makes \p value, an int64 scalar, that of \p symbol.
  void define(llvm::StringRef symbol, NodeValue value);
  using NodeBuilder::compute;
  NodeValue compute(const Extent &extent) override;
  /// Returns \p value reshaped to the bounds of \p type, with its extents.
  NodeValue reshapeTo(NodeValue value, const Type &type);
  /// Creates a node of the kind and with the attributes of \p node.
  Node *recreate(const Node &node, llvm::ArrayRef<NodeValue> operands);

private:
  llvm::Error lower(Node &node);
  llvm::Error fillOperands(Node &node);

  /// The values of symbols, int64 scalars.
  llvm::StringMap<NodeValue> symbols;
  std::map<Extent, NodeValue> lengths;
};

/// lowerExtentsOfNAME for each node whose record has HasExtentLowering: returns
/// the value that replaces the result, or null to keep the node, whose operands
/// it may have changed.
#define EXTENT_LOWERING(NAME)                                                  \
  NodeValue lowerExtentsOf##NAME(NAME##Node &node, ExtentLowering &lowering);
#define GET_EXTENT_LOWERING_LIST
#include "glowish/Graph/NodeFunctions.inc"

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_EXTENTS_EXTENTLOWERING_H
