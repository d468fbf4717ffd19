//===- Nodes.h - Generated node classes -------------------------*- C++ -*-===//
//
// For each record NAME of Nodes.td there is a class NAMENode with
//   static NodeDraft draft(operands..., attributes...)
//   NodeValue getOPERAND() const (for a variadic operand a vector of values)
//   ... getATTRIBUTE() const, void setATTRIBUTE(...)
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_GRAPH_NODES_H
#define GLOWISH_GRAPH_NODES_H

#include "glowish/Graph/Module.h"

namespace glowish {

#define GET_NODE_CLASSES
#include "glowish/Graph/NodeClasses.inc"

/// Whether \p node is element-wise, so that it can be a step of a
/// ScalarProgram.
inline bool isElementWise(const Node &node) {
  return node.getInfo().scalarOp.has_value();
}

/// The step that \p node, an element-wise one, is in a ScalarProgram, without
/// its arguments.
ScalarStep makeScalarStep(const Node &node);

/// The types of a node's operands, for the functions of its record. The node or
/// draft outlives the object.
class NodeTypes {
public:
  explicit NodeTypes(const Node &node)
      : NodeTypes(node.getInfo(), node.getOperands(), node.getAttrs()) {}
  explicit NodeTypes(const NodeDraft &draft)
      : NodeTypes(getNodeInfo(draft.kind), draft.operands, draft.attrs) {}

  OpView getView() const { return OpView(info, inputs, {}, attrs); }

private:
  NodeTypes(const OpInfo &info, llvm::ArrayRef<NodeValue> operands,
            llvm::ArrayRef<AttrValue> attrs);

  const OpInfo &info;
  llvm::ArrayRef<AttrValue> attrs;
  llvm::SmallVector<const Type *, 4> inputs;
};

/// Whether nothing needs \p node. Types may have the extents that a node counts
/// (DeclareExtents): the pass dce erases one that has no uses.
bool isDead(const Node &node);

/// \name Functions of a node's record
/// @{
/// Whether the results have no roundings of their own.
bool isExact(const Node &node);
/// Whether there is an instruction that computes \p node as it is.
bool hasInstr(const Node &node);
bool hasInstr(const NodeDraft &draft);
/// Whether IRGen has a function for \p node as it is.
bool isIRGenerated(const Node &node);
/// How the operands of \p node follow dimension \p dim of its only result; null
/// if parts of it cannot be computed from parts of the operands.
std::optional<OperandAxes> followAxis(const Node &node, unsigned dim);
/// A dimension of an operand that a run decides the extent of, beyond which
/// elements matter, unless the instruction is bounded there.
struct OperandFiller {
  unsigned operand, dim;
  Filler filler;
};
/// Returns those of \p node, by operand; isBounded only where loops can be
/// bounded by the extent (Function::canBound).
std::vector<OperandFiller> findFillers(const Node &node);
/// @}

} // namespace glowish

#endif // GLOWISH_GRAPH_NODES_H
