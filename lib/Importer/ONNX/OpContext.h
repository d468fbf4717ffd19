//===- OpContext.h - An ONNX node being imported ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPCONTEXT_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPCONTEXT_H

#include "Common/ExtentFinder.h"
#include "Common/ImportedOp.h"
#include "ONNX/ExternalData.h"
#include "ONNX/Opsets.h"
#include "glowish/Importer/ONNX.h"
#include <functional>
#include <onnx/onnx_pb.h>
#include <tuple>

namespace glowish::onnximport {

class GraphScope;
class FunctionExtents;

/// The lengths of a value's dimensions: int64 scalars that have the values of
/// extents, null for static dimensions.
using Lengths = llvm::SmallVector<NodeValue, 4>;

/// A sequence, or an optional, of tensors. It exists during import only: its
/// length and all positions must be known at compile time.
struct Sequence {
  std::vector<NodeValue> elements;
  /// Whether it is an optional without a value.
  bool isAbsent = false;
};

/// An input or output of a graph during import: a tensor, or a sequence or an
/// optional.
struct GraphValue {
  NodeValue tensor;
  /// Set if tensor is null.
  std::optional<Sequence> sequence = {};
};

/// State shared by the nodes of one graph during import.
struct GraphContext {
  Function &function;
  const NodeEvaluator &evaluate;
  /// Reads external data.
  ExternalData &external;
  /// The opsets of each node.
  const NodeOpsets &opsets;
  /// Number of uses of each value by nodes and as an output of the graph.
  llvm::StringMap<unsigned> uses = {};
  FoldingBudget foldingBudget = {};
  /// The graph, with its names.
  GraphScope *scope = nullptr;
  /// Shared by the graphs that are imported into the function.
  std::shared_ptr<FunctionExtents> extents = {};
  /// Initial values of variables; null unless the model is imported for
  /// training.
  const VariableValues *variables = nullptr;
};

/// An ONNX node that is being imported. Inputs and attributes that the importer
/// has not read are an error at the end: they might change the result.
class OpContext final : public ImportedOp {
public:
  /// \p inputs has one value per name in \p proto, null if absent.
  OpContext(const onnx::NodeProto &proto, GraphContext &graph,
            std::vector<NodeValue> inputs);

  llvm::StringRef getOpType() const { return proto.op_type(); }
  /// Empty for ONNX's own.
  std::string getDomain() const { return normalizeDomain(proto.domain()); }
  /// Returns the node's name, or that of its first output if it has none.
  llvm::StringRef getNodeName() const;
  /// Returns the version of ONNX's own opset in force at the node.
  int getOpset() const { return opset; }

  //===- Inputs -------------------------------------------------------------//

  unsigned getNumInputs() const override { return inputs.size(); }
  bool hasInput(unsigned index) const {
    return index < inputs.size() && inputs[index];
  }
  llvm::Expected<NodeValue> getInput(unsigned index) const;
  /// Whether input \p index is a sequence or an optional.
  bool hasSequence(unsigned index) const { return findSequence(index); }
  llvm::Expected<const Sequence *> getSequence(unsigned index) const;
  NodeValue input(unsigned index) const override;
  /// Marks input \p index as read: it does not affect the result.
  void ignoreInput(unsigned index) const {
    if (index < inputs.size())
      inputRead[index] = true;
  }

  /// Returns input \p index, which may be absent, without marking it as read.
  NodeValue peekInput(unsigned index) const;
  /// Replaces input \p index, which must be present.
  void replaceInput(unsigned index, NodeValue value) { inputs[index] = value; }

  //===- Strings ------------------------------------------------------------//

  /// Whether input \p index is strings, of which it has the numbers.
  bool hasStrings(unsigned index) const;
  /// Returns the numbers of \p texts.
  std::vector<int64_t> numberStrings(llvm::ArrayRef<std::string> texts) const;
  /// Sets output 0 to the strings of \p proto.
  llvm::Error setStrings(const onnx::TensorProto &proto);
  /// Whether the outputs are strings.
  bool givesStrings() const { return areStrings; }
  void setGivesStrings(bool value) { areStrings = value; }

