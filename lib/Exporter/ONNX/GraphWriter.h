//===- GraphWriter.h - Nodes become nodes of an ONNX graph ----*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_ONNX_GRAPHWRITER_H
#define GLOWISH_LIB_EXPORTER_ONNX_GRAPHWRITER_H

#include "ONNX/WeightPool.h"
#include "glowish/Graph/Nodes.h"
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
/// ONNX's attributes are of single precision.
onnx::AttributeProto floatAttr(llvm::StringRef name, double value);
onnx::AttributeProto stringAttr(llvm::StringRef name, llvm::StringRef value);
onnx::AttributeProto tensorAttr(llvm::StringRef name, const Tensor &tensor);
onnx::AttributeProto graphAttr(llvm::StringRef name, onnx::GraphProto graph);

/// ONNX's number for \p kind, which is no quantized one.
onnx::TensorProto::DataType getDataType(ElemKind kind);
/// Name, element type and shape of an input or output.
onnx::ValueInfoProto makeValueInfo(llvm::StringRef name, const Type &type);

/// Writes the nodes of one function, or body, to a graph. Exporters ask for the
/// operands as values of the graph, make nodes and set the results. The first
/// error is kept; from then on nothing is made, and values are null.
///
/// A value may be there in another order of dimensions (of images: NCHW), its
/// layout; a Transpose is made only where somebody asks for the graph's own
/// order. So element-wise nodes between two convolutions stay in NCHW.
class GraphWriter {
public:
  GraphWriter(WeightPool &pool, onnx::GraphProto &graph)
      : pool(pool), graph(graph) {}

  /// Writes those nodes of \p function that its results need; parameters and
  /// inputs have been set. An error names the node.
  llvm::Error writeNodes(const Function &function);

  WeightPool &getPool() { return pool; }
  onnx::GraphProto &getGraph() { return graph; }
  void fail(const llvm::Twine &what);
  bool hasFailed() const { return !message.empty(); }

  //===- Values of the function ---------------------------------------------//

  /// \p value as it is in the function; null for a null one.
  OnnxValue get(NodeValue value);
  /// The same with the dimensions in the order \p permutation.
  OnnxValue get(NodeValue value, llvm::ArrayRef<int64_t> permutation);
  /// The same with ones in front of its shape, up to the permutation's rank.
  OnnxValue getExpanded(NodeValue value, const Layout &permutation);
  /// \p value as it is there: transposed by getLayout() it is what the
  /// function has.
  OnnxValue getStored(NodeValue value);
  Layout getLayout(NodeValue value) const;
  /// \p value, which is no constant, is \p written, transposed by \p layout
  /// unless that is empty.
  void set(NodeValue value, OnnxValue written, const Layout &layout = {});
  void setResult(const Node &node, OnnxValue written,
                 const Layout &layout = {});
  /// \p value is saved to \p placeholder.
  void save(const Node *placeholder, NodeValue value) {
    saved[placeholder] = value;
  }
  /// What is saved to \p placeholder; null for nothing.
  NodeValue getSaved(const Node *placeholder) const {
    return saved.lookup(placeholder);
  }

  //===- Nodes --------------------------------------------------------------//

  /// A node of one result. Where there is no such operator for the inputs'
  /// element kind, it computes in a wider kind.
  OnnxValue op(llvm::StringRef type, llvm::ArrayRef<OnnxValue> inputs,
               OnnxAttrs attrs = {});
  /// The same where inputs and operator don't tell the result's kind.
  OnnxValue opOfKind(ElemKind kind, llvm::StringRef type,
                     llvm::ArrayRef<OnnxValue> inputs, OnnxAttrs attrs = {});
  /// A node of several results, which may be of a wider kind.
  OnnxValues ops(unsigned count, llvm::StringRef type,
                 llvm::ArrayRef<OnnxValue> inputs, OnnxAttrs attrs = {});
  /// A node as it is, with results of \p kinds.
  OnnxValues raw(llvm::StringRef type, llvm::ArrayRef<OnnxValue> inputs,
                 llvm::ArrayRef<ElemKind> kinds, OnnxAttrs attrs);

