//===- Module.h - Modules, functions and storage ----------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_MODULE_H
#define GLOWISH_GRAPH_MODULE_H

#include "glowish/Base/InputExtents.h"
#include "glowish/Base/SharedTensors.h"
#include "glowish/Base/Tensor.h"
#include "glowish/Graph/Node.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <list>

namespace glowish {

/// Storage that the application reads or writes (inputs, outputs and state), or
/// a parameter or result of a body.
class Placeholder final : public Node {
public:
  static bool classof(const Node *node) {
    return node->getKind() == NodeKind::Placeholder;
  }
  /// The name in the model, by which the application refers to it.
  llvm::StringRef getModelName() const { return modelName; }
  /// Whether the model declares it as an input, even if no node reads it.
  bool isInput() const { return input; }
  /// Whether the model declares it as an output.
  bool isOutput() const { return output; }
  /// The body that it is a parameter or result of; null for storage of the
  /// application.
  const Function *getOwner() const { return owner; }

  /// If the extents of this output depend on data, the output that receives
  /// them (int64<rank>), else null. The type of this output then has the
  /// maximum extents, which determine its strides; elements beyond the actual
  /// extents are unspecified.
  Placeholder *getExtents() const { return extents; }
  void setExtents(Placeholder *placeholder) { extents = placeholder; }

  /// Returns the range of the symbol that it states, the extents of its type,
  /// and those that a run leaves in it.
  InputExtents getInputExtents() const;
  /// The symbol that it states in each run, if it does.
  const std::optional<SymbolRange> &getRange() const { return range; }
  /// Returns the names of the classes that its integers number from 0 on; none
  /// where they number none.
  llvm::ArrayRef<std::string> getClassNames() const { return classNames; }
  void setClassNames(std::vector<std::string> names) {
    classNames = std::move(names);
  }
  /// Sets InputExtents::next.
  void setNextExtents(ExtentList extents) { nextExtents = std::move(extents); }

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
  std::optional<SymbolRange> range;
  std::vector<ExtentRequirement> required;
  ExtentList nextExtents;
  std::vector<std::string> classNames;
};

/// A tensor known at compile time. Payloads are immutable and may be shared
/// between modules and with the IR.
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

class ExtentTrial;
class FunctionBody;

/// A topologically sorted list of nodes: every definition precedes its uses. A
/// function of the module, or a body of a node; a body reads its parameters and
/// the module's constants and saves to each of its results.
class Function {
public:
  Function(const Function &) = delete;
  ~Function();

  /// Whether it is the body of a node.
  bool isBody() const { return body; }
  using PlaceholderList = std::vector<std::unique_ptr<Placeholder>>;
  const PlaceholderList &getParameters() const { return parameters; }
  const PlaceholderList &getResults() const { return results; }
  Placeholder *addParameter(llvm::StringRef name, const Type &type);
  /// Adds a result and a Save of \p value to it.
  Placeholder *addResult(llvm::StringRef name, NodeValue value);
  /// Adds a result without a Save.
  Placeholder *addResult(llvm::StringRef name, const Type &type);
  /// Deletes parameter \p index, which must have no uses.
  void eraseParameter(unsigned index);
  /// Deletes result \p index, and the Save of a value to it.
  void eraseResult(unsigned index);
  /// Returns the value that a body saves to result \p index.
  NodeValue getResultValue(unsigned index) const;

  llvm::StringRef getName() const { return name; }
  Module &getModule() const { return module; }

  using NodeList = llvm::ilist<Node>;
  NodeList &getNodes() { return nodes; }
  const NodeList &getNodes() const { return nodes; }

  /// Creates a node at the insertion point. \p name is made unique. Errors of
  /// the type rule name the operand: "Convolution 'conv1': operand 'filter'
  /// ...".
  llvm::Expected<Node *> tryCreate(llvm::StringRef name, NodeDraft draft);
  /// Like tryCreate(), for drafts that are known to be valid: an error is
  /// fatal.
  Node *create(llvm::StringRef name, NodeDraft draft);

  /// Typed forms: `create<ConvolutionNode>("conv1", input, filter, ...)` takes
  /// the arguments of ConvolutionNode::draft.
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

  /// New nodes are inserted before \p node; null means at the end.
  void setInsertionPoint(Node *node) { insertionPoint = node; }

  /// Deletes \p node, which must have no uses.
  void erase(Node *node);
  /// Moves \p node before \p before, or to the end if that is null.
  void moveBefore(Node *node, Node *before);
  /// Sorts the nodes topologically; the order is kept if it is valid already.
  /// Linear in nodes and uses.
  void sortTopologically();

  /// Whether loops can be bounded by \p extent: whether this is no body, and
  /// inputs state all of its symbols.
  bool canBound(const Extent &extent) const;

  /// Drops the predicates of all nodes, bodies included, so that all rows of
  /// their results are computed.
  void dropPredicates();