  //===- Extents ------------------------------------------------------------//

  /// From now on gives inputs with the extents in their types, of which the
  /// nodes' extent rules infer those of the outputs. Without this call it is an
  /// error at the end if a run decides an extent of an input.
  void keepExtents() { keepsExtents = true; }
  using NodeBuilder::compute;
  NodeValue compute(const Extent &extent) override;
  /// Returns \p value, which may be null, with the extents \p lengths, int64
  /// scalars, one for each dimension, null for those that stay as they are.
  /// Each that is no expression of symbols becomes the value of a new one. A
  /// constant one becomes the dimension.
  NodeValue declare(NodeValue value, llvm::ArrayRef<NodeValue> lengths);
  /// Returns what finds the extents that numbers of the function are.
  ExtentFinder makeFinder() const;
  /// Returns the extent that \p length, an int64 scalar from 0 to \p bound, is
  /// in each run: a new symbol if no expression is known to be it.
  Extent getExtent(NodeValue length, int64_t bound);
  /// Returns \p value, which may be null, with the extents of \p type.
  NodeValue restate(NodeValue value, const Type &type);
  NodeValue repack(NodeValue value, const Type &type) override;
  NodeValue dropExtents(NodeValue value) override;
  /// Returns the extents of \p value, int64 scalars, null for static
  /// dimensions.
  Lengths getLengths(NodeValue value);
  /// Returns \p value, which may be null, with its first \p size elements along
  /// dimension \p dim, of which the extent is \p extent; none for all of them.
  NodeValue crop(NodeValue value, unsigned dim, int64_t size,
                 std::optional<Extent> extent);
  /// Records \p bound as an upper bound of \p extent.
  void setBound(NodeValue extent, int64_t bound);
  /// Returns the upper bound recorded by setBound(), if any.
  std::optional<int64_t> findBound(NodeValue extent) const;
  /// Returns the upper bound of dimension \p dim of output \p index: the
  /// minimum of \p known, unless that is too large to be an extent, and the one
  /// given in the options. Without either it is an error that names the option.
  llvm::Expected<int64_t> getMaxExtent(unsigned index, unsigned dim,
                                       double known) const;

  //===- Attributes ---------------------------------------------------------//

  const onnx::AttributeProto *findAttr(llvm::StringRef name) const;
  /// Returns all attributes and marks them as read.
  const google::protobuf::RepeatedPtrField<onnx::AttributeProto> &
  getAttrs() const;
  bool hasAttr(llvm::StringRef name) const { return findAttr(name); }
  /// Marks attributes that do not affect inference as read.
  void ignoreAttrs(std::initializer_list<llvm::StringRef> names) const {
    for (llvm::StringRef name : names)
      findAttr(name);
  }
  /// Return the attribute, or \p defaultValue (of lists: none) if it is absent
  /// or has another type, which is an error that is kept.
  int64_t getInt(llvm::StringRef name, int64_t defaultValue) const;
  double getFloat(llvm::StringRef name, double defaultValue) const;
  std::string getString(llvm::StringRef name,
                        llvm::StringRef defaultValue) const;
  std::vector<int64_t> getInts(llvm::StringRef name,
                               llvm::ArrayRef<int64_t> defaultValue) const;
  std::vector<double> getFloats(llvm::StringRef name) const;
  std::vector<std::string> getStrings(llvm::StringRef name) const;
  /// Return the tensor of an attribute, dense or sparse, which must be present.
  llvm::Expected<std::shared_ptr<const Tensor>>
  getTensor(llvm::StringRef name) const;
  llvm::Expected<std::shared_ptr<const Tensor>>
  getSparseTensor(llvm::StringRef name) const;
  /// Returns the graph of an attribute, which must be present.
  llvm::Expected<const onnx::GraphProto *> getGraph(llvm::StringRef name) const;
  /// Returns the scope of the graph that contains the node.
  GraphScope &getScope() const { return *graph.scope; }
  /// Reports a warning about the node.
  llvm::Error warn(llvm::StringRef line) const;
  /// States the \p names of the classes that output \p index numbers.
  void setClassNames(unsigned index, std::vector<std::string> names);
  /// Reads an attribute that became an input in later opsets: input \p index if
  /// present, else the attribute, else the default.
  llvm::Expected<std::vector<int64_t>>
  getIntsOrInput(llvm::StringRef name, unsigned index,
                 llvm::ArrayRef<int64_t> defaultValue) const;
  /// Like getIntsOrInput(), where one of the two must be present.
  llvm::Expected<std::vector<int64_t>> getRequiredInts(llvm::StringRef name,
                                                       unsigned index) const;
  /// Returns attribute \p name as a dimension of a tensor of \p rank; negative
  /// values count from the end.
  llvm::Expected<int64_t> getAxis(llvm::StringRef name, int64_t defaultValue,
                                  unsigned rank) const;

