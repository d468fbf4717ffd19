//===- GraphWriter.h - Write nodes to an ONNX graph -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_ONNX_GRAPHWRITER_H
#define GLOWISH_LIB_EXPORTER_ONNX_GRAPHWRITER_H

#include "NodeKindOf.h"
#include "ONNX/LinearQuantization.h"
#include "ONNX/NBitsWeights.h"
#include "ONNX/WeightPool.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringSet.h"
#include <functional>
#include <onnx/onnx_pb.h>

namespace glowish {

using OnnxValues = llvm::SmallVector<OnnxValue, 4>;
using OnnxAttrs = std::vector<onnx::AttributeProto>;

onnx::AttributeProto intAttr(llvm::StringRef name, int64_t value);
onnx::AttributeProto intsAttr(llvm::StringRef name,
                              llvm::ArrayRef<int64_t> values);
/// Rounds \p value: ONNX attributes have single precision.
onnx::AttributeProto floatAttr(llvm::StringRef name, double value);
onnx::AttributeProto stringAttr(llvm::StringRef name, llvm::StringRef value);
onnx::AttributeProto tensorAttr(llvm::StringRef name, const Tensor &tensor);
onnx::AttributeProto graphAttr(llvm::StringRef name, onnx::GraphProto graph);

/// Returns ONNX's data type for \p kind, which must not be quantized.
onnx::TensorProto::DataType getDataType(ElemKind kind);
/// Describes an input or output: name, element type and shape.
onnx::ValueInfoProto makeValueInfo(llvm::StringRef name, const Type &type);

/// Writes the nodes of one function or body to a graph. Exporters get the
/// operands as values of the graph, create nodes and set the results. The first
/// error is kept; after it no nodes are created and values are null.
///
/// A value may be stored in another order of dimensions (images in NCHW), its
/// layout. A Transpose is created only when get() asks for an order that is not
/// stored. So element-wise nodes between two convolutions stay in NCHW.
class GraphWriter {
public:
  GraphWriter(WeightPool &pool, onnx::GraphProto &graph)
      : pool(pool), graph(graph) {}

  /// Writes the nodes of \p function that its results depend on. Parameters and
  /// inputs must have been set. An error names the node.
  llvm::Error writeNodes(const Function &function);

  WeightPool &getPool() { return pool; }
  onnx::GraphProto &getGraph() { return graph; }
  void fail(const llvm::Twine &what);
  bool hasFailed() const { return !message.empty(); }

  //===- Values of the function ---------------------------------------------//

  /// Returns \p value with the function's order of dimensions; null for null.
  OnnxValue get(NodeValue value);
  /// Returns \p value with its dimensions permuted by \p permutation.
  OnnxValue get(NodeValue value, llvm::ArrayRef<int64_t> permutation);
  /// Like get(), with leading dimensions of extent 1 up to the permutation's
  /// rank.
  OnnxValue getExpanded(NodeValue value, const Layout &permutation);
  /// Returns the bias of a convolution or matmul: integers where \p input and
  /// \p weights are dequantized, as ONNX Runtime wants it to multiply integers.
  OnnxValue getBias(NodeValue bias, NodeValue input, NodeValue weights);
  /// Returns \p x [..., K] times \p weights [K, N] as one node MatMulNBits of
  /// com.microsoft; null if the weights are not composed of constant integers
  /// of 4 bits that it takes.
  OnnxValue multiplyNBits(NodeValue x, NodeValue weights);
  /// The same for \p weights of \p node that have 8 or 4 bits, [N, K] if
  /// \p isTransposed.
  OnnxValue multiplyNBits(NodeValue x, const LinearQuantization &weights,
                          const Node &node, bool isTransposed);
  /// Returns the floats that constant \p integers stand for.
  OnnxValue dequantize(const LinearQuantization &integers);
  /// Returns \p value in its stored order; transposing it by getLayout() gives
  /// the function's order.
  OnnxValue getStored(NodeValue value);
  Layout getLayout(NodeValue value) const;
  /// Records that \p value, which is no constant, is \p written transposed by
  /// \p layout; an empty layout is the identity.
  void set(NodeValue value, OnnxValue written, const Layout &layout = {});
  void setResult(const Node &node, OnnxValue written,
                 const Layout &layout = {});
  /// Records that \p value is saved to \p placeholder.
  void save(const Node *placeholder, NodeValue value) {
    saved[placeholder] = value;
  }
  /// Returns the value saved to \p placeholder, or null.
  NodeValue getSaved(const Node *placeholder) const {
    return saved.lookup(placeholder);
  }