  /// Returns a copy named \p newName in the same module. Placeholders and
  /// constants are shared; bodies are copied.
  Function *clone(llvm::StringRef newName);
  /// Returns a copy of this body.
  std::shared_ptr<FunctionBody> cloneBody() const;
  /// Copies the nodes of this body to the insertion point of \p target, a
  /// function of the same module, with \p arguments in place of the parameters.
  /// Returns the values of the results.
  llvm::SmallVector<NodeValue, 4>
  inlineInto(Function &target, llvm::ArrayRef<NodeValue> arguments) const;

private:
  friend class ExtentTrial;
  friend class FunctionBody;
  friend class Module;
  Function(Module &module, llvm::StringRef name);
  llvm::Expected<TypeList> inferDraft(const NodeDraft &draft);
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
  ExtentTrial *trial = nullptr;
};

/// A scope in which nodes are created that may have to be erased again: those
/// that hold for the bounds of their operands need not hold for the extents
/// that runs decide. Function::create() makes nodes of the bounds where the
/// extents do not allow them, and requires nothing anew.
class ExtentTrial {
public:
  explicit ExtentTrial(Function &function) : function(function) {
    function.trial = this;
  }
  ~ExtentTrial() { function.trial = nullptr; }
  ExtentTrial(const ExtentTrial &) = delete;

  /// Whether the extents allow all nodes that were created.
  bool holds() const { return isAllowed; }

private:
  friend class Function;
  Function &function;
  bool isAllowed = true;
};

/// The body of a node, as an attribute.
class FunctionBody final : public Body {
public:
  /// Returns a body without parameters, results and nodes.
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

/// Returns the function that \p body wraps.
inline Function &getFunction(const std::shared_ptr<Body> &body) {
  return static_cast<FunctionBody &>(*body).getFunction();
}
/// Returns the bodies of \p node, in the order of its attributes.
llvm::SmallVector<Function *, 2> getBodies(const Node &node);
/// Returns the bodies of the nodes of \p function, without nested ones.
/// runPipeline() uses it to run passes on bodies first.
std::vector<Function *> getNested(Function &function);

/// Sets the insertion point of a function for a scope, and resets it to the
/// end.
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
  explicit Module(llvm::StringRef name = "module");
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

  /// Appends a placeholder; they are listed in the order of the model's
  /// declarations. The node is named \p name, or \p modelName if that is empty,
  /// made unique.
  Placeholder *createPlaceholder(llvm::StringRef modelName, const Type &type,
                                 bool isInput, bool isOutput,
                                 llvm::StringRef name = "");
  /// Changes the element kind of \p placeholder. Types of nodes that read it or
  /// save to it are the caller's business.
  void setElemKind(Placeholder &placeholder, ElemKind kind);
  /// Makes \p placeholder, an input int64<>, state a symbol in each run.
  void stateSymbol(Placeholder &placeholder, SymbolRange range);
  /// Adds a symbol that a node computes, or makes its range smaller.
  void declareSymbol(llvm::StringRef symbol, IntRange range);
  /// Returns the ranges of the symbols in the types of this module.
  const SymbolRanges &getSymbols() const { return symbols; }
  /// Adds what is not there yet. Each run checks those of symbols that inputs
  /// state.
  void addRequirements(llvm::ArrayRef<ExtentRequirement> required);
  /// Returns the extents that are taken to be the same.
  llvm::ArrayRef<ExtentRequirement> getRequirements() const {
    return requirements;
  }
  /// Makes an output of the input \p placeholder, too, with the extents
  /// \p shape. Nodes that read it are the caller's business.
  void makeState(Placeholder &placeholder, DimsRef shape);
  Constant *createConstant(llvm::StringRef name, Tensor tensor);
  /// Constants that are created from now on share payloads with those of other
  /// modules of \p tensors.
  void setSharedTensors(std::shared_ptr<SharedTensors> tensors) {
    sharedTensors = std::move(tensors);
  }
  Constant *createConstant(llvm::StringRef name,
                           std::shared_ptr<const Tensor> payload);

  const std::list<std::unique_ptr<Placeholder>> &getPlaceholders() const {
    return placeholders;
  }
  llvm::iplist<Node> &getConstants() { return constants; }
  const llvm::iplist<Node> &getConstants() const { return constants; }
  Placeholder *findPlaceholder(llvm::StringRef modelName) const;
  /// Returns the input that states \p symbol; null if none does.
  Placeholder *findStated(llvm::StringRef symbol) const;
  /// Whether inputs state all symbols of \p extent.
  bool isStated(const Extent &extent) const;
  /// Deletes \p placeholder, which must have no uses and not be the extents of
  /// one that stays.
  void erasePlaceholder(Placeholder *placeholder);
  /// Deletes \p constant, which must have no uses.
  void eraseConstant(Constant *constant);

  /// Reserves and returns \p base, with a number appended if it is in use.
  std::string takeUniqueName(llvm::StringRef base);
  void releaseName(llvm::StringRef name) { names.erase(name); }

private:
  std::string name;
  // Functions use placeholders and constants and are destroyed first.
  std::list<std::unique_ptr<Placeholder>> placeholders;
  llvm::iplist<Node> constants;
  std::list<std::unique_ptr<Function>> functions;
  llvm::StringSet<> names;
  llvm::StringMap<unsigned> nextSuffix;
  SymbolRanges symbols;
  std::vector<ExtentRequirement> requirements;
  /// Null where no other module has the same constants.
  std::shared_ptr<SharedTensors> sharedTensors;
};

} // namespace glowish

#endif // GLOWISH_GRAPH_MODULE_H