  //===- Creating nodes ---------------------------------------------------===//

  /// Creates a node named after the current output. It is folded if its
  /// operands are constants.
  template <typename T, typename... Args>
  llvm::Expected<NodeValue> create(Args &&...args) {
    return createDraft(T::draft(std::forward<Args>(args)...));
  }
  /// Creates an auxiliary node, whose name gets \p suffix.
  template <typename T, typename... Args>
  llvm::Expected<NodeValue> createHelper(llvm::StringRef suffix,
                                         Args &&...args) {
    return createDraft(T::draft(std::forward<Args>(args)...), suffix);
  }
  llvm::Expected<NodeValue> createDraft(NodeDraft draft,
                                        llvm::StringRef suffix = "") {
    return createNamed((getName() + suffix).str(), std::move(draft));
  }
  /// Creates a node that may have several results and is not folded.
  template <typename T, typename... Args>
  llvm::Expected<T *> createNode(Args &&...args) {
    return getFunction().tryCreate<T>(getName(), std::forward<Args>(args)...);
  }
  using NodeBuilder::reshape;
  /// Reshapes \p value unless it has \p shape already. The name of the node
  /// gets \p suffix.
  llvm::Expected<NodeValue> reshape(NodeValue value, DimsRef shape,
                                    llvm::StringRef suffix);

  //===- Outputs ------------------------------------------------------------//

  unsigned getNumOutputs() const { return proto.output_size(); }
  /// The name of output \p index in the model; may be empty.
  llvm::StringRef getOutputName(unsigned index) const {
    return int(index) < proto.output_size() ? proto.output(index)
                                            : llvm::StringRef();
  }
  /// Whether output \p index has a name and is used.
  bool wantsOutput(unsigned index) const;
  /// Names the nodes created from now on after output \p index.
  void nameAfterOutput(unsigned index);
  llvm::Error setOutput(unsigned index, llvm::Expected<NodeValue> value);
  /// Sets output \p index, or returns the first error that was kept.
  llvm::Error setOutput(unsigned index, NodeValue value) {
    return setOutput(index, finish(value));
  }
  llvm::ArrayRef<NodeValue> getOutputs() const { return outputs; }
  /// Returns input \p index, which may be a sequence or an optional.
  llvm::Expected<GraphValue> getValue(unsigned index) const;
  /// Sets output \p index.
  llvm::Error setValue(unsigned index, GraphValue value);
  /// Sets output \p index to a sequence or an optional.
  void setSequence(Sequence sequence, unsigned index = 0) {
    outputSequences[index] = std::move(sequence);
  }
  std::map<unsigned, Sequence> &getOutputSequences() { return outputSequences; }

  //===- Checks before and after the operator's importer ------------------===//

