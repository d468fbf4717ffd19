//===- Node.cpp - Nodes, values and uses ----------------------------------===//

#include "glowish/Graph/Node.h"
#include "glowish/Graph/Evaluator.h"
#include "glowish/Graph/Module.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;

//===- Uses
//-----------------------------------------------------------------===//

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
    ++it; // set() relinks the use
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

//===- Nodes
//----------------------------------------------------------------===//

Node::Node(NodeDraft draft, llvm::StringRef name, TypeList types)
    : kind(draft.kind), name(name), numOperands(draft.operands.size()),
      operands(new Use[draft.operands.size() + 1]),
      attrs(std::move(draft.attrs)), types(std::move(types)) {
  for (unsigned i = 0; i <= numOperands; ++i)
    operands[i].user = this;
  for (unsigned i = 0; i < numOperands; ++i)
    operands[i].set(draft.operands[i]);
}

Node::~Node() { assert(!firstUse && "a node was deleted that is in use"); }

llvm::SmallVector<NodeValue, 4> Node::getOperands() const {
  llvm::SmallVector<NodeValue, 4> values;
  for (unsigned i = 0; i < numOperands; ++i)
    values.push_back(operands[i].get());
  return values;
}

std::string Node::getOperandName(unsigned index) const {
  if (index == numOperands)
    return "predicate";
  const OpInfo &info = getInfo();
  const OperandInfo &operand = info.getOperandInfo(index);
  if (!operand.isVariadic)
    return operand.name.str();
  return llvm::formatv("{0}[{1}]", operand.name,
                       index + 1 - info.operands.size());
}

bool Node::isEquivalent(const Node &other) const {
  if (kind != other.kind || numOperands != other.numOperands ||
      !areIdentical(attrs, other.attrs) || types != other.types)
    return false;
  for (unsigned i = 0; i <= numOperands; ++i)
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
  // Programs are made smaller by passes of their own, not run.
  if (node.getNumResults() == 0 || node.hasSideEffects() ||
      node.getInfo().hasBodies())
    return false;
  for (NodeValue value : node.getOperands())
    if (value && !llvm::isa<Constant>(value.node))
      return false;
  return true;
}
