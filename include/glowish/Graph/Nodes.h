//===- Nodes.h - The generated node classes -------------------*- C++ -*-===//
//
// For each record NAME of Nodes.td a class NAMENode with
//   static NodeDraft draft(operands..., attributes...)
//   NodeValue getOPERAND() const, and for variadic ones a vector of values
//   ... getATTRIBUTE() const, void setATTRIBUTE(...)
// and NodeVisitor, which calls visitNAME(NAMENode &) or, where the derived
// class has none, visitNode(Node &).
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_GRAPH_NODES_H
#define GLOWISH_GRAPH_NODES_H

#include "glowish/Graph/Module.h"

namespace glowish {

#define GET_NODE_CLASSES
#include "glowish/Graph/NodeClasses.inc"

/// `struct MyVisitor : NodeVisitor<MyVisitor, Result, Args...>`.
template <typename Derived, typename Result = void, typename... Args>
class NodeVisitor {
public:
  Result visit(Node &node, Args... args) {
    switch (node.getKind()) {
#define NODE(NAME)                                                             \
  case NodeKind::NAME:                                                         \
    return derived().visit##NAME(static_cast<NAME##Node &>(node), args...);
#define GET_NODE_LIST
#include "glowish/Graph/NodeKinds.inc"
    case NodeKind::Placeholder:
    case NodeKind::Constant:
      return derived().visitNode(node, args...);
    }
    llvm_unreachable("not a node kind");
  }
#define NODE(NAME)                                                             \
  Result visit##NAME(NAME##Node &node, Args... args) {                         \
    return derived().visitNode(node, args...);                                 \
  }
#define GET_NODE_LIST
#include "glowish/Graph/NodeKinds.inc"

private:
  Derived &derived() { return static_cast<Derived &>(*this); }
};

/// Whether \p node is element-wise: it becomes a step of a scalar program.
inline bool isElementWise(const Node &node) {
  return node.getInfo().scalarOp.has_value();
}

} // namespace glowish

#endif // GLOWISH_GRAPH_NODES_H
