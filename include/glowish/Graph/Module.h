//===- Module.h - Modules, functions and storage --------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_MODULE_H
#define GLOWISH_GRAPH_MODULE_H

#include "glowish/Base/Tensor.h"
#include "glowish/Graph/Node.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <list>

namespace glowish {

/// Storage that the application fills or reads: inputs, outputs and state.
class Placeholder final : public Node {
public:
  static bool classof(const Node *node) {
    return node->getKind() == NodeKind::Placeholder;
  }
  /// The name in the model, which the application knows it by.
  llvm::StringRef getModelName() const { return modelName; }
  /// Declared as an input of the model (it keeps its place in the model's
  /// order), whether or not a node reads it.
  bool isInput() const { return input; }
  /// Declared as an output of the model.
  bool isOutput() const { return output; }

private:
  friend class Module;
  Placeholder(llvm::StringRef name, const Type &type, std::string modelName,
              bool input, bool output);
  std::string modelName;
  bool input;
  bool output;
};

/// A tensor known at compile time. Payloads are immutable and may be shared
/// between modules and the IR.
class Constant final : public Node {
public:
  static bool classof(const Node *node) {
    return node->getKind() == NodeKind::Constant;
  }
  const Tensor &getTensor() const { return *payload; }
  std::shared_ptr<const Tensor> getPayload() const { return payload; }

private:
  friend class Module;
  Constant(llvm::StringRef name, std::shared_ptr<const Tensor> payload);
  std::shared_ptr<const Tensor> payload;
};

/// Nodes in an order in which every operand is defined before its users.
class Function {
public:
  Function(const Function &) = delete;
  ~Function();

  llvm::StringRef getName() const { return name; }
  Module &getModule() const { return module; }

  using NodeList = llvm::ilist<Node>;
  NodeList &getNodes() { return nodes; }
  const NodeList &getNodes() const { return nodes; }

  /// Makes a node, at the end or before the insertion point; its name is
  /// \p name made unique. An error of the type rule names the operand:
  /// "Convolution 'conv1': operand 'filter' ...".
  llvm::Expected<Node *> tryCreate(llvm::StringRef name, NodeDraft draft);
  /// The same where an error would be a bug of the caller's.
  Node *create(llvm::StringRef name, NodeDraft draft);

  /// Typed forms: `create<ConvolutionNode>("conv1", input, filter, ...)`, the
  /// arguments being those of ConvolutionNode::draft.
  template <typename T, typename... Args>
  T *create(llvm::StringRef name, Args &&...args) {
    return llvm::cast<T>(
        create(name, T::draft(std::forward<Args>(args)...)));
  }
  template <typename T, typename... Args>
  llvm::Expected<T *> tryCreate(llvm::StringRef name, Args &&...args) {
    llvm::Expected<Node *> node =
        tryCreate(name, T::draft(std::forward<Args>(args)...));
    if (!node)
      return node.takeError();
    return llvm::cast<T>(*node);
  }

  /// New nodes go before \p node; null for the end.
  void setInsertionPoint(Node *node) { insertionPoint = node; }

  /// Deletes \p node, which has no uses.
  void erase(Node *node);
  /// Moves \p node before \p before (null: to the end).
  void moveBefore(Node *node, Node *before);
  /// Restores the order 'operands first', keeping the present order where it
  /// is one. Linear in nodes and uses.
  void sortTopologically();

  /// A copy in the same module, under another name; placeholders and
  /// constants are shared.
  Function *clone(llvm::StringRef newName);

private:
  friend class Module;
  Function(Module &module, llvm::StringRef name) : module(module), name(name) {}
  Module &module;
  std::string name;
  NodeList nodes;
  Node *insertionPoint = nullptr;
};

/// Inserts before a node while it lives.
class InsertionGuard {
public:
  InsertionGuard(Function &function, Node *before) : function(function) {
    function.setInsertionPoint(before);
  }
  ~InsertionGuard() { function.setInsertionPoint(nullptr); }

private:
  Function &function;
};

/// Functions, and the placeholders and constants that they share.
class Module {
public:
  explicit Module(llvm::StringRef name = "module") : name(name) {}
  Module(const Module &) = delete;
  ~Module();

  llvm::StringRef getName() const { return name; }

  Function *createFunction(llvm::StringRef name);
  Function *findFunction(llvm::StringRef name) const;
  std::list<std::unique_ptr<Function>> &getFunctions() { return functions; }
  const std::list<std::unique_ptr<Function>> &getFunctions() const {
    return functions;
  }
  void eraseFunction(Function *function);

  /// In the order of the model's declarations. The node's name is \p name, or
  /// the model's where that is empty, made unique.
  Placeholder *createPlaceholder(llvm::StringRef modelName, const Type &type,
                                 bool isInput, bool isOutput,
                                 llvm::StringRef name = "");
  Constant *createConstant(llvm::StringRef name, Tensor tensor);
  Constant *createConstant(llvm::StringRef name,
                           std::shared_ptr<const Tensor> payload);

  const std::list<std::unique_ptr<Placeholder>> &getPlaceholders() const {
    return placeholders;
  }
  llvm::iplist<Node> &getConstants() { return constants; }
  const llvm::iplist<Node> &getConstants() const { return constants; }
  Placeholder *findPlaceholder(llvm::StringRef modelName) const;
  /// Deletes \p constant, which has no uses.
  void eraseConstant(Constant *constant);

  /// \p base, or \p base with a number where that is taken, and takes it.
  std::string takeUniqueName(llvm::StringRef base);
  void releaseName(llvm::StringRef name) { names.erase(name); }

private:
  std::string name;
  // Functions use storage, so they are destroyed first.
  std::list<std::unique_ptr<Placeholder>> placeholders;
  llvm::iplist<Node> constants;
  std::list<std::unique_ptr<Function>> functions;
  llvm::StringSet<> names;
  llvm::StringMap<unsigned> nextSuffix;
};

} // namespace glowish

#endif // GLOWISH_GRAPH_MODULE_H
