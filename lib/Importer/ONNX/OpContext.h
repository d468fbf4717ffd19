//===- OpContext.h - What the import of one node sees ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPCONTEXT_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPCONTEXT_H

#include "Common/Axes.h"
#include "Common/Folding.h"
#include "ONNX/ExternalData.h"
#include "ONNX/Opsets.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Importer/ONNX.h"
#include "glowish/Support/Error.h"
#include <onnx/onnx_pb.h>

namespace glowish {

class GraphScope;

/// The extents of a value where some are known only when the model runs: one
/// entry a dimension, an int64 scalar, or null where the type has the actual
/// extent. The type has the largest of the others; elements outside are
/// unspecified. Empty where the type says all.
using Extents = llvm::SmallVector<NodeValue, 4>;

/// A sequence, or an optional, of tensors. There is none in the graph: its
/// length and all positions in it must be known when the model is imported.
struct Sequence {
  std::vector<NodeValue> elements;
  /// An optional without a value.
  bool isAbsent = false;
};

/// What the nodes of one graph share while they are imported.
struct GraphContext {
  Function &function;
  const NodeEvaluator &evaluate;
  /// What reads tensors that are not in the model's file.
  ExternalData &external;
  /// The versions of the operators.
  const NodeOpsets &opsets;
  /// How often each value is read by nodes or is an output of the graph.
  llvm::StringMap<unsigned> uses = {};
  FoldingBudget foldingBudget = {};
  /// The graph itself, with its names.
  GraphScope *scope = nullptr;
  /// Of the values, by their names in the model, that have such extents.
  llvm::StringMap<Extents> extents = {};
  /// Initial values of placeholders; null where the model is not trained.
  const VariableValues *variables = nullptr;
};

/// One ONNX node while it becomes nodes of the graph: its attributes, inputs
/// and outputs, and the means to make nodes. All errors of these functions are
/// completed with the node's name and operator by the caller. Attributes and
/// inputs that the importer has not asked for are refused at the end: what is
/// not understood must not be skipped in silence.
class OpContext {
public:
  /// \p inputs: one a name in \p proto, null for an absent one.
  OpContext(const onnx::NodeProto &proto, GraphContext &graph,
            std::vector<NodeValue> inputs);

  llvm::StringRef getOpType() const { return proto.op_type(); }
  /// What tells the node from others: its name, or that of its first output.
  llvm::StringRef getNodeName() const;
  /// The version of ONNX's own operator set that is in force at the node.
  int getOpset() const { return opset; }

  //===- Inputs -------------------------------------------------------------//

  unsigned getNumInputs() const { return inputs.size(); }
  bool hasInput(unsigned index) const {
    return index < inputs.size() && inputs[index];
  }
  llvm::Expected<NodeValue> getInput(unsigned index) const;
  /// Whether input \p index is a sequence or an optional.
  bool hasSequence(unsigned index) const { return findSequence(index); }
  llvm::Expected<const Sequence *> getSequence(unsigned index) const;
  /// Input \p index where it is there, else null.
  NodeValue getOptionalInput(unsigned index) const;
  /// Whether the model is imported to be trained.
  bool isTraining() const { return graph.variables; }
  /// Input \p index, which must be a constant. A variable is taken for the
  /// constant that it is without training.
  llvm::Expected<const Tensor *> getConstant(unsigned index) const;
  /// The same as a list of integers; a scalar is a list of one.
  llvm::Expected<std::vector<int64_t>> getConstantInts(unsigned index) const;
  /// The one element of input \p index, which must be a constant.
  llvm::Expected<double> getConstantNumber(unsigned index) const;
  /// Input \p index has no meaning for the importer.
  void ignoreInput(unsigned index) const {
    if (index < inputs.size())
      inputRead[index] = true;
  }

  /// The same without answering for it.
  NodeValue peekInput(unsigned index) const { return inputs[index]; }
  /// Another value in place of input \p index, which is there.
  void replaceInput(unsigned index, NodeValue value) { inputs[index] = value; }

