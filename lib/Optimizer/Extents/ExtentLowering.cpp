//===- ExtentLowering.cpp - Nodes without extents -------------------------===//

#include "Extents/ExtentLowering.h"
#include "Extents/Repack.h"
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

const Type &ExtentLowering::getType(NodeValue value) const {
  auto found = types.find(value);
  return found == types.end() ? value.getType() : found->second;
}

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
  value = reshape(value, type.getShape());
  if (value)
    types[value] = type;
  return value;
}

//===- Nodes --------------------------------------------------------------===//

static bool hasExtents(const Node &node) {
  auto isOpen = [](const Type &type) { return type.hasExtents(); };
  return llvm::any_of(node.getTypes(), isOpen) ||
         llvm::any_of(node.getOperands(), [](NodeValue value) {
           return value && value.getType().hasExtents();
         });
}

void ExtentLowering::strip(Node &node) {
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    if (node.getType(i).hasExtents())
      types[node.getResult(i)] = node.getType(i);
  getFunction().dropExtents(node);
}

/// Inputs keep their types: nodes read views of them.
void ExtentLowering::lowerInputs() {
  for (const auto &placeholder : getFunction().getModule().getPlaceholders()) {
    const Type &type = placeholder->getType();
    if (!type.hasExtents())
      continue;
    std::vector<Use *> reads;
    for (Use &use : placeholder->uses()) {
      Node &user = *use.getUser();
      bool isRead = user.getParent() == &getFunction() &&
                    !(llvm::isa<SaveNode>(user) &&
                      use.getOperandIndex() == SaveNode::outputIdx);
      if (isRead)
        reads.push_back(&use);
    }
    if (reads.empty())
      continue;
    InsertionGuard guard(getFunction(), &getFunction().getNodes().front());
    setName(placeholder->getName());
    NodeValue view = declareExtents(placeholder.get(), type.withoutExtents());
    types[view] = type;
    for (Use *use : reads)
      use->set(view);
  }
}

llvm::Error ExtentLowering::fillOperands(Node &node) {
  NodeTypes bounds(node);
  for (unsigned i = 0; i < node.getNumOperands(); ++i) {
    NodeValue value = node.getOperand(i);
    // The dimensions that each filler is for.
    std::map<double, std::vector<int64_t>> dims;
    for (unsigned d = 0; value && d < value.getShape().size(); ++d) {
      if (!isOpen(value, d))
        continue;
      if (!node.getInfo().findFiller)
        return makeError("operand '{0}' is {1}; accepted: extents that no run "
                         "decides",
                         node.getOperandName(i), getType(value).str());
      if (auto filler = node.getInfo().findFiller(bounds.getView(), i, d))
        dims[*filler].push_back(d);
    }
    for (const auto &[filler, own] : dims)
      value = fillOutside(value, own, filler);
    GLOWISH_RETURN_IF_ERROR(takeError());
    node.setOperand(i, value);
  }
  return llvm::Error::success();
}

llvm::Error ExtentLowering::lower(Node &node) {
  InsertionGuard guard(getFunction(), &node);
  setName(node.getName());
  NodeValue replacement;
  switch (node.getKind()) {
#define EXTENT_LOWERING(NAME)                                                  \
  case NodeKind::NAME:                                                         \
    replacement = lowerExtentsOf##NAME(llvm::cast<NAME##Node>(node), *this);   \
    break;
#define GET_EXTENT_LOWERING_LIST
#include "glowish/Graph/NodeFunctions.inc"
  default:
    GLOWISH_RETURN_IF_ERROR(fillOperands(node));
  }
  GLOWISH_RETURN_IF_ERROR(takeError());
  strip(node);
  if (!replacement)
    return llvm::Error::success();
  if (getType(node.getResult()).hasExtents())
    types[replacement] = Type(types[node.getResult()]);
  else
    types.erase(replacement);
  node.getResult().replaceAllUsesWith(replacement);
  types.erase(node.getResult());
  getFunction().erase(&node);
  return llvm::Error::success();
}

/// Views were there to have extents of their own. Those of inputs, whose types
/// keep theirs, stay.
void ExtentLowering::removeViews() {
  for (Node &node : llvm::make_early_inc_range(getFunction().getNodes())) {
    auto *view = llvm::dyn_cast<DeclareExtentsNode>(&node);
    if (!view || view->getInput().getType().hasExtents())
      continue;
    view->getResult().replaceAllUsesWith(view->getInput());
    getFunction().erase(view);
  }
}

llvm::Expected<bool> ExtentLowering::run() {
  if (llvm::none_of(getFunction().getNodes(), hasExtents))
    return false;
  // All types are read before one is changed.
  std::vector<Node *> nodes;
  for (Node &node : getFunction().getNodes())
    if (hasExtents(node))
      nodes.push_back(&node);
  lowerInputs();
  for (Node *node : nodes)
    if (llvm::Error error = lower(*node))
      return addContext(
          std::move(error),
          (node->getKindName() + " '" + node->getName() + "': ").str());
  removeViews();
  return true;
}

llvm::Expected<bool> glowish::lowerExtents(Function &function,
                                           const GraphPassContext &) {
  GLOWISH_RETURN_IF_ERROR(unpackRows(function).takeError());
  GLOWISH_RETURN_IF_ERROR(orderRows(function).takeError());
  return ExtentLowering(function).run();
}
