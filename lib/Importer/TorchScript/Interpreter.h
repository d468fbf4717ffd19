//===- Interpreter.h - Execution of programs during import ------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_INTERPRETER_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_INTERPRETER_H

#include "TorchScript/Memory.h"
#include "glowish/Importer/ImportOptions.h"
#include <set>

namespace glowish::torchscript {

using ScriptValues = std::vector<ScriptValue>;

/// A tensor attribute, or another one that the archive states, of which a
/// program may make states.
struct ScriptAttribute {
  std::string name;
  std::shared_ptr<ScriptStorage> storage;
  /// Its elements before the program ran.
  NodeValue before;
};

/// What an attribute is before the program runs.
struct ScriptInitial {
  /// The elements of a tensor; null for others.
  NodeValue tensor = {};
  ScriptValue other = {};
};
/// Those that are something else than what the archive states, by their names.
using ScriptAttributes = std::map<std::string, ScriptInitial, std::less<>>;

/// Executes a program once, in a function that it makes nodes in.
class ScriptInterpreter {
public:
  /// \p scope: the function to make nodes in.
  ScriptInterpreter(const torchscript::Program &program, ScriptScope scope,
                    const ImportOptions &options, FoldingBudget &budget,
                    const ScriptAttributes &attributes);

  const torchscript::Program &program;
  const ImportOptions &options;
  /// Those of the attributes at first.
  const ScriptAttributes &attributes;
  /// Whether a part of the program is not to be differentiated.
  bool stopsGradients = false;
  /// Lists that an iteration appends to, of which nothing else may be asked: it
  /// is imported once for all iterations.
  std::set<const ScriptList *> growingLists;
  /// Pairs of attributes that may share memory since an earlier run.
  std::set<std::pair<std::string, std::string>> sharing;
  /// Passes a warning on.
  std::function<llvm::Error(llvm::StringRef)> report;
  aten::AtenContext aten;
  ScriptJournal journal;
  TensorMemory memory;
  ScriptScope mainScope;
  SubgraphBudget budget;

  Function &getFunction() const { return memory.scope->function; }

  //===- Execution ----------------------------------------------------------//

  ScriptValue get(size_t value) const { return values[value]; }
  void set(size_t value, ScriptValue own) { values[value] = std::move(own); }
  /// Returns "node 'layer1.conv1' (aten::conv2d, model.py:17)".
  std::string describe(const torchscript::ProgramNode &node) const;
  /// Executes the nodes of \p block, whose inputs are set.
  llvm::Error run(const torchscript::ProgramBlock &block);
  /// The outputs of \p block, which was executed.
  ScriptValues getOutputs(const torchscript::ProgramBlock &block) const;
  /// Executes \p node, with \p inputs in the place of its own.
  llvm::Expected<ScriptValues> call(const torchscript::ProgramNode &node,
                                    llvm::ArrayRef<ScriptValue> inputs);
  /// Returns whether \p node is an operator on tensors of which one is complex.
  bool isOnComplex(const torchscript::ProgramNode &node,
                   llvm::ArrayRef<ScriptValue> inputs) const;
  /// Executes such an operator.
  llvm::Expected<ScriptValues> callComplex(const torchscript::ProgramNode &node,
                                           llvm::ArrayRef<ScriptValue> inputs);
  /// Returns whether \p node is an operator on tensors, the first one
  /// quantized.
  bool isOnQuantized(const torchscript::ProgramNode &node,
                     llvm::ArrayRef<ScriptValue> inputs) const;
  /// Executes such an operator.
  llvm::Expected<ScriptValues>
  callQuantized(const torchscript::ProgramNode &node,
                llvm::ArrayRef<ScriptValue> inputs);
  /// Executes an operator of the table, or an external one.
  llvm::Expected<ScriptValues> callAten(const torchscript::ProgramNode &node,
                                        llvm::ArrayRef<ScriptValue> inputs);
  /// Executes an operator that changes arguments.
  llvm::Expected<ScriptValues> callWriting(const torchscript::ProgramNode &node,
                                           llvm::ArrayRef<ScriptValue> inputs);
  /// Executes an operator of the table whose results are new tensors or views.
  llvm::Expected<ScriptValues>
  callReturning(const torchscript::ProgramNode &node,
                llvm::ArrayRef<ScriptValue> inputs);

  //===- Making values ------------------------------------------------------//

