//===- Module.h - Modules, functions and storage --------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_MODULE_H
#define GLOWISH_GRAPH_MODULE_H

#include "glowish/Base/Tensor.h"
#include "glowish/Graph/Node.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <list>

namespace glowish {

/// Storage that the application fills or reads: inputs, outputs and state. Or a
/// parameter or result of a body, which is no input or output of the model.
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
  /// The body that it belongs to; null for storage of the application.
  const Function *getOwner() const { return owner; }

  /// Where the extents of this output are known only when the model runs: the
  /// output that gets them, int64<rank>. The type of this one has the largest
  /// extents, by which its elements lie; those outside the actual extents are
  /// zero. Else null.
  Placeholder *getExtents() const { return extents; }
  void setExtents(Placeholder *placeholder) { extents = placeholder; }

private:
  friend class Function;
  friend class Module;
  Placeholder(llvm::StringRef name, const Type &type, std::string modelName,
              bool input, bool output);
  std::string modelName;
  bool input;
  bool output;
  const Function *owner = nullptr;
  Placeholder *extents = nullptr;
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

class FunctionBody;

/// Nodes in an order in which every operand is defined before its users. A
/// function of the module, or a body of a node: a body reads its parameters
/// and the module's constants, and saves to each of its results.
class Function {
public:
  Function(const Function &) = delete;
  ~Function();

  /// Whether it is a node's body.
  bool isBody() const { return body; }
  using PlaceholderList = std::vector<std::unique_ptr<Placeholder>>;
  const PlaceholderList &getParameters() const { return parameters; }
  const PlaceholderList &getResults() const { return results; }
  Placeholder *addParameter(llvm::StringRef name, const Type &type);
  /// Adds a result, to which \p value is saved.
  Placeholder *addResult(llvm::StringRef name, NodeValue value);
  /// Adds a result, to which nothing is saved yet.
  Placeholder *addResult(llvm::StringRef name, const Type &type);
  /// Deletes parameter \p index, which has no uses.
  void eraseParameter(unsigned index);
  /// What a body saves to result \p index.
  NodeValue getResultValue(unsigned index) const;

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
    return llvm::cast<T>(create(name, T::draft(std::forward<Args>(args)...)));
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
  /// constants are shared, bodies are copied.
  Function *clone(llvm::StringRef newName);
  /// A copy of this body.
  std::shared_ptr<FunctionBody> cloneBody() const;
  /// Copies the nodes of this body, with \p arguments for its parameters, to
  /// the end or insertion point of \p target, which is of the same module.
  /// Returns the values of its results there.
  llvm::SmallVector<NodeValue, 4>
  inlineInto(Function &target, llvm::ArrayRef<NodeValue> arguments) const;

private:
  friend class FunctionBody;
  friend class Module;
  Function(Module &module, llvm::StringRef name) : module(module), name(name) {}
  Placeholder *addStorage(PlaceholderList &list, llvm::StringRef name,
                          const Type &type);
  void copyNodes(Function &target, llvm::DenseMap<NodeValue, NodeValue> &copies,
                 bool withSaves) const;
  Module &module;
  std::string name;
  bool body = false;
  PlaceholderList parameters, results;
  NodeList nodes;
  Node *insertionPoint = nullptr;
};

/// The body of a node.
class FunctionBody final : public Body {
public:
  /// A body without parameters, results and nodes.
  static std::shared_ptr<FunctionBody> create(Module &module,
                                              llvm::StringRef name);
  Function &getFunction() { return function; }
  const Function &getFunction() const { return function; }
  TypeList getParameterTypes() const override;
  TypeList getResultTypes() const override;

private:
  FunctionBody(Module &module, llvm::StringRef name) : function(module, name) {
    function.body = true;
  }
  Function function;
};

/// The function of a body of a node.
inline Function &getFunction(const std::shared_ptr<Body> &body) {
  return static_cast<FunctionBody &>(*body).getFunction();
}
/// The bodies of \p node, in the order of its attributes.
llvm::SmallVector<Function *, 2> getBodies(const Node &node);
/// The bodies of all nodes of \p function, without those inside them. What a
/// pass runs on before it runs on \p function.
std::vector<Function *> getNested(Function &function);

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
