//===- Node.h - Nodes, values and uses --------------------------*- C++ -*-===//

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

/// Placeholder and Constant (storage) first, then the nodes of Nodes.td.
enum class NodeKind : uint16_t {
  Placeholder,
  Constant,
#define NODE(NAME) NAME,
#define GET_NODE_LIST
#include "glowish/Graph/NodeKinds.inc"
};

/// Returns the record of \p kind. Those of Placeholder and Constant have no
/// operands and attributes.
const OpInfo &getNodeInfo(NodeKind kind);
/// Returns the kind whose record is called \p name; never a storage kind.
std::optional<NodeKind> findNodeKind(llvm::StringRef name);
/// Returns the records of all node kinds in the order of NodeKind.
llvm::ArrayRef<OpInfo> getNodeTable();

/// A result of a node, compared by identity. Null for an absent optional
/// operand.
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

  /// Replaces this value by \p other, which has the same type, in all its
  /// users.
  void replaceAllUsesWith(NodeValue other) const;
  /// Whether it has exactly \p count uses. Stops counting beyond that, as a
  /// constant may have very many.
  bool hasUses(unsigned count) const;
  bool hasOneUse() const { return hasUses(1); }

  /// Returns the node as a \p T, or null if it is of another kind.
  template <typename T> T *getNodeAs() const {
    return llvm::dyn_cast_or_null<T>(node);
  }
};

/// An operand of a node: a value, linked into the use list of the node that
/// defines it.
class Use {
public:
  Use() = default;
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;
  ~Use() { set(NodeValue()); }

  NodeValue get() const { return value; }
  void set(NodeValue newValue);
  /// Returns the node whose operand this is.
  Node *getUser() const { return user; }
  /// Returns the position of the operand; of a predicate, the number of
  /// operands.
  unsigned getOperandIndex() const;
  Use *getNext() const { return next; }

private:
  friend class Node;
  NodeValue value;
  Node *user = nullptr;
  Use *next = nullptr;
  Use **link = nullptr; // the pointer that points to this use
};

/// Iterates over the uses of all results of a node.
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

/// Kind, operands and attributes of a node to create. The generated classes
/// make drafts from named arguments.
struct NodeDraft {
  NodeKind kind;
  llvm::SmallVector<NodeValue, 4> operands;
  std::vector<AttrValue> attrs;
  NodeValue predicate = {};
};

/// A node of the graph: a kind, operands, attributes and typed results. The
/// subclasses that glowish-tblgen generates (ConvolutionNode...) add named
/// accessors and no data. The number of operands is fixed; setOperand() changes
/// their values. Nodes are owned by a Function, storage nodes by a Module.
class Node : public llvm::ilist_node<Node> {
public:
  Node(const Node &) = delete;
  virtual ~Node();

  NodeKind getKind() const { return kind; }
  const OpInfo &getInfo() const { return getNodeInfo(kind); }
  /// Returns the name of the operator: "Convolution".
  llvm::StringRef getKindName() const { return getInfo().name; }
  /// Unique in the module.
  llvm::StringRef getName() const { return name; }
  /// The function that the node is in; null for storage.
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
  /// Returns the value that states which rows of the results are needed
  /// (Ops/Predicate.h); null where all are. It is not among the operands.
  NodeValue getPredicate() const { return operands[numOperands].get(); }
  /// Sets or, with null, drops the predicate. checkPredicate() must hold.
  void setPredicate(NodeValue value) { operands[numOperands].set(value); }
  /// Returns the values that the node reads: its operands and its predicate.
  llvm::SmallVector<NodeValue, 4> getReads() const;
  /// Returns the name of an operand: "filter", "inputs[2]".
  std::string getOperandName(unsigned index) const;

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

  /// Whether it has an effect beyond computing its results: only Save has.
  bool hasSideEffects() const { return getInfo().has(OpTrait::HasSideEffects); }

  /// Whether kind, operands, predicate, attributes and types are equal.
  bool isEquivalent(const Node &other) const;
  /// Equal for nodes that are isEquivalent().
  llvm::hash_code getHash() const;

  /// Returns a draft of the node without its predicate, which may not be that
  /// of a changed node.
  NodeDraft getDraft() const;

protected:
  /// \p types are those of the results, as inferred by the type rule.
  Node(NodeDraft draft, llvm::StringRef name, TypeList types);

private:
  friend class Function;
  friend class Module;
  friend class Use;

  const NodeKind kind;
  std::string name;
  Function *parent = nullptr;
  const unsigned numOperands;
  std::unique_ptr<Use[]> operands; // and the predicate
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