  OnnxValue add(OnnxValue x, OnnxValue y) { return op("Add", {x, y}); }
  OnnxValue sub(OnnxValue x, OnnxValue y) { return op("Sub", {x, y}); }
  OnnxValue mul(OnnxValue x, OnnxValue y) { return op("Mul", {x, y}); }
  OnnxValue div(OnnxValue x, OnnxValue y) { return op("Div", {x, y}); }
  OnnxValue select(OnnxValue condition, OnnxValue x, OnnxValue y) {
    return op("Where", {condition, x, y});
  }
  OnnxValue cast(OnnxValue x, ElemKind kind);
  OnnxValue reshape(OnnxValue x, DimsRef shape);
  /// By values, and not those of the function.
  OnnxValue transpose(OnnxValue x, llvm::ArrayRef<int64_t> permutation);
  OnnxValue slice(OnnxValue x, llvm::ArrayRef<int64_t> axes,
                  llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> ends,
                  llvm::ArrayRef<int64_t> steps);
  /// \p pads: starts, then ends.
  OnnxValue pad(OnnxValue x, llvm::ArrayRef<int64_t> pads, double value,
                llvm::StringRef mode = "constant");
  OnnxValue reduce(llvm::StringRef type, OnnxValue x,
                   llvm::ArrayRef<int64_t> axes, bool keepDims);

  //===- Constants ----------------------------------------------------------//

  OnnxValue number(ElemKind kind, double value);
  OnnxValue numberLike(OnnxValue x, double value) {
    return number(x.kind, value);
  }
  /// int64, of rank 1.
  OnnxValue ints(llvm::ArrayRef<int64_t> values);
  /// \p value everywhere.
  OnnxValue filled(ElemKind kind, DimsRef shape, double value);
  OnnxValue constant(Tensor tensor);

  //===- Results of a graph -------------------------------------------------//

  /// A name for \p value that can be an output of the graph: that of a node of
  /// the graph which is no output yet.
  OnnxValue makeOutput(OnnxValue value);
  /// Whether \p name is that of a node's result.
  bool isComputed(llvm::StringRef name) const {
    return computed.contains(name);
  }

private:
  struct Stored {
    OnnxValue value;
    Layout layout;
  };
  OnnxValues emit(unsigned count, llvm::StringRef type,
                  llvm::ArrayRef<OnnxValue> inputs,
                  std::optional<ElemKind> resultKind, OnnxAttrs attrs);

  WeightPool &pool;
  onnx::GraphProto &graph;
  llvm::DenseMap<NodeValue, Stored> values;
  std::map<std::pair<std::string, Layout>, OnnxValue> transposes;
  llvm::DenseMap<const Node *, NodeValue> saved;
  llvm::StringSet<> computed, outputs;
  /// Of the node that is being written.
  std::string name = "value";
  std::string message;
};

//===- Registration -------------------------------------------------------===//

/// Registers how nodes of a kind are written: `static NodeExporter
/// conv(NodeKind::Convolution, exportConvolution);` with `void
/// exportConvolution(GraphWriter &w, const ConvolutionNode &node)`. A static
/// object of the file of the kind's family.
class NodeExporter {
public:
  using Function = std::function<void(GraphWriter &w, const Node &node)>;

  template <typename T>
  NodeExporter(NodeKind kind, void (*exporter)(GraphWriter &w, const T &node))
      : NodeExporter(kind,
                     Function([exporter](GraphWriter &w, const Node &node) {
                       exporter(w, llvm::cast<T>(node));
                     })) {}
  NodeExporter(NodeKind kind, Function exporter);
};

/// States why nodes of a kind can't be written.
class NodeRefusal {
public:
  NodeRefusal(NodeKind kind, llvm::StringLiteral reason);
};

/// The exporter of \p kind; null where there is none.
const NodeExporter::Function *findExporter(NodeKind kind);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_ONNX_GRAPHWRITER_H
