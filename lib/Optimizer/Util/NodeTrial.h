//===- NodeTrial.h - Nodes that may have to be erased again -----*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_UTIL_NODETRIAL_H
#define GLOWISH_LIB_OPTIMIZER_UTIL_NODETRIAL_H

#include "glowish/Graph/Nodes.h"
#include "llvm/ADT/iterator_range.h"

namespace glowish {

/// A scope in which nodes are created in front of another one, to take the
/// place of old ones. They are erased at its end unless they are kept: what
/// holds for the bounds of dimensions need not hold for the extents that runs
/// decide.
class NodeTrial {
public:
  /// New nodes go in front of \p end, a node of \p function.
  NodeTrial(Function &function, Node &end);
  ~NodeTrial();

  /// Whether the extents allow all nodes that were created, and \p replacement
  /// has those of \p value, in whose place it is to be.
  bool allows(NodeValue value, NodeValue replacement) const {
    return extents.holds() &&
           value.getType().getExtents() == replacement.getType().getExtents();
  }
  /// Leaves the new nodes in the function.
  void keep() { isKept = true; }

  /// Returns the new nodes, in their order.
  llvm::iterator_range<Function::NodeList::iterator> getNodes() const;

private:
  Function &function;
  /// The node in front of the new ones; null where there is none.
  Node *before;
  Node &end;
  InsertionGuard guard;
  ExtentTrial extents;
  bool isKept = false;
};

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_UTIL_NODETRIAL_H
