//===- Verifier.cpp - Invariants of the graph -----------------------------===//

#include "glowish/Graph/Verifier.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Ops/ExtentRules.h"
#include "glowish/Ops/Predicate.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/DenseSet.h"

using namespace glowish;

static std::string describe(const Node &node) {
  return (node.getKindName() + " '" + node.getName() + "'").str();
}

/// Checks the structure against the record, and the types against the type
/// rule.
static llvm::Error verifyTypes(const Node &node, const Module &module) {
  const OpInfo &info = node.getInfo();
  llvm::SmallVector<bool, 4> present;
  for (NodeValue value : node.getOperands())
    present.push_back(bool(value));
  GLOWISH_RETURN_IF_ERROR(checkStructure(info, present, node.getAttrs()));
  std::vector<ExtentRequirement> requirements;
  GLOWISH_ASSIGN_OR_RETURN(
      TypeList types,
      inferTypes(NodeTypes(node).getView(), module.getSymbols(), requirements));
  for (const ExtentRequirement &required : requirements)
    if (!llvm::is_contained(module.getRequirements(), required))
      return makeError(
          "needs {0} and {1} to be the same, which the module does "
          "not require",
          required.a.str(), required.b.str());
  if (types.size() != node.getNumResults())
    return makeError("has {0} results, not {1}", node.getNumResults(),
                     types.size());
  for (unsigned i = 0; i < types.size(); ++i)
    if (types[i] != node.getType(i))
      return makeError("result {0} is {1}; its operands make it {2}", i,
                       node.getType(i).str(), types[i].str());
  NodeValue predicate = node.getPredicate();
  return predicate ? checkPredicate(info, predicate.getType(), types)
                   : llvm::Error::success();
}

/// Checks that a placeholder is visible: a body may use only its own
/// parameters, and its results only as targets of Save.
static llvm::Error verifyStorage(const Node &node, unsigned index,
                                 NodeValue value, const Function &function) {
  auto *storage = value.getNodeAs<Placeholder>();
  if (!storage)
    return llvm::Error::success();
  const Function *owner = function.isBody() ? &function : nullptr;
  if (storage->getOwner() != owner)
    return makeError("operand '{0}' is the placeholder '{1}' of another "
                     "function",
                     node.getOperandName(index), storage->getName());
  auto isResult = [&](const auto &result) { return result.get() == storage; };
  bool isTarget = node.getKind() == NodeKind::Save && index == 1;
  if (owner && llvm::any_of(function.getResults(), isResult) != isTarget)
    return makeError("operand '{0}' is the {1} '{2}' of the body",
                     node.getOperandName(index),
                     isTarget ? "parameter" : "result", storage->getName());
  return llvm::Error::success();
}

/// Checks that operands are storage of this module or results of earlier nodes.
static llvm::Error verifyOrder(const Node &node, const Function &function,
                               const llvm::DenseSet<const Node *> &defined) {
  for (auto [i, value] : llvm::enumerate(node.getReads())) {
    GLOWISH_RETURN_IF_ERROR(verifyStorage(node, i, value, function));
    if (!value || llvm::isa<Placeholder, Constant>(value.node))
      continue;
    if (value.node->getParent() != &function)
      return makeError("operand '{0}' is a node of another function",
                       node.getOperandName(i));
    if (!defined.count(value.node))
      return makeError("operand '{0}' uses '{1}', which comes later",
                       node.getOperandName(i), value.node->getName());
  }
  return llvm::Error::success();
}

llvm::Error glowish::verify(const Function &function) {
  llvm::DenseSet<const Node *> defined, saved;
  for (const Node &node : function.getNodes()) {
    auto inNode = [&](llvm::Error error) {
      return addContext(std::move(error), describe(node) + ": ");
    };
    GLOWISH_RETURN_IF_ERROR(inNode(verifyOrder(node, function, defined)));
    GLOWISH_RETURN_IF_ERROR(inNode(verifyTypes(node, function.getModule())));
    defined.insert(&node);
    for (const Function *body : getBodies(node))
      GLOWISH_RETURN_IF_ERROR(inNode(verify(*body)));
    if (node.getKind() != NodeKind::Save)
      continue;
    const Node *target = node.getOperand(1).node;
    if (!llvm::isa<Placeholder>(target))
      return inNode(makeError("operand 'output' is no placeholder"));
    if (!saved.insert(target).second)
      return inNode(
          makeError("placeholder '{0}' is saved to twice", target->getName()));
  }
  for (const auto &result : function.getResults())
    if (!saved.count(result.get()))
      return makeError("nothing is saved to the result '{0}' of the body",
                       result->getName());
  return llvm::Error::success();
}

/// The extents of an output are themselves an output of type int64<rank>.
static llvm::Error verifyExtents(const Placeholder &placeholder) {
  const Placeholder *extents = placeholder.getExtents();
  Type type(ElemKind::Int64, {int64_t(placeholder.getType().getRank())});
  if (!extents || (extents->getType() == type && extents->isOutput() &&
                   placeholder.isOutput()))
    return llvm::Error::success();
  return makeError("{0}: its extents '{1}' are {2}; accepted: an output {3} of "
                   "an output",
                   describe(placeholder), extents->getName(),
                   extents->getType().str(), type.str());
}

namespace {

/// Checks that names are unique.
class NameVerifier {
public:
  llvm::Error visit(const Node &node) {
    if (!names.insert(node.getName()).second)
      return makeError("{0}: the name is taken twice", describe(node));
    for (const Function *body : getBodies(node))
      GLOWISH_RETURN_IF_ERROR(visit(*body));
    return llvm::Error::success();
  }
  llvm::Error visit(const Function &function) {
    for (const auto *list : {&function.getParameters(), &function.getResults()})
      for (const auto &placeholder : *list)
        GLOWISH_RETURN_IF_ERROR(visit(*placeholder));
    for (const Node &node : function.getNodes())
      GLOWISH_RETURN_IF_ERROR(visit(node));
    return llvm::Error::success();
  }

private:
  llvm::StringSet<> names;
};

} // namespace

llvm::Error glowish::verify(const Module &module) {
  NameVerifier names;
  std::vector<PlaceholderExtents> extents;
  for (const auto &placeholder : module.getPlaceholders()) {
    GLOWISH_RETURN_IF_ERROR(names.visit(*placeholder));
    GLOWISH_RETURN_IF_ERROR(verifyExtents(*placeholder));
    extents.push_back({placeholder->getName(), placeholder->getType(),
                       placeholder->isInput(), placeholder->isOutput(),
                       placeholder->getInputExtents()});
  }
  GLOWISH_RETURN_IF_ERROR(verifyInputExtents(extents));
  for (const Node &constant : module.getConstants())
    GLOWISH_RETURN_IF_ERROR(names.visit(constant));
  for (const auto &function : module.getFunctions()) {
    GLOWISH_RETURN_IF_ERROR(names.visit(*function));
    GLOWISH_RETURN_IF_ERROR(verify(*function));
  }
  return llvm::Error::success();
}