  //===- Extents that are known only when the model runs --------------------//

  /// Those of input \p index, which the importer answers for from now on:
  /// inputs that have such extents and whose importer does not ask for them
  /// are refused at the end.
  Extents getExtents(unsigned index) const;
  /// Gives output \p index, which has been set, these extents.
  void setExtents(unsigned index, Extents extents);
  /// \p extent is at most \p bound.
  void setBound(NodeValue extent, int64_t bound);
  /// What setBound() said; nothing where it did not.
  std::optional<int64_t> findBound(NodeValue extent) const;
  /// The largest extent of dimension \p dim of output \p index: \p known, if
  /// that is not too large to be meant, and what the options state for the
  /// output. An error that names the option where neither is there.
  llvm::Expected<int64_t> getMaxExtent(unsigned index, unsigned dim,
                                       double known) const;

  //===- Attributes ---------------------------------------------------------//

  const onnx::AttributeProto *findAttr(llvm::StringRef name) const;
  bool hasAttr(llvm::StringRef name) const { return findAttr(name); }
  /// Attributes without a meaning in inference.
  void ignoreAttrs(std::initializer_list<llvm::StringRef> names) const {
    for (llvm::StringRef name : names)
      findAttr(name);
  }
  /// The attribute, or \p defaultValue; an error when it has another type.
  llvm::Expected<int64_t> getInt(llvm::StringRef name,
                                 int64_t defaultValue) const;
  llvm::Expected<double> getFloat(llvm::StringRef name,
                                  double defaultValue) const;
  llvm::Expected<std::string> getString(llvm::StringRef name,
                                        llvm::StringRef defaultValue) const;
  llvm::Expected<std::vector<int64_t>>
  getInts(llvm::StringRef name, llvm::ArrayRef<int64_t> defaultValue) const;
  llvm::Expected<std::vector<double>> getFloats(llvm::StringRef name) const;
  /// The tensor of an attribute, which must be there, dense or sparse.
  llvm::Expected<std::shared_ptr<const Tensor>>
  getTensor(llvm::StringRef name) const;
  llvm::Expected<std::shared_ptr<const Tensor>>
  getSparseTensor(llvm::StringRef name) const;
  /// The graph of an attribute, which must be there.
  llvm::Expected<const onnx::GraphProto *> getGraph(llvm::StringRef name) const;
  /// The graph that the node is in.
  GraphScope &getScope() const { return *graph.scope; }
  /// An attribute of old opsets that became an input of newer ones: input
  /// \p index where it is there, else the attribute, else the default.
  llvm::Expected<std::vector<int64_t>>
  getIntsOrInput(llvm::StringRef name, unsigned index,
                 llvm::ArrayRef<int64_t> defaultValue) const;
  /// The same where one of the two must be there.
  llvm::Expected<std::vector<int64_t>> getRequiredInts(llvm::StringRef name,
                                                       unsigned index) const;
  /// Attribute \p name as a dimension of a tensor of \p rank: negative ones
  /// count from the end.
  llvm::Expected<int64_t> getAxis(llvm::StringRef name, int64_t defaultValue,
                                  unsigned rank) const;

  //===- Making nodes -------------------------------------------------------//

  /// A node named after the output that is being made. Folded at once where
  /// its operands are constants.
  template <typename T, typename... Args>
  llvm::Expected<NodeValue> create(Args &&...args) {
    return createDraft(T::draft(std::forward<Args>(args)...));
  }
  /// A node beside the one that does the work: its name gets \p suffix.
  template <typename T, typename... Args>
  llvm::Expected<NodeValue> createHelper(llvm::StringRef suffix,
                                         Args &&...args) {
    return createDraft(T::draft(std::forward<Args>(args)...), suffix);
  }
  llvm::Expected<NodeValue> createDraft(NodeDraft draft,
                                        llvm::StringRef suffix = "");
  /// The function that nodes go to.
  Function &getFunction() const { return graph.function; }
  /// A node that is not folded and may have several results.
  template <typename T, typename... Args>
  llvm::Expected<T *> createNode(Args &&...args) {
    return graph.function.tryCreate<T>(name, std::forward<Args>(args)...);
  }
  NodeValue createConstant(Tensor tensor);
  NodeValue createConstant(std::shared_ptr<const Tensor> tensor);
  /// Whether the importer may make a constant of \p bytes that is not in the
  /// file; to be asked before memory is taken for it.
  llvm::Error checkBudget(int64_t bytes) {
    return graph.foldingBudget.check(bytes);
  }
  NodeValue createInt64s(llvm::ArrayRef<int64_t> values);
  /// A scalar constant of \p kind.
  NodeValue createScalar(ElemKind kind, double value);

