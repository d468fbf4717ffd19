//===- OpContext.h - What the import of one node sees ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPCONTEXT_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPCONTEXT_H

#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Error.h"
#include "glowish/Importer/ONNX.h"
#include <onnx/onnx_pb.h>

namespace glowish {

/// One ONNX node while it becomes nodes of the graph: its attributes, inputs
/// and outputs, and the means to make nodes. All errors of these functions are
/// completed with the node's name and operator by the caller.
class OpContext {
public:
  OpContext(const onnx::NodeProto &proto, int opset, Function &function,
            const NodeEvaluator &evaluate, std::vector<NodeValue> inputs)
      : proto(proto), opset(opset), function(function), evaluate(evaluate),
        inputs(std::move(inputs)) {}

  llvm::StringRef getOpType() const { return proto.op_type(); }
  /// The version of the operator set that the model imports.
  int getOpset() const { return opset; }
  Function &getFunction() { return function; }

  //===- Inputs -------------------------------------------------------------//

  unsigned getNumInputs() const { return inputs.size(); }
  bool hasInput(unsigned index) const {
    return index < inputs.size() && inputs[index];
  }
  llvm::Expected<NodeValue> getInput(unsigned index) const;
  /// Input \p index, which decides a shape and so must be a constant.
  llvm::Expected<const Tensor *> getConstant(unsigned index) const;
  /// The same as integers.
  llvm::Expected<std::vector<int64_t>> getConstantInts(unsigned index) const;

  //===- Attributes ---------------------------------------------------------//

  const onnx::AttributeProto *findAttr(llvm::StringRef name) const;
  bool hasAttr(llvm::StringRef name) const { return findAttr(name); }
  /// The attribute, or \p defaultValue; an error when it has another type.
  llvm::Expected<int64_t> getInt(llvm::StringRef name,
                                 int64_t defaultValue) const;
  llvm::Expected<double> getFloat(llvm::StringRef name,
                                  double defaultValue) const;
  llvm::Expected<std::string> getString(llvm::StringRef name,
                                        llvm::StringRef defaultValue) const;
  llvm::Expected<std::vector<int64_t>>
  getInts(llvm::StringRef name, llvm::ArrayRef<int64_t> defaultValue) const;
  /// An attribute of old opsets that became an input of newer ones: input
  /// \p index where it is there, else the attribute, else the default.
  llvm::Expected<std::vector<int64_t>>
  getIntsOrInput(llvm::StringRef name, unsigned index,
                 llvm::ArrayRef<int64_t> defaultValue) const;
  /// Attribute \p name as a dimension of a tensor of \p rank: negative ones
  /// count from the end.
  llvm::Expected<int64_t> getAxis(llvm::StringRef name, int64_t defaultValue,
                                  unsigned rank) const;

  //===- Making nodes -------------------------------------------------------//

  /// A node named after the first output. Folded at once where its operands
  /// are small constants.
  template <typename T, typename... Args>
  llvm::Expected<NodeValue> create(Args &&...args) {
    return finish(
        function.tryCreate(getName(), T::draft(std::forward<Args>(args)...)));
  }
  llvm::Expected<NodeValue> create(NodeDraft draft) {
    return finish(function.tryCreate(getName(), std::move(draft)));
  }
  NodeValue createConstant(Tensor tensor) {
    return function.getModule().createConstant(getName(), std::move(tensor));
  }
  NodeValue createInt64s(llvm::ArrayRef<int64_t> values);
  /// A scalar constant of \p kind.
  NodeValue createScalar(ElemKind kind, double value);

  llvm::Expected<NodeValue> transpose(NodeValue value,
                                      llvm::ArrayRef<int64_t> permutation);
  llvm::Expected<NodeValue> reshape(NodeValue value, DimsRef shape);
  /// Images between the model's NCHW and the graph's NHWC.
  llvm::Expected<NodeValue> toNHWC(NodeValue value) {
    return transpose(value, {0, 2, 3, 1});
  }
  llvm::Expected<NodeValue> toNCHW(NodeValue value) {
    return transpose(value, {0, 3, 1, 2});
  }

  //===- Outputs ------------------------------------------------------------//

  unsigned getNumOutputs() const { return proto.output_size(); }
  bool wantsOutput(unsigned index) const {
    return int(index) < proto.output_size() && !proto.output(index).empty();
  }
  llvm::Error setOutput(unsigned index, llvm::Expected<NodeValue> value);
  llvm::ArrayRef<NodeValue> getOutputs() const { return outputs; }

  const onnx::NodeProto &getProto() const { return proto; }

private:
  llvm::StringRef getName() const {
    return proto.output_size() ? llvm::StringRef(proto.output(0)) : "v";
  }
  llvm::Expected<NodeValue> finish(llvm::Expected<Node *> node);

  const onnx::NodeProto &proto;
  int opset;
  Function &function;
  const NodeEvaluator &evaluate;
  std::vector<NodeValue> inputs;
  std::vector<NodeValue> outputs;
};

/// Imports one node: makes the graph's nodes and sets the outputs.
using OpImporter = llvm::Error (*)(OpContext &op);

/// Registers the importer of an operator: `static OnnxOperator conv("Conv",
/// 1, importConv);` \p since: the first opset that it understands. A static
/// object of the file of the operator's family.
class OnnxOperator {
public:
  OnnxOperator(llvm::StringRef name, int since, OpImporter importer);
};

struct RegisteredOperator {
  int since;
  OpImporter importer;
};
/// The importer of \p name; null when there is none.
const RegisteredOperator *findOnnxOperator(llvm::StringRef name);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPCONTEXT_H
