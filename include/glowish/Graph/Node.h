//===- Node.h - Nodes, values and uses ------------------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_NODE_H
#define GLOWISH_GRAPH_NODE_H

#include "glowish/Ops/OpInfo.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/ilist.h"
#include "llvm/ADT/ilist_node.h"
#include "llvm/ADT/iterator.h"
#include "llvm/ADT/iterator_range.h"
#include "llvm/Support/Casting.h"
#include <memory>

namespace glowish {

class Function;
class Module;
class Node;
class Use;

/// Storage first, then the nodes of Nodes.td.
enum class NodeKind : uint16_t {
  Placeholder,
  Constant,
#define NODE(NAME) NAME,
#define GET_NODE_LIST
#include "glowish/Graph/NodeKinds.inc"
};

/// The record of a node kind; Placeholder and Constant have one without
/// operands and attributes.
const OpInfo &getNodeInfo(NodeKind kind);
/// The kind whose record is called \p name; storage is not found.
std::optional<NodeKind> findNodeKind(llvm::StringRef name);
/// The records of all node kinds, in the order of NodeKind, storage first.
llvm::ArrayRef<OpInfo> getNodeTable();

/// One result of one node. A value: compares by identity. Null where an
/// optional operand is absent.
struct NodeValue {
  Node *node = nullptr;
  unsigned result = 0;

  NodeValue() = default;
  NodeValue(Node *node, unsigned result = 0) : node(node), result(result) {}

  explicit operator bool() const { return node; }
  bool operator==(const NodeValue &other) const = default;

  inline const Type &getType() const;
  DimsRef getShape() const { return getType().getShape(); }
  ElemKind getElemKind() const { return getType().getKind(); }

  /// Makes all users of this value use \p other, which has the same type.
  void replaceAllUsesWith(NodeValue other) const;
  /// Whether it has exactly \p count uses. Walks no more of them: a constant
  /// may have very many.
  bool hasUses(unsigned count) const;
  bool hasOneUse() const { return hasUses(1); }

  /// The node as a \p T, or null.
  template <typename T> T *getNodeAs() const {
    return llvm::dyn_cast_or_null<T>(node);
  }
};

/// An operand slot: a value, linked into the list of uses of its node.
class Use {
public:
  Use() = default;
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;
  ~Use() { set(NodeValue()); }

  NodeValue get() const { return value; }
  void set(NodeValue newValue);
  /// The node that has this operand.
  Node *getUser() const { return user; }
  /// The operand's position; the number of operands for the predicate.
  unsigned getOperandIndex() const;
  Use *getNext() const { return next; }

private:
  friend class Node;
  NodeValue value;
  Node *user = nullptr;
  Use *next = nullptr;
  Use **link = nullptr; // what points to this use
};

/// Walks the uses of all results of a node.
class UseIterator
    : public llvm::iterator_facade_base<UseIterator, std::forward_iterator_tag,
                                        Use> {
public:
  explicit UseIterator(Use *use) : use(use) {}
  Use &operator*() const { return *use; }
  bool operator==(const UseIterator &other) const { return use == other.use; }
  UseIterator &operator++() {
    use = use->getNext();
    return *this;
  }

private:
  Use *use;
};

/// What it takes to make a node. The generated classes build drafts from
/// named arguments.
struct NodeDraft {
  NodeKind kind;
  llvm::SmallVector<NodeValue, 4> operands;
  std::vector<AttrValue> attrs;
};

/// A node of the graph: a kind, operands, attributes, typed results. The
/// subclasses that glowish-tblgen generates (ConvolutionNode...) add named
/// accessors and no data. The number of operands is fixed; their values
/// change with setOperand. A node is owned by a Function, a storage node by a
/// Module.
class Node : public llvm::ilist_node<Node> {
public:
  Node(const Node &) = delete;
  virtual ~Node();

  NodeKind getKind() const { return kind; }
  const OpInfo &getInfo() const { return getNodeInfo(kind); }
  /// The operator's name: "Convolution".
  llvm::StringRef getKindName() const { return getInfo().name; }
  /// Unique in the module.
  llvm::StringRef getName() const { return name; }
  /// Null for storage.
  Function *getParent() const { return parent; }

  unsigned getNumOperands() const { return numOperands; }
  NodeValue getOperand(unsigned index) const {
    assert(index < numOperands);
    return operands[index].get();
  }
  void setOperand(unsigned index, NodeValue value) {
    assert(index < numOperands);
    operands[index].set(value);
  }
  llvm::SmallVector<NodeValue, 4> getOperands() const;
  /// "filter", "inputs[2]".
  std::string getOperandName(unsigned index) const;

  /// A hint: a bool tensor; where it is false nobody looks at the result, and
  /// an implementation may leave it undefined.
  bool hasPredicate() const { return bool(getPredicate()); }
  NodeValue getPredicate() const { return operands[numOperands].get(); }
  void setPredicate(NodeValue value) { operands[numOperands].set(value); }

  unsigned getNumResults() const { return types.size(); }
  const Type &getType(unsigned result = 0) const { return types[result]; }
  llvm::ArrayRef<Type> getTypes() const { return types; }
  NodeValue getResult(unsigned result = 0) {
    assert(result < types.size());
    return NodeValue(this, result);
  }

  llvm::ArrayRef<AttrValue> getAttrs() const { return attrs; }
  template <typename T> const T &getAttr(unsigned index) const {
    return std::get<T>(attrs[index]);
  }
  void setAttr(unsigned index, AttrValue value) {
    attrs[index] = std::move(value);
  }

  bool hasUses() const { return firstUse; }
  llvm::iterator_range<UseIterator> uses() const {
    return {UseIterator(firstUse), UseIterator(nullptr)};
  }

  /// Whether it is more than its results: a Save.
  bool hasSideEffects() const { return kind == NodeKind::Save; }

  /// Kind, operands, predicate and attributes are the same.
  bool isEquivalent(const Node &other) const;
  /// Agrees with isEquivalent.
  llvm::hash_code getHash() const;

  NodeDraft getDraft() const;

protected:
  /// \p types: of the results, as the kind's type rule infers them.
  Node(NodeDraft draft, llvm::StringRef name, TypeList types);

private:
  friend class Function;
  friend class Module;
  friend class Use;

  const NodeKind kind;
  std::string name;
  Function *parent = nullptr;
  const unsigned numOperands;
  std::unique_ptr<Use[]> operands; // the predicate is the last
  std::vector<AttrValue> attrs;
  TypeList types;
  Use *firstUse = nullptr;
};

const Type &NodeValue::getType() const { return node->getType(result); }

} // namespace glowish

namespace llvm {
template <> struct DenseMapInfo<glowish::NodeValue> {
  static glowish::NodeValue getEmptyKey() {
    return {DenseMapInfo<glowish::Node *>::getEmptyKey(), 0};
  }
  static glowish::NodeValue getTombstoneKey() {
    return {DenseMapInfo<glowish::Node *>::getTombstoneKey(), 0};
  }
  static unsigned getHashValue(const glowish::NodeValue &value) {
    return hash_combine(value.node, value.result);
  }
  static bool isEqual(const glowish::NodeValue &a,
                      const glowish::NodeValue &b) {
    return a == b;
  }
};
} // namespace llvm

#endif // GLOWISH_GRAPH_NODE_H
