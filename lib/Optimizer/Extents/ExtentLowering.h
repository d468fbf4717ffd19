//===- ExtentLowering.h - Nodes without extents -----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_EXTENTS_EXTENTLOWERING_H
#define GLOWISH_LIB_OPTIMIZER_EXTENTS_EXTENTLOWERING_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Takes the extents that runs decide out of the types of a function, node by
/// node in their order: what lies beyond them is replaced where it would
/// matter. A dimension is called open if a run decides its extent.
///
/// The functions of the nodes, lowerExtentsOfNAME, see operands that have been
/// lowered, and ask for the types that these had.
class ExtentLowering final : public NodeBuilder {
public:
  explicit ExtentLowering(Function &function);

  /// Lowers all nodes of the function. Returns whether there was one to lower.
  llvm::Expected<bool> run();

  /// Returns the type of \p value, an operand, with its extents.
  const Type &getType(NodeValue value) const;
  bool isOpen(NodeValue value, unsigned dim) const {
    return getType(value).getExtent(dim);
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

private:
  void lowerInputs();
  llvm::Error lower(Node &node);
  llvm::Error fillOperands(Node &node);
  void strip(Node &node);
  void removeViews();
  const Type &getExtentType(NodeValue value) const override {
    return getType(value);
  }

  /// The types of values that have none of their extents any more.
  llvm::DenseMap<NodeValue, Type> types;
  /// The values of symbols, int64 scalars.
  llvm::StringMap<NodeValue> symbols;
  std::map<Extent, NodeValue> lengths;
};

/// lowerExtentsOfNAME for each node whose record has HasExtentLowering: returns
/// what replaces the result, or null to keep the node, whose operands it may
/// have changed.
#define EXTENT_LOWERING(NAME)                                                  \
  NodeValue lowerExtentsOf##NAME(NAME##Node &node, ExtentLowering &lowering);
#define GET_EXTENT_LOWERING_LIST
#include "glowish/Graph/NodeFunctions.inc"

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_EXTENTS_EXTENTLOWERING_H