  //===- Nodes --------------------------------------------------------------//

  /// Creates a node with one result. If the operator does not support the
  /// inputs' element kind, it is computed in a wider kind and cast back.
  OnnxValue op(llvm::StringRef type, llvm::ArrayRef<OnnxValue> inputs,
               OnnxAttrs attrs = {});
  /// Like op(), for operators whose result kind the inputs do not determine.
  OnnxValue opOfKind(ElemKind kind, llvm::StringRef type,
                     llvm::ArrayRef<OnnxValue> inputs, OnnxAttrs attrs = {});
  /// Creates a node with several results, which may be of a wider kind.
  OnnxValues ops(unsigned count, llvm::StringRef type,
                 llvm::ArrayRef<OnnxValue> inputs, OnnxAttrs attrs = {});
  /// Creates a node with results of \p kinds, without checks.
  OnnxValues raw(llvm::StringRef type, llvm::ArrayRef<OnnxValue> inputs,
                 llvm::ArrayRef<ElemKind> kinds, OnnxAttrs attrs,
                 llvm::StringRef domain = "");

  /// Writes \p node as a node with the same results, without checks.
  void writeAs(const Node &node, llvm::StringRef type,
               llvm::ArrayRef<OnnxValue> inputs, OnnxAttrs attrs,
               llvm::StringRef domain = "");

  OnnxValue add(const OnnxValue &x, const OnnxValue &y) {
    return op("Add", {x, y});
  }
  OnnxValue sub(const OnnxValue &x, const OnnxValue &y) {
    return op("Sub", {x, y});
  }
  OnnxValue mul(const OnnxValue &x, const OnnxValue &y) {
    return op("Mul", {x, y});
  }
  OnnxValue div(const OnnxValue &x, const OnnxValue &y) {
    return op("Div", {x, y});
  }
  OnnxValue select(const OnnxValue &condition, const OnnxValue &x,
                   const OnnxValue &y) {
    return op("Where", {condition, x, y});
  }
  OnnxValue cast(OnnxValue x, ElemKind kind);
  OnnxValue reshape(const OnnxValue &x, DimsRef shape);
  /// Transposes a value of the graph.
  OnnxValue transpose(OnnxValue x, llvm::ArrayRef<int64_t> permutation);
  OnnxValue slice(const OnnxValue &x, llvm::ArrayRef<int64_t> axes,
                  llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> ends,
                  llvm::ArrayRef<int64_t> steps);
  /// \p pads: before all dimensions, then after all.
  OnnxValue pad(const OnnxValue &x, llvm::ArrayRef<int64_t> pads, double value,
                llvm::StringRef mode = "constant");
  OnnxValue reduce(llvm::StringRef type, const OnnxValue &x,
                   llvm::ArrayRef<int64_t> axes, bool keepDims);

  //===- Constants ----------------------------------------------------------//

  OnnxValue number(ElemKind kind, double value);
  OnnxValue numberLike(const OnnxValue &x, double value) {
    return number(x.kind, value);
  }
  /// Returns an int64 constant of rank 1.
  OnnxValue ints(llvm::ArrayRef<int64_t> values);
  /// Returns a constant with \p value in all elements.
  OnnxValue filled(ElemKind kind, DimsRef shape, double value);
  OnnxValue constant(Tensor tensor);

  //===- Inputs and results of a graph --------------------------------------//

  /// Adds an input that is called like \p inputName.
  OnnxValue addInput(llvm::StringRef inputName, const Type &type);
  /// Makes \p value, or a copy of it, the next output.
  void addOutput(const OnnxValue &value, const Type &type);

