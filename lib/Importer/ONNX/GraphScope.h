//===- GraphScope.h - The names and nodes of one ONNX graph ----*- C++ -*-===//
//
// A model's graph, or a graph in an attribute of a node: it sees the names of
// the graphs around it. It is imported into their function, or into a body, to
// which it is a capture what it takes from outside.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_GRAPHSCOPE_H
#define GLOWISH_LIB_IMPORTER_ONNX_GRAPHSCOPE_H

#include "ONNX/OpContext.h"
#include "llvm/ADT/StringSet.h"

namespace glowish {

/// What all graphs of a model share while they are imported.
struct ImportState {
  /// ImportOptions::maxTripCount.
  int64_t maxTripCount = 0;
  /// ImportOptions::maxExtents.
  std::map<std::string, int64_t> maxExtents{};
  /// The largest values of what may be an extent.
  std::map<std::pair<const Node *, unsigned>, int64_t> bounds{};
  /// How many uses of the values of a node are still to come.
  llvm::DenseMap<const Node *, unsigned> pendingUses{};
  /// Weights of inner graphs, which are imported again and again.
  llvm::DenseMap<const onnx::TensorProto *, std::shared_ptr<const Tensor>>
      innerWeights{};
  /// Where warnings go; null where nobody asked.
  std::function<void(llvm::StringRef)> warn{};
  /// Operators and attributes that were warned of.
  llvm::StringSet<> warned{};
  /// How many elements all sequences have.
  size_t numSequenceElements = 0;
  /// How many nodes and weights of inner graphs may still be imported: loops in
  /// loops that are written out grow without bounds.
  int64_t innerNodes = 1 << 16;
  /// How many Gradients are being imported, one in the graph of another.
  unsigned gradientDepth = 0;
};

class GraphScope {
public:
  /// The graph of the model.
  GraphScope(const onnx::GraphProto &graph, GraphContext context,
             ImportState &state);
  /// An inner graph that becomes nodes of the function of \p outer.
  GraphScope(const onnx::GraphProto &graph, GraphScope &outer);
  virtual ~GraphScope();
  GraphScope(const GraphScope &) = delete;

  GraphContext &getContext() { return context; }
  ImportState &getState() { return state; }
  const onnx::GraphProto &getGraph() const { return graph; }
  bool isDefined(llvm::StringRef name) const { return values.count(name); }

  /// Gives \p name, which is new in this graph, a value.
  llvm::Error define(llvm::StringRef name, NodeValue value);
  /// The value of \p name here or, if there is none, in a graph around; null
  /// where none of them has it.
  NodeValue lookup(llvm::StringRef name);
  /// The extents of the same value, as values here; empty where its type has
  /// them.
  Extents lookupExtents(llvm::StringRef name);
  /// Like define() and lookup(), of a sequence or an optional.
  llvm::Error defineSequence(llvm::StringRef name, Sequence sequence);
  const Sequence *lookupSequence(llvm::StringRef name);
  /// The node that computes \p name here or, if it is not defined here, in a
  /// graph around; null where none does. Known while nodes are imported.
  const onnx::NodeProto *findProducer(llvm::StringRef name) const;
  /// Imports all nodes, operands first.
  llvm::Error importNodes();
  /// Defines the graph's inputs, initializers and nodes, for an inner graph,
  /// and returns its outputs. Without \p extents, which gets theirs, none of
  /// them may have such that are known only when the model runs.
  llvm::Expected<std::vector<NodeValue>>
  importInner(llvm::ArrayRef<NodeValue> inputs,
              std::vector<Extents> *extents = nullptr);
  /// The extent of dimension 0 that the graph states for the value \p name.
  std::optional<int64_t> getStatedExtent(llvm::StringRef name) const;

protected:
  GraphScope(const onnx::GraphProto &graph, GraphScope &outer,
             GraphContext context);
  /// \p value of the graph around as a value here.
  virtual NodeValue enter(NodeValue value) { return value; }

private:
  void countUses();
  void release(llvm::StringRef name);
  llvm::Expected<std::vector<const onnx::NodeProto *>> sortNodes();
  llvm::Expected<std::vector<NodeValue>>
  findInputs(const onnx::NodeProto &proto);
  llvm::Error importNode(const onnx::NodeProto &proto);
  llvm::Error setOutputs(const onnx::NodeProto &proto, OpContext &op);
  void warnOfUnknownAttrs(const onnx::NodeProto &proto, const OpContext &op);
  llvm::Error importInnerWeights();
  llvm::Error takeInner(int64_t count);
  llvm::Error checkOutputExtents();

  const onnx::GraphProto &graph;
  GraphScope *outer = nullptr;
  ImportState &state;
  GraphContext context;
  llvm::StringMap<NodeValue> values;
  llvm::StringMap<Sequence> sequences;
  llvm::StringMap<int> producers;
};

/// An inner graph that becomes the body of a node.
class BodyScope : public GraphScope {
public:
  BodyScope(const onnx::GraphProto &graph, GraphScope &outer,
            llvm::StringRef name);

  std::shared_ptr<FunctionBody> getBody() const { return body; }
  Function &getFunction() { return body->getFunction(); }
  /// A parameter that is no capture. To be added before there are captures.
  NodeValue addParameter(llvm::StringRef name, const Type &type);
  /// \p value of the graph around as a parameter, or as itself where it is a
  /// constant.
  NodeValue enter(NodeValue value) override;
  /// The values of the captures, in the order of their parameters.
  llvm::ArrayRef<NodeValue> getCaptures() const { return captures; }

private:
  BodyScope(const onnx::GraphProto &graph, GraphScope &outer,
            std::shared_ptr<FunctionBody> body);

  std::shared_ptr<FunctionBody> body;
  std::vector<NodeValue> captures;
  llvm::DenseMap<NodeValue, NodeValue> entered;
};

/// "node 'conv1' (Conv)".
std::string describe(const onnx::NodeProto &proto);

/// All operators of \p graph and the graphs inside it that can't be imported,
/// in one message.
llvm::Error checkOperators(const onnx::GraphProto &graph,
                           const NodeOpsets &opsets);

/// The graphs in the attributes of \p proto.
llvm::SmallVector<const onnx::GraphProto *, 2>
getGraphs(const onnx::NodeProto &proto);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_GRAPHSCOPE_H
