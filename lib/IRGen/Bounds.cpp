//===- Bounds.cpp - How much of each dimension a run needs ----------------===//

#include "IRGenerator.h"

using namespace glowish;

/// Returns the extents up to which \p value has elements: those of its type
/// and, in dimensions that views closed, those of the values behind the views.
static ExtentList findWritten(NodeValue value) {
  ExtentList extents(value.getType().getExtents());
  extents.resize(value.getShape().size());
  while (auto *view = value.getNodeAs<DeclareExtentsNode>()) {
    value = view->getInput();
    for (unsigned d = 0; d < extents.size(); ++d)
      if (const Extent *own = value.getType().getExtent(d); own && !extents[d])
        extents[d] = *own;
  }
  return extents;
}

/// Returns the extents up to which the result of \p node is needed: those of
/// its type and, in closed dimensions, those that a view declares if it is the
/// only reader.
static ExtentList findNeeded(const Node &node) {
  ExtentList extents(node.getType().getExtents());
  extents.resize(node.getType().getRank());
  if (!NodeValue(const_cast<Node *>(&node)).hasUses(1))
    return extents;
  auto *view =
      llvm::dyn_cast<DeclareExtentsNode>(node.uses().begin()->getUser());
  for (unsigned d = 0; view && d < extents.size(); ++d)
    if (const Extent *own = view->getType().getExtent(d); own && !extents[d])
      extents[d] = *own;
  return extents;
}

void IRGenerator::addBounds(
    std::vector<LoopBound> &bounds, unsigned operand,
    llvm::ArrayRef<std::optional<Extent>> extents) const {
  for (auto [d, extent] : llvm::enumerate(extents))
    if (extent && graph.canBound(*extent))
      bounds.push_back({operand, unsigned(d), *extent});
}

std::vector<LoopBound> IRGenerator::getBounds(const Node &node) const {
  std::vector<LoopBound> bounds;
  if (node.getNumResults() != 1)
    return bounds;
  addBounds(bounds, 0, findNeeded(node));
  // An instruction takes the bound of one operand's dimension.
  std::vector<OperandFiller> fillers = findFillers(node);
  auto bounded = llvm::find_if(fillers, [](const OperandFiller &found) {
    return found.filler.isBounded;
  });
  if (bounded != fillers.end())
    bounds.push_back(
        {unsigned(node.getNumResults()) + bounded->operand, bounded->dim,
         *node.getOperand(bounded->operand).getType().getExtent(bounded->dim)});
  return bounds;
}

std::vector<LoopBound> IRGenerator::getCopyBounds(NodeValue source,
                                                  unsigned operand) const {
  std::vector<LoopBound> bounds;
  addBounds(bounds, operand, findWritten(source));
  return bounds;
}

bool IRGenerator::isNeededFrom(const Node &node, unsigned dim,
                               int64_t first) const {
  const SymbolRanges &symbols = graph.getModule().getSymbols();
  return llvm::any_of(node.uses(), [&](const Use &use) {
    auto *save = llvm::dyn_cast<SaveNode>(use.getUser());
    if (!save)
      return true;
    auto *output = save->getOutput().getNodeAs<Placeholder>();
    ExtentList next = output->getInputExtents().next;
    return next.empty() || !next[dim] ||
           symbols.isAtMost(*next[dim], first) != Certainty::Yes;
  });
}