  llvm::Expected<NodeValue> transpose(NodeValue value,
                                      llvm::ArrayRef<int64_t> permutation) {
    return create<TransposeNode>(value, permutation);
  }
  /// \p value under another shape; itself where it has that shape.
  llvm::Expected<NodeValue> reshape(NodeValue value, DimsRef shape,
                                    llvm::StringRef suffix = "");

  //===- Outputs ------------------------------------------------------------//

  unsigned getNumOutputs() const { return proto.output_size(); }
  /// The name of output \p index in the model; may be empty.
  llvm::StringRef getOutputName(unsigned index) const {
    return int(index) < proto.output_size() ? proto.output(index)
                                            : llvm::StringRef();
  }
  /// Whether output \p index has a name and something reads it.
  bool wantsOutput(unsigned index) const;
  /// Nodes are named after output \p index from now on.
  void nameAfterOutput(unsigned index);
  llvm::Error setOutput(unsigned index, llvm::Expected<NodeValue> value);
  llvm::ArrayRef<NodeValue> getOutputs() const { return outputs; }
  /// Output \p index is a sequence or an optional.
  void setSequence(Sequence sequence, unsigned index = 0) {
    outputSequences[index] = std::move(sequence);
  }
  std::map<unsigned, Sequence> &getOutputSequences() { return outputSequences; }

  //===- Before and after the operator's importer ---------------------------//

  /// Attributes that no importer takes: lists of graphs, references to a
  /// function's attributes, two of one name.
  llvm::Error checkAttrs() const;
  /// What the importer has not asked for, but for getUnknownAttrs().
  llvm::Error checkAllRead() const;
  /// Names of attributes that the operator has in no version: misspelt ones.
  std::vector<llvm::StringRef> getUnknownAttrs() const;

private:
  llvm::Error checkExtentsRead() const;
  const Sequence *findSequence(unsigned index) const;
  bool isUnknownAttr(int index) const;

  const onnx::NodeProto &proto;
  GraphContext &graph;
  int opset;
  std::vector<NodeValue> inputs;
  std::vector<NodeValue> outputs;
  std::map<unsigned, Sequence> outputSequences;
  std::string name;
  mutable std::vector<bool> inputRead, extentsRead;
  mutable std::vector<bool> attrRead;
};

/// Imports one node: makes the graph's nodes and sets the outputs.
using OpImporter = llvm::Error (*)(OpContext &op);

/// Registers the importer of an operator: `static OnnxOperator conv("Conv",
/// 1, importConv);` \p since: the first opset that it understands. \p domain:
/// empty for ONNX's own. A static object of the file of the operator's family.
class OnnxOperator {
public:
  OnnxOperator(llvm::StringRef name, int since, OpImporter importer,
               llvm::StringRef domain = "");
};

struct RegisteredOperator {
  int since;
  OpImporter importer;
};
/// The importer of \p name of \p domain; null when there is none.
const RegisteredOperator *findOnnxOperator(llvm::StringRef domain,
                                           llvm::StringRef name);

/// Whether ONNX's schemas are known to tell all attributes that \p name of
/// \p domain had up to the operator set \p opset, and \p attribute is none of
/// them.
bool isUnknownAttribute(llvm::StringRef domain, llvm::StringRef name,
                        llvm::StringRef attribute, int opset);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPCONTEXT_H
