//===- ExtentLowering.cpp - What lies beyond extents ----------------------===//

#include "Extents/ExtentLowering.h"
#include "Extents/Closing.h"
#include "glowish/Optimizer/Passes.h"
#include "glowish/Support/Error.h"

using namespace glowish;

ExtentLowering::ExtentLowering(Function &function)
    : NodeBuilder(function, "extent") {
  // A body has symbols that its own nodes declare.
  if (function.isBody())
    return;
  for (const auto &placeholder : function.getModule().getPlaceholders())
    if (const auto &range = placeholder->getRange())
      define(range->symbol, placeholder.get());
}

//===- Extents ------------------------------------------------------------===//

void ExtentLowering::define(llvm::StringRef symbol, NodeValue value) {
  symbols.try_emplace(symbol, value);
}

NodeValue ExtentLowering::compute(const Extent &extent) {
  NodeValue &length = lengths[extent];
  if (!length)
    length = NodeBuilder::compute(
        extent, [&](llvm::StringRef symbol) { return symbols.lookup(symbol); });
  return length;
}

NodeValue ExtentLowering::reshapeTo(NodeValue value, const Type &type) {
  value = reshape(dropExtents(value), type.getShape());
  return value ? declareExtents(value,
                                value.getType().withExtents(type.getExtents()))
               : value;
}

//===- Nodes --------------------------------------------------------------===//

Node *ExtentLowering::recreate(const Node &node,
                               llvm::ArrayRef<NodeValue> operands) {
  NodeDraft draft = node.getDraft();
  draft.operands.assign(operands.begin(), operands.end());
  draft.predicate = node.getPredicate();
  return getFunction().create(node.getName(), std::move(draft));
}

llvm::Error ExtentLowering::fillOperands(Node &node) {
  for (unsigned i = 0; i < node.getNumOperands(); ++i)
    if (NodeValue value = node.getOperand(i);
        value && value.getType().hasExtents() && !node.getInfo().findFiller)
      return makeError("operand '{0}' is {1}; accepted: extents that no run "
                       "decides",
                       node.getOperandName(i), value.getType().str());
  // The dimensions that each filler of an operand is for.
  std::map<std::pair<unsigned, double>, std::vector<int64_t>> dims;
  for (const OperandFiller &found : findFillers(node))
    if (!found.filler.isBounded)
      dims[{found.operand, found.filler.value}].push_back(found.dim);
  for (const auto &[place, own] : dims) {
    auto [operand, filler] = place;
    node.setOperand(operand,
                    fillOutside(node.getOperand(operand), own, filler));
  }
  return takeError();
}

llvm::Error ExtentLowering::lower(Node &node) {
  InsertionGuard guard(getFunction(), &node);
  setName(node.getName());
  llvm::SmallVector<NodeValue, 4> operands = node.getOperands();
  NodeValue replacement;
  bool hasOwn = true;
  switch (node.getKind()) {
#define EXTENT_LOWERING(NAME)                                                  \
  case NodeKind::NAME:                                                         \
    replacement = lowerExtentsOf##NAME(llvm::cast<NAME##Node>(node), *this);   \
    break;
#define GET_EXTENT_LOWERING_LIST
#include "glowish/Graph/NodeFunctions.inc"
  default:
    hasOwn = false;
  }
  GLOWISH_RETURN_IF_ERROR(takeError());
  if (!replacement && (!hasOwn || node.getInfo().findFiller))
    GLOWISH_RETURN_IF_ERROR(fillOperands(node));
  if (replacement)
    replaceByBounds(*this, node, replacement);
  else if (node.getNumResults() != 0 && node.getOperands() != operands)
    replaceByBounds(*this, node, *recreate(node, node.getOperands()));
  return llvm::Error::success();
}

llvm::Expected<bool> ExtentLowering::run() {
  std::vector<Node *> nodes;
  for (Node &node : getFunction().getNodes())
    if (hasExtents(node))
      nodes.push_back(&node);
  const Module &module = getFunction().getModule();
  size_t numRequired = module.getRequirements().size();
  for (Node *node : nodes) {
    std::string name = (node->getKindName() + " '" + node->getName()).str();
    llvm::Error error = lower(*node);
    // All requirements of a module are made before it is lowered.
    if (!error && module.getRequirements().size() != numRequired)
      error = makeError("lowering requires '{0}' to be '{1}'",
                        module.getRequirements().back().a.str(),
                        module.getRequirements().back().b.str());
    if (error)
      return addContext(std::move(error), name + "': ");
  }
  return !nodes.empty();
}

llvm::Expected<bool> glowish::lowerExtents(Function &function,
                                           const GraphPassContext &) {
  return ExtentLowering(function).run();
}
