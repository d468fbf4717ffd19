//===- GraphScope.h - Names and nodes of an ONNX graph ----------*- C++ -*-===//
//
// A model's graph, or a subgraph in an attribute of a node, which can use names
// of the enclosing graphs. A subgraph is imported into the function of the
// enclosing graph, or into a body, where values from outside become captures.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_GRAPHSCOPE_H
#define GLOWISH_LIB_IMPORTER_ONNX_GRAPHSCOPE_H

#include "Common/ExtentFinder.h"
#include "Common/OpenBody.h"
#include "ONNX/OpContext.h"
#include "ONNX/Strings.h"
#include "llvm/ADT/StringSet.h"

namespace glowish::onnximport {

class DeclaredTypes;

/// State shared by all graphs of a model during import.
struct ImportState {
  const ImportOptions &options;
  /// Upper bounds of the lengths of dimensions.
  ExtentFinder::Bounds bounds{};
  /// Number of uses of each node's values that have not been imported yet.
  llvm::DenseMap<const Node *, unsigned> pendingUses{};
  /// Weights of subgraphs, which may be imported several times.
  llvm::DenseMap<const onnx::TensorProto *, std::shared_ptr<const Tensor>>
      innerWeights{};
  /// The model's declared types; null if warnings are neither printed nor
  /// errors.
  const DeclaredTypes *declared = nullptr;
  /// Operators and attributes that a warning has been printed for.
  llvm::StringSet<> warned{};
  /// The values whose entry of options.maxExtents was asked for.
  llvm::StringSet<> boundValues{};
  /// The names of classes that a value of this name numbers.
  llvm::StringMap<std::vector<std::string>> classNames{};
  StringNumbers strings{};
  /// Total number of elements of all sequences.
  size_t numSequenceElements = 0;
  SubgraphBudget subgraphBudget{};
  /// Nesting depth of Gradient nodes being imported.
  unsigned gradientDepth = 0;
};

class GraphScope {
public:
  /// The graph of the model.
  GraphScope(const onnx::GraphProto &graph, GraphContext context,
             ImportState &state);
  /// A subgraph that is inlined into the function of \p outer.
  GraphScope(const onnx::GraphProto &graph, GraphScope &outer);
  virtual ~GraphScope();
  GraphScope(const GraphScope &) = delete;

  GraphContext &getContext() { return context; }
  ImportState &getState() { return state; }
  const onnx::GraphProto &getGraph() const { return graph; }
  bool isDefined(llvm::StringRef name) const { return values.count(name); }
  /// Returns a name for a placeholder that the model doesn't have: \p name,
  /// with \p suffix as often as it takes until no input, no output and no value
  /// that is used has that name.
  std::string makePlaceholderName(llvm::StringRef name,
                                  llvm::StringRef suffix) const;

  /// Defines \p name, which must not be defined in this graph.
  llvm::Error define(llvm::StringRef name, NodeValue value);
  /// Returns the value of \p name in this graph or an enclosing one, or null.
  /// Its type has its extents.
  NodeValue lookup(llvm::StringRef name);
  /// Defines \p name as the strings of \p proto.
  llvm::Error defineStrings(llvm::StringRef name,
                            const onnx::TensorProto &proto);
  /// Whether \p name, in this graph or an enclosing one, is strings, of which
  /// the value has the numbers.
  bool hasStrings(llvm::StringRef name) const;
  /// Like define() and lookup(), for a sequence or an optional.
  llvm::Error defineSequence(llvm::StringRef name, Sequence sequence);
  const Sequence *lookupSequence(llvm::StringRef name);
  /// Returns the node that computes \p name in this graph or an enclosing one,
  /// or null. Valid while nodes are imported.
  const onnx::NodeProto *findProducer(llvm::StringRef name) const;
  /// Imports all nodes in topological order.
  llvm::Error importNodes();
  /// Imports a subgraph with \p inputs and returns its outputs.
  llvm::Expected<std::vector<GraphValue>>
  importValues(llvm::ArrayRef<GraphValue> inputs);
  /// Like importValues(), where the outputs must be static; they may be
  /// sequences.
  llvm::Expected<std::vector<GraphValue>>
  importStaticValues(llvm::ArrayRef<GraphValue> inputs);
  /// Like importStaticValues(), for tensors only.
  llvm::Expected<std::vector<NodeValue>>
  importInner(llvm::ArrayRef<NodeValue> inputs);
  /// Returns the extent of dimension 0 that the graph declares for value
  /// \p name.
  std::optional<int64_t> getStatedExtent(llvm::StringRef name) const;
  /// Reports a warning about \p proto.
  llvm::Error warn(const onnx::NodeProto &proto, llvm::StringRef line) const;

protected:
  GraphScope(const onnx::GraphProto &graph, GraphScope &outer,
             GraphContext context);
  /// Converts \p value of the enclosing graph to a value of this graph.
  virtual NodeValue enter(NodeValue value) { return value; }
  GraphScope *getOuter() const { return outer; }

private:
  void countUses();
  void release(llvm::StringRef name);
  llvm::Expected<std::vector<const onnx::NodeProto *>> sortNodes();
  llvm::Expected<std::vector<NodeValue>>
  findInputs(const onnx::NodeProto &proto);
  llvm::Error importNode(const onnx::NodeProto &proto);
  llvm::Error setOutputs(const onnx::NodeProto &proto, OpContext &op);
  llvm::Error warnOfUnknownAttrs(const onnx::NodeProto &proto,
                                 const OpContext &op);
  llvm::Error warnOfDeclaredType(const onnx::NodeProto &proto,
                                 llvm::StringRef name, NodeValue value);
  llvm::Error importInnerWeights();
  llvm::Error checkOutputExtents();

  const onnx::GraphProto &graph;
  GraphScope *outer = nullptr;
  ImportState &state;
  GraphContext context;
  llvm::StringMap<NodeValue> values;
  llvm::StringMap<Sequence> sequences;
  /// The names of values that are strings.
  llvm::StringSet<> strings;
  llvm::StringMap<int> producers;
};

/// A subgraph that becomes the body of a node.
class BodyScope : public GraphScope {
public:
  BodyScope(const onnx::GraphProto &graph, GraphScope &outer,
            llvm::StringRef name);

  OpenBody &getBody() { return body; }
  Function &getFunction() { return body.getFunction(); }
  /// Returns \p value as a value of the body. Its extents are symbols that a
  /// node of the body declares.
  NodeValue enter(NodeValue value) override;

private:
  BodyScope(const onnx::GraphProto &graph, GraphScope &outer, OpenBody body);

  NodeValue enterExtent(NodeValue extent);

  OpenBody body;
  /// Values with extents, by those of the enclosing graph.
  llvm::DenseMap<NodeValue, NodeValue> entered;
};

/// Returns a description such as "node 'conv1' (Conv)".
std::string describe(const onnx::NodeProto &proto);

/// Returns one error that lists all nodes of \p graph and its subgraphs that
/// cannot be imported.
llvm::Error checkOperators(const onnx::GraphProto &graph,
                           const NodeOpsets &opsets,
                           const ImportOptions &options);

/// Returns the subgraphs in the attributes of \p proto.
llvm::SmallVector<const onnx::GraphProto *, 2>
getGraphs(const onnx::NodeProto &proto);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_GRAPHSCOPE_H