  /// Checks for attributes that no importer supports: lists of graphs,
  /// references to a function's attributes, and duplicates.
  llvm::Error checkAttrs() const;
  /// Returns an error if an attribute that the importer has read is of another
  /// type.
  llvm::Error checkAttrTypes() const;
  /// Returns an error for unread inputs and attributes other than those of
  /// getUnknownAttrs().
  llvm::Error checkAllRead() const;
  /// Returns the attributes that no version of the operator has, that is,
  /// misspelt ones.
  std::vector<llvm::StringRef> getUnknownAttrs() const;

private:
  /// Returns the attribute, or null if it is absent or not of \p type.
  const onnx::AttributeProto *
  findAttr(llvm::StringRef name,
           onnx::AttributeProto::AttributeType type) const;
  llvm::StringRef getInputName(unsigned index) const override {
    return int(index) < proto.input_size() ? proto.input(index)
                                           : llvm::StringRef();
  }
  std::string describeInput(unsigned index) const override;
  double readNumber(llvm::StringRef name, double defaultValue) override {
    return getFloat(name, defaultValue);
  }
  llvm::Error checkExtents() const;
  const Sequence *findSequence(unsigned index) const;
  bool isUnknownAttr(int index) const;

  const onnx::NodeProto &proto;
  GraphContext &graph;
  int opset;
  std::vector<NodeValue> inputs;
  bool keepsExtents = false;
  bool areStrings = false;
  std::vector<NodeValue> outputs;
  std::map<unsigned, Sequence> outputSequences;
  mutable std::vector<bool> inputRead;
  mutable std::vector<bool> attrRead;
  /// About the first attribute of a type that the importer does not expect.
  mutable std::string wrongAttr;
};

/// Imports one node: creates nodes and sets the outputs.
using OpImporter = std::function<llvm::Error(OpContext &op)>;

/// Returns input \p index as a parameter of an importer; keeps the error if
/// there is no such input.
template <typename T> T readInput(OpContext &op, unsigned index);
template <>
inline NodeValue readInput<NodeValue>(OpContext &op, unsigned index) {
  return op.keep(op.getInput(index));
}

/// Calls \p import with the first inputs, which must be present.
template <typename... Inputs>
llvm::Error importInputs(OpContext &op,
                         llvm::Error (*import)(OpContext &op, Inputs...)) {
  unsigned index = 0;
  std::tuple<Inputs...> inputs{readInput<Inputs>(op, index++)...};
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return std::apply([&](auto... input) { return import(op, input...); },
                    inputs);
}

/// The domain of ONNX Runtime's own operators.
inline constexpr llvm::StringLiteral microsoftDomain = "com.microsoft";
/// ONNX's domain of trees, linear models and their features.
inline constexpr llvm::StringLiteral machineLearningDomain = "ai.onnx.ml";

/// Registers the importer of an operator, as a static object: `static
/// OnnxOperator conv("Conv", 1, importConv);`. \p since is the first supported
/// opset; \p domain is empty for ONNX's own. The importer has a parameter for
/// each of the first inputs that must be present.
class OnnxOperator {
public:
  template <typename... Inputs>
  OnnxOperator(llvm::StringRef name, int since,
               llvm::Error (*importer)(OpContext &op, Inputs...),
               llvm::StringRef domain = "")
      : OnnxOperator(name, since, OpImporter([importer](OpContext &op) {
                       return importInputs(op, importer);
                     }),
                     domain) {}

private:
  OnnxOperator(llvm::StringRef name, int since, OpImporter importer,
               llvm::StringRef domain);
};

struct RegisteredOperator {
  int since;
  OpImporter importer;
};
/// Returns the importer of \p name of \p domain, or of all external operators
/// where \p options declare it as one, or null.
const RegisteredOperator *findOnnxOperator(llvm::StringRef domain,
                                           llvm::StringRef name,
                                           const ImportOptions &options);

/// Whether \p name of \p domain has never had \p attribute up to \p opset
/// according to ONNX's schemas. False if the operator has no schema.
bool isUnknownAttribute(llvm::StringRef domain, llvm::StringRef name,
                        llvm::StringRef attribute, int opset);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPCONTEXT_H