  /// One in row-major order.
  ScriptValue makeTensor(NodeValue value) { return memory.createDense(value); }
  ScriptValue makeList(ScriptValues elements, bool isTuple = false,
                       std::vector<std::string> names = {});
  ScriptValue makeDict(std::vector<ScriptDict::Entry> entries);
  /// Makes a complex tensor of its parts.
  ScriptValue makeComplex(ScriptTensorRef real, ScriptTensorRef imaginary);
  /// Makes a quantized tensor, with scales for dimension \p axis if there is
  /// one.
  ScriptValue makeQuantized(ScriptTensorRef values, ScriptTensorRef scale,
                            ScriptTensorRef zeroPoint,
                            std::optional<int64_t> axis);
  /// Makes a list, a tuple or a dictionary like \p like with \p elements.
  ScriptValue makeContainer(const ScriptValue &like, ScriptValues elements);
  /// Forbids changes of \p container, which, if it can be changed, may be the
  /// same as another one, which data decides: changes are refused from then on.
  void forbidChanges(const ScriptValue &container);
  /// A number that the graph computes, or, of a constant, what it is.
  ScriptValue makeNumber(NodeValue value);
  ScriptValue makeConstant(const torchscript::ProgramConstant &constant);
  /// The object at \p index of the program.
  std::shared_ptr<ScriptObject> getObject(size_t index);
  llvm::Expected<ScriptValue> getAttribute(ScriptObject &object,
                                           llvm::StringRef name);
  /// Reads the attribute \p name, of an object that it states the path of, or
  /// an element of it, as if the program did.
  llvm::Error loadAttribute(llvm::StringRef name);
  /// All tensors of the archive that were read, in that order.
  llvm::ArrayRef<ScriptAttribute> getTensors() const { return tensors; }
  /// All objects of the archive that were used.
  const std::map<size_t, std::shared_ptr<ScriptObject>> &getObjects() const {
    return objects;
  }

  //===- Conversion ---------------------------------------------------------//

  /// \p value as an argument of type \p type.
  llvm::Expected<aten::AtenValue> convert(const ScriptValue &value,
                                          const aten::AtenType &type);
  /// A result of an operator, of type \p type, whose tensors have \p layout.
  llvm::Expected<ScriptValue> convert(const aten::AtenValue &value,
                                      const torchscript::ProgramType &type,
                                      const ScriptLayout &layout);
  /// A number as a scalar of the graph.
  NodeValue makeScalar(const ScriptValue &number);

  /// What a constant of code, tensor \p index of the program, is named as a
  /// state, which attributes have names for.
  static std::string getConstantName(size_t index);

private:
  llvm::Error run(const torchscript::ProgramNode &node);
  llvm::Expected<ScriptValues> call(const torchscript::ProgramNode &node);
  llvm::Error checkGrowing(const torchscript::ProgramNode &node) const;
  llvm::Error checkBody(const torchscript::ProgramNode &node,
                        const ScriptValues &outputs) const;
  ScriptTensorRef addStored(NodeValue value, const std::string &name,
                            DimsRef strides);
  ScriptTensorRef addGiven(const std::string &name,
                           const torchscript::ProgramTensor *archived);
  std::string findGivenName(const torchscript::ProgramTensor &tensor,
                            const std::string &name);
  /// \p name: that of the attribute, empty for a constant of code.
  ScriptValue makeStoredTensor(size_t index, llvm::StringRef name);
  ScriptValue makeStoredTensor(const torchscript::ProgramTensor &tensor,
                               const std::string &name);
  ScriptValue makeStoredComplex(const torchscript::ProgramTensor &tensor,
                                const std::string &name);

  std::vector<ScriptValue> values;
  std::map<size_t, std::shared_ptr<ScriptObject>> objects;
  /// The address of a tensor's elements, and extents, strides and kind, as
  /// attributes may be the same tensor.
  using MemoryKey = std::pair<const void *, std::vector<int64_t>>;
  static MemoryKey getMemoryKey(const torchscript::ProgramTensor &tensor);
  std::map<MemoryKey, ScriptTensorRef> stored;
  /// Those that `attributes` has, by their names.
  std::map<std::string, ScriptTensorRef> given;
  /// The names of attributes, by their memory; filled on first use.
  std::map<MemoryKey, std::vector<std::string>> names;
  std::vector<ScriptAttribute> tensors;
  int64_t numRun = 0;
};

/// Returns a number, a string or None that the archive states; none of others.
std::optional<ScriptValue>
readPlainConstant(const torchscript::ProgramConstant &constant);

//===- Operators that are no operators of the table -----------------------===//

/// An operator on values that the importer knows: lists, objects, extents.
struct ScriptCall {
  ScriptInterpreter &in;
  const torchscript::ProgramNode &node;
  ScriptValues inputs;
  ScriptValues outputs = {};

  /// What the program says of output \p index.
  const torchscript::ProgramType &getType(unsigned index = 0) const {
    return in.program.values[node.outputs[index]].type;
  }
  /// The only result.
  bool done(ScriptValue value) {
    outputs.push_back(std::move(value));
    return true;
  }
  llvm::Expected<int64_t> getInt(unsigned index) const;
  /// An error that states what input \p index is and what is \p accepted.
  llvm::Error refuse(unsigned index, llvm::StringRef accepted) const;
};

/// Executes an operator: whether it is for such inputs. Otherwise it is the
/// table's business.
using ScriptHandler = llvm::Expected<bool> (*)(ScriptCall &call);

/// Executes list[index] with an index that the graph computes: whether the list
/// is one of equal tensors.
llvm::Expected<bool> importComputedElement(ScriptCall &call);

/// Registers a handler, as a static object, for operators of any overload.
class ScriptOperators {
public:
  ScriptOperators(ScriptHandler handler,
                  std::initializer_list<llvm::StringLiteral> kinds);
};

/// That of operators called \p kind ("prim::If"), or null.
ScriptHandler findScriptOperator(llvm::StringRef kind);

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_INTERPRETER_H
