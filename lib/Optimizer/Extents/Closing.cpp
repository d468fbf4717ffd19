//===- Closing.cpp - Nodes that are computed for bounds -------------------===//

#include "Extents/Closing.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Optimizer/Passes.h"

using namespace glowish;

bool glowish::hasExtents(const Node &node) {
  auto isOpen = [](const Type &type) { return type.hasExtents(); };
  return llvm::any_of(node.getTypes(), isOpen) ||
         llvm::any_of(node.getOperands(), [](NodeValue value) {
           return value && value.getType().hasExtents();
         });
}

/// Lets the readers of \p old read \p result with the extents of \p old.
static void redirect(NodeBuilder &b, NodeValue old, NodeValue result) {
  old.replaceAllUsesWith(b.declareExtents(
      result, result.getType().withExtents(old.getType().getExtents())));
}

void glowish::replaceByBounds(NodeBuilder &b, Node &node, NodeValue result) {
  redirect(b, node.getResult(), result);
  b.getFunction().erase(&node);
}

void glowish::replaceByBounds(NodeBuilder &b, Node &node, Node &made) {
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    redirect(b, node.getResult(i), made.getResult(i));
  b.getFunction().erase(&node);
}

/// Returns \p value with its bounds, without the views that declared extents of
/// it.
static NodeValue getBounds(NodeBuilder &b, NodeValue value) {
  while (value && value.getType().hasExtents() &&
         llvm::isa<DeclareExtentsNode>(value.node))
    value = value.node->getOperand(DeclareExtentsNode::inputIdx);
  return b.dropExtents(value);
}

/// Returns \p input with the larger bounds \p shape.
static NodeValue enlarge(NodeBuilder &b, NodeValue input, DimsRef shape) {
  unsigned rank = shape.size();
  std::vector<int64_t> pads(2 * rank, 0);
  for (unsigned d = 0; d < rank; ++d)
    pads[rank + d] = shape[d] - input.getShape()[d];
  return b.pad(input, pads, 0);
}

void glowish::computeForBounds(Node &node) {
  Function &function = *node.getParent();
  InsertionGuard guard(function, &node);
  NodeBuilder b(function, node.getName());
  NodeDraft draft = node.getDraft();
  draft.predicate = node.getPredicate();
  for (NodeValue &operand : draft.operands)
    operand = getBounds(b, operand);
  if (llvm::isa<RepackNode>(node))
    return replaceByBounds(
        b, node, enlarge(b, draft.operands.front(), node.getType().getShape()));
  replaceByBounds(b, node, *function.create(node.getName(), std::move(draft)));
}

llvm::Expected<bool> glowish::closeExtents(Function &function,
                                           const GraphPassContext &) {
  bool changed = false;
  for (Node &node : llvm::make_early_inc_range(function.getNodes())) {
    if (!hasExtents(node) || llvm::isa<DeclareExtentsNode>(node))
      continue;
    changed = true;
    if (auto *save = llvm::dyn_cast<SaveNode>(&node)) {
      InsertionGuard guard(function, save);
      NodeBuilder b(function, save->getName());
      save->setOperand(SaveNode::inputIdx, getBounds(b, save->getInput()));
    } else {
      computeForBounds(node);
    }
  }
  return changed;
}
