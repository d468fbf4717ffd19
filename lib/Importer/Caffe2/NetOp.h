//===- NetOp.h - A Caffe2 operator being imported ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_NETOP_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_NETOP_H

#include "Caffe2/caffe2.pb.h"
#include "Common/ImportedOp.h"
#include "Common/OperatorTable.h"
#include "glowish/Importer/ImportOptions.h"
#include <set>

namespace glowish::caffe2 {

/// A blob of a net: a tensor and its quantization parameters. Quantized tensors
/// are integers in the graph; Caffe2's uint8 becomes int8, with the offset
/// reduced by 128. Operators on them are decomposed.
struct Blob {
  NodeValue value;
  /// Null if the tensor is not quantized.
  std::shared_ptr<const QuantParams> quant;
  /// The fused row format given for the tensor, or null.
  const FusedRows *fusedRows = nullptr;
};

/// State shared by the operators of a model during import.
struct NetContext {
  Function &function;
  const ImportOptions &options;
  FoldingBudget budget = {};
  /// The current blobs by name.
  llvm::StringMap<Blob> blobs = {};
  /// Whether weights without a value are zeros of an inferred shape, as the
  /// model has no init_net.
  bool hasZeroWeights = false;
  /// Names of weights that are such zeros.
  std::vector<std::string> zeroWeights = {};
};

/// A Caffe2 operator that is being imported. Arguments of an unexpected type
/// are errors that are kept.
class NetOp final : public ImportedOp {
public:
  NetOp(schema::OperatorDef &proto, NetContext &net);

  llvm::StringRef getType() const { return proto.type(); }
  NetContext &getNet() { return net; }

  //===- Inputs -------------------------------------------------------------//

  unsigned getNumInputs() const override { return proto.input_size(); }
  llvm::StringRef getInputName(unsigned index) const override {
    return hasInput(index) ? proto.input(index) : llvm::StringRef();
  }
  bool hasInput(unsigned index) const { return index < getNumInputs(); }
  /// Returns input \p index, or null if it is absent. It is neither quantized
  /// nor in a fused row format unless the operator's traits allow that.
  NodeValue input(unsigned index) const override {
    return hasInput(index) ? inputs[index].value : NodeValue();
  }
  const Blob &getBlob(unsigned index) const { return inputs[index]; }
  /// Returns input \p index, a weight. Without an init_net an absent weight is
  /// created as zeros of \p shape.
  NodeValue weight(unsigned index, DimsRef shape);
  //===- Arguments ----------------------------------------------------------//

  bool hasArg(llvm::StringRef name) const { return findArg(name); }
  /// Returns the argument, or null, and marks it as read.
  const schema::Argument *findArg(llvm::StringRef name) const;
  /// Return the argument, or \p defaultValue if it is absent. Integers and
  /// floats are converted to each other if the conversion is exact.
  int64_t getInt(llvm::StringRef name, int64_t defaultValue);
  double getFloat(llvm::StringRef name, double defaultValue);
  std::string getString(llvm::StringRef name, llvm::StringRef defaultValue);
  /// Return a list; empty if the argument is absent.
  std::vector<int64_t> getInts(llvm::StringRef name);
  std::vector<double> getFloats(llvm::StringRef name);
  /// Returns the argument \p name, an axis that may count from the end of
  /// \p rank dimensions, normalized.
  llvm::Expected<int64_t> getAxis(llvm::StringRef name, int64_t defaultValue,
                                  unsigned rank);
  /// Returns all arguments and marks them as read.
  const google::protobuf::RepeatedPtrField<schema::Argument> &getArgs() const;
  /// Marks arguments that have no effect on inference as read.
  void ignoreArgs(std::initializer_list<llvm::StringRef> names) const {
    for (llvm::StringRef name : names)
      findArg(name);
  }
  /// Returns the argument `values` of a fill, mutable so that the caller can
  /// take its contents.
  schema::Argument *takeValues();
  /// Returns whether the argument `order` is NHWC.
  llvm::Expected<bool> isNHWC();

  //===- Outputs ------------------------------------------------------------//

  unsigned getNumOutputs() const { return proto.output_size(); }
  /// Sets output \p index, if the operator has it, or returns the first error.
  llvm::Error setOutput(unsigned index, NodeValue value,
                        std::shared_ptr<const QuantParams> quant = nullptr);
  llvm::ArrayRef<Blob> getOutputs() const { return outputs; }
  /// Names the nodes created from now on after output \p index.
  void nameAfterOutput(unsigned index);

  //===- Creating nodes ---------------------------------------------------===//

  /// Returns \p x as a matrix, whose columns are the dimensions from \p axis
  /// on.
  NodeValue flattenAt(NodeValue x, unsigned axis);
  /// Reports a one-line warning (see ImportOptions::report()).
  llvm::Error warn(llvm::StringRef line) const;
  /// Returns an error for an argument that the importer has not read, or that
  /// has values of several forms; to be called after it.
  llvm::Error checkArgs();
  /// Looks up the inputs. The error names an input that does not exist.
  llvm::Error readInputs();

private:
  std::string describeInput(unsigned index) const override;
  double readNumber(llvm::StringRef name, double defaultValue) override {
    return getFloat(name, defaultValue);
  }
  void failArg(const schema::Argument &arg, llvm::StringRef accepted);

  schema::OperatorDef &proto;
  NetContext &net;
  std::vector<Blob> inputs, outputs;
  mutable std::vector<bool> argRead;
  /// The names of arguments that the importer has asked for.
  mutable std::set<std::string> readNames;
};

/// Properties of an operator, checked before its importer is called.
struct NetOpTraits {
  InputCount inputs = 1;
  /// Whether quantized inputs are accepted.
  bool isQuantized = false;
  /// Whether input 0 may be in a fused row format.
  bool takesFusedRows = false;
  /// The first input that is a weight. Without an init_net, weights from it on
  /// are zeros of the shape given in the options.
  unsigned firstWeight = ~0u;
  /// The first input whose shape the other inputs imply. Without an init_net,
  /// inputs from it on may be absent.
  unsigned firstImplied = ~0u;
  /// firstImplied applies only if this argument is present; empty if always.
  llvm::StringLiteral impliedBy = "";
  /// One-line description of what is not supported.
  llvm::StringLiteral limit = "";
};

using Caffe2Operators = OperatorTable<NetOp, NetOpTraits>;
using RegisteredNetOp = Caffe2Operators::Entry;
/// Returns the importer of the operator \p name, or of all external operators
/// where \p options declare it as one, or null.
const RegisteredNetOp *findCaffe2Operator(llvm::StringRef name,
                                          const ImportOptions &options);

/// Whether the other inputs of \p op, which is \p registered, imply the shape
/// of input \p index.
bool isImplied(const schema::OperatorDef &op, const RegisteredNetOp &registered,
               unsigned index);

} // namespace glowish::caffe2

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_NETOP_H
