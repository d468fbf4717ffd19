//===- Node.cpp - Nodes, values and uses ----------------------------------===//

#include "glowish/Graph/Node.h"
#include "glowish/Graph/Evaluator.h"
#include "glowish/Graph/Module.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Ops/Predicate.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;

//===- Uses ---------------------------------------------------------------===//

void Use::set(NodeValue newValue) {
  if (value.node) {
    *link = next;
    if (next)
      next->link = link;
  }
  value = newValue;
  next = nullptr;
  link = nullptr;
  if (!value.node)
    return;
  assert(value.result < value.node->getNumResults() && "no such result");
  next = value.node->firstUse;
  link = &value.node->firstUse;
  if (next)
    next->link = &next;
  value.node->firstUse = this;
}

unsigned Use::getOperandIndex() const { return this - user->operands.get(); }

void NodeValue::replaceAllUsesWith(NodeValue other) const {
  assert(other.getType() == getType() && "users were checked for this type");
  if (other == *this)
    return;
  for (UseIterator it = node->uses().begin(), end(nullptr); it != end;) {
    Use &use = *it;
    ++it; // set() unlinks the use
    if (use.get() == *this)
      use.set(other);
  }
}

bool NodeValue::hasUses(unsigned count) const {
  unsigned found = 0;
  for (const Use &use : node->uses())
    if (use.get() == *this && ++found > count)
      return false;
  return found == count;
}

//===- Nodes --------------------------------------------------------------===//

Node::Node(NodeDraft draft, llvm::StringRef name, TypeList types)
    : kind(draft.kind), name(name), numOperands(draft.operands.size()),
      operands(new Use[draft.operands.size() + 1]),
      attrs(std::move(draft.attrs)), types(std::move(types)) {
  for (unsigned i = 0; i < numOperands; ++i) {
    operands[i].user = this;
    operands[i].set(draft.operands[i]);
  }
  operands[numOperands].user = this;
  setPredicate(draft.predicate);
}

Node::~Node() { assert(!firstUse && "a node was deleted that is in use"); }

llvm::SmallVector<NodeValue, 4> Node::getOperands() const {
  llvm::SmallVector<NodeValue, 4> values;
  for (unsigned i = 0; i < numOperands; ++i)
    values.push_back(operands[i].get());
  return values;
}

llvm::SmallVector<NodeValue, 4> Node::getReads() const {
  llvm::SmallVector<NodeValue, 4> values = getOperands();
  if (NodeValue predicate = getPredicate())
    values.push_back(predicate);
  return values;
}

std::string Node::getOperandName(unsigned index) const {
  if (index == numOperands)
    return getPredicateInfo().name.str();
  const OpInfo &info = getInfo();
  const OperandInfo &operand = info.getOperandInfo(index);
  if (!operand.isVariadic)
    return operand.name.str();
  return llvm::formatv("{0}[{1}]", operand.name,
                       index + 1 - info.operands.size());
}

bool Node::isEquivalent(const Node &other) const {
  if (kind != other.kind || numOperands != other.numOperands ||
      getPredicate() != other.getPredicate() ||
      !areIdentical(attrs, other.attrs) || types != other.types)
    return false;
  for (unsigned i = 0; i < numOperands; ++i)
    if (operands[i].get() != other.operands[i].get())
      return false;
  return true;
}

llvm::hash_code Node::getHash() const {
  llvm::hash_code hash = llvm::hash_combine(unsigned(kind), numOperands);
  for (unsigned i = 0; i <= numOperands; ++i) {
    NodeValue value = operands[i].get();
    hash = llvm::hash_combine(hash, value.node, value.result);
  }
  for (const AttrValue &attr : attrs)
    hash = llvm::hash_combine(hash, hash_value(attr));
  return hash;
}

NodeDraft Node::getDraft() const { return {kind, getOperands(), attrs}; }

bool glowish::hasConstantOperands(const Node &node) {
  // Nodes with bodies are simplified by passes of their own.
  if (node.getNumResults() == 0 || node.hasSideEffects() ||
      node.getInfo().hasBodies() || node.getInfo().has(OpTrait::CallsFunction))
    return false;
  for (NodeValue value : node.getOperands())
    if (value && !llvm::isa<Constant>(value.node))
      return false;
  return true;
}

ScalarStep glowish::makeScalarStep(const Node &node) {
  std::optional<ScalarOp> op = node.getInfo().scalarOp;
  assert(op && "an element-wise node");
  ScalarStep step;
  step.op = *op;
  step.kind = node.getType().getKind();
  for (const AttrValue &attr : node.getAttrs())
    if (const double *param = std::get_if<double>(&attr))
      step.params.push_back(*param);
  if (getScalarOpInfo(*op).tableSize)
    llvm::append_range(step.params,
                       std::get<std::vector<int64_t>>(
                           node.getAttrs()[node.getInfo().findAttr("table")]));
  return step;
}

//===- Functions of the record --------------------------------------------===//

NodeTypes::NodeTypes(const OpInfo &info, llvm::ArrayRef<NodeValue> operands,
                     llvm::ArrayRef<AttrValue> attrs)
    : info(info), attrs(attrs) {
  for (NodeValue value : operands)
    inputs.push_back(value ? &value.getType() : nullptr);
}

bool glowish::isExact(const Node &node) {
  if (auto *isExact = node.getInfo().isExact)
    return isExact(NodeTypes(node).getView());
  // Comparisons, logic and integer arithmetic.
  return isElementWise(node) && !isFloatKind(node.getType().getKind());
}

static bool hasInstr(const OpInfo &info, const NodeTypes &types) {
  return info.isInstrFor && info.isInstrFor(types.getView());
}
bool glowish::hasInstr(const Node &node) {
  return ::hasInstr(node.getInfo(), NodeTypes(node));
}
bool glowish::hasInstr(const NodeDraft &draft) {
  return ::hasInstr(getNodeInfo(draft.kind), NodeTypes(draft));
}

bool glowish::isIRGenerated(const Node &node) {
  auto *isIRGenerated = node.getInfo().isIRGenerated;
  return isIRGenerated && isIRGenerated(NodeTypes(node).getView());
}

std::optional<OperandAxes> glowish::followAxis(const Node &node, unsigned dim) {
  auto *followAxis = node.getInfo().followAxis;
  if (!followAxis)
    return std::nullopt;
  return followAxis(NodeTypes(node).getView(), node.getType(), dim);
}

bool glowish::isDead(const Node &node) {
  auto *declared = llvm::dyn_cast<DeclareExtentsNode>(&node);
  return !node.hasUses() && !node.hasSideEffects() &&
         !(declared && !declared->getCounts().empty());
}

std::vector<OperandFiller> glowish::findFillers(const Node &node) {
  std::vector<OperandFiller> found;
  auto *findFiller = node.getInfo().findFiller;
  if (!findFiller || llvm::none_of(node.getOperands(), [](NodeValue value) {
        return value && value.getType().hasExtents();
      }))
    return found;
  NodeTypes types(node);
  for (unsigned i = 0; i < node.getNumOperands(); ++i) {
    NodeValue value = node.getOperand(i);
    for (unsigned d = 0; value && d < value.getShape().size(); ++d) {
      const Extent *extent = value.getType().getExtent(d);
      std::optional<Filler> filler =
          extent ? findFiller(types.getView(), i, d) : std::nullopt;
      if (!filler)
        continue;
      filler->isBounded &= node.getParent()->canBound(*extent);
      found.push_back({i, d, *filler});
    }
  }
  return found;
}