  /// Returns \p value if it can be an output of the graph, otherwise a copy of
  /// it: outputs are distinct results of nodes.
  OnnxValue makeOutput(OnnxValue value);
  /// Whether \p name is a result of a node of the graph.
  bool isComputed(llvm::StringRef name) const {
    return computed.contains(name);
  }

  /// Returns \p node if it permutes packed constants that are dequantized, else
  /// null: it is written where something reads it only, as a MatMulNBits takes
  /// the constants themselves.
  const TransposeNode *findTransposedWeights(const Node *node) const;

private:
  struct Stored {
    OnnxValue value;
    Layout layout;
  };
  /// The attributes of MatMulNBits, and its inputs behind the first.
  struct StoredNBits {
    OnnxAttrs attrs = {};
    OnnxValues inputs = {};
  };
  /// Writes \p node as QuantizeLinear or DequantizeLinear.
  void writeLinear(const Node &node, const LinearQuantization &linear);
  /// Returns the floats of constant integers with their dimensions permuted.
  OnnxValue dequantize(const Node &node, const Layout &layout);
  OnnxValue createLinear(const LinearQuantization &linear, OnnxValue input,
                         const Layout &layout);
  std::optional<StoredNBits> storeNBits(const LinearQuantization &weights,
                                        bool isTransposed);
  bool isConstantDequantized(NodeValue value) const {
    auto found = linears.find(value.node);
    return found != linears.end() && found->second.isOfConstant();
  }
  /// What \p value is dequantized of, before it is moved; or null.
  const LinearQuantization *findDequantization(NodeValue value) const;
  OnnxValues emit(unsigned count, llvm::StringRef type,
                  llvm::ArrayRef<OnnxValue> inputs,
                  std::optional<ElemKind> resultKind, OnnxAttrs attrs);

  WeightPool &pool;
  onnx::GraphProto &graph;
  llvm::DenseMap<NodeValue, Stored> values;
  /// Of the last nodes of composed quantizations.
  std::map<const Node *, LinearQuantization> linears;
  std::map<std::pair<const Node *, Layout>, OnnxValue> dequantized;
  /// Weights of MatMulNBits, by what composes them; absent where it does not
  /// take them.
  std::map<std::pair<const Node *, bool>, std::optional<StoredNBits>> nBits;
  std::map<std::pair<std::string, Layout>, OnnxValue> transposes;
  llvm::DenseMap<const Node *, NodeValue> saved;
  llvm::StringSet<> computed, outputs;
  /// The name of the node that is being written.
  std::string name = "value";
  std::string message;
};

//===- Registration -------------------------------------------------------===//

/// Registers the exporter of a node kind, as a static object: `static const
/// NodeExporter loss = [](GraphWriter &w, const LossNode &node) { ... };`. The
/// function returns the only result of the node, in the function's order of
/// dimensions, or sets the results itself.
class NodeExporter {
public:
  using Function = std::function<void(GraphWriter &w, const Node &node)>;

  template <typename Fn>
    requires std::is_class_v<Fn> && requires(Fn exporter) { +exporter; }
  NodeExporter(Fn exporter) : NodeExporter(+exporter) {}
  template <typename R, typename T>
  NodeExporter(R (*exporter)(GraphWriter &w, const T &node))
      : NodeExporter(kindOf<T>,
                     Function([exporter](GraphWriter &w, const Node &node) {
                       if constexpr (std::is_void_v<R>)
                         exporter(w, llvm::cast<T>(node));
                       else
                         w.setResult(node, exporter(w, llvm::cast<T>(node)));
                     })) {}
  NodeExporter(NodeKind kind, const Function &exporter);
};

/// Registers why nodes of a kind cannot be exported.
class NodeRefusal {
public:
  NodeRefusal(NodeKind kind, llvm::StringLiteral reason);
};

/// Returns the exporter of \p kind, or null.
const NodeExporter::Function *findExporter(NodeKind kind);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_ONNX_GRAPHWRITER_H
