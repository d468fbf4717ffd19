//===- NetOp.h - What the import of one Caffe2 operator sees ----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_NETOP_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_NETOP_H

#include "Caffe2/caffe2.pb.h"
#include "Common/Axes.h"
#include "Common/Folding.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Importer/ImportOptions.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringSet.h"

namespace glowish {

/// A blob of a net: a tensor, and what its integers stand for if it is
/// quantized. Such tensors are integers in the graph (int8, where Caffe2 has
/// uint8: the offset is 128 less), and what is computed with them is written
/// out.
struct Blob {
  NodeValue value;
  /// Null where the tensor is not quantized.
  std::shared_ptr<const QuantParams> quant;
  /// How the tensor was stated to have scales in its rows; else null.
  const FusedRows *fusedRows = nullptr;
};

/// What the operators of a model share while they are imported.
struct NetContext {
  Function &function;
  const ImportOptions &options;
  FoldingBudget budget = {};
  /// By their names, as the last operator left them.
  llvm::StringMap<Blob> blobs = {};
  /// Arguments that were warned of.
  llvm::StringSet<> warned = {};
  /// Whether the shapes of weights may be inferred and their values be zero:
  /// the model has no init_net.
  bool hasZeroWeights = false;
  /// Weights that were made up so.
  std::vector<std::string> zeroWeights = {};
};

/// One Caffe2 operator while it becomes nodes of the graph, as expressions of a
/// NodeBuilder. The first error is kept, also of arguments that have another
/// type than asked for, and reported with the operator's name at the end.
class NetOp final : public NodeBuilder {
public:
  NetOp(caffe2::OperatorDef &proto, NetContext &net);

  llvm::StringRef getType() const { return proto.type(); }
  NetContext &getNet() { return net; }

  //===- Inputs -------------------------------------------------------------//

  unsigned getNumInputs() const { return proto.input_size(); }
  llvm::StringRef getInputName(unsigned index) const {
    return proto.input(index);
  }
  bool hasInput(unsigned index) const { return index < getNumInputs(); }
  /// Input \p index, which is there (Caffe2Operator checks the number) and,
  /// unless the operator takes such, neither quantized nor of fused rows.
  NodeValue input(unsigned index) const { return inputs[index].value; }
  /// The same, null where there is none.
  NodeValue optionalInput(unsigned index) const {
    return hasInput(index) ? inputs[index].value : NodeValue();
  }
  const Blob &getBlob(unsigned index) const { return inputs[index]; }
  /// The elements of input \p index, which must be a constant.
  llvm::Expected<const Tensor *> getConstant(unsigned index) const;
  llvm::Expected<std::vector<int64_t>> getConstantInts(unsigned index) const;
  /// Refuses inputs of another rank than \p rank.
  llvm::Error checkRank(unsigned index, unsigned rank) const;
  /// Refuses inputs that are no integers.
  llvm::Error checkIntegers(unsigned index) const;
  /// Input \p index, a weight of \p shape: without an init_net it may be
  /// missing, and is zero.
  NodeValue weight(unsigned index, DimsRef shape);
  /// Error for input \p index: what it is, and what is \p accepted.
  llvm::Error refuseInput(unsigned index, llvm::StringRef accepted) const;

  //===- Arguments ----------------------------------------------------------//

  bool hasArg(llvm::StringRef name) const { return findArg(name); }
  /// The argument, which is taken for read.
  const caffe2::Argument *findArg(llvm::StringRef name) const;
  /// The argument, or \p defaultValue. Integers and floats stand for each
  /// other where nothing is lost.
  int64_t getInt(llvm::StringRef name, int64_t defaultValue);
  double getFloat(llvm::StringRef name, double defaultValue);
  std::string getString(llvm::StringRef name, llvm::StringRef defaultValue);
  /// A list; empty without the argument.
  std::vector<int64_t> getInts(llvm::StringRef name);
  std::vector<double> getFloats(llvm::StringRef name);
  /// The argument \p name, negative values counting from the end of \p rank
  /// dimensions.
  llvm::Expected<int64_t> getAxis(llvm::StringRef name, int64_t defaultValue,
                                  unsigned rank);
  /// Arguments without a meaning in inference.
  void ignoreArgs(std::initializer_list<llvm::StringRef> names) const {
    for (llvm::StringRef name : names)
      findArg(name);
  }
  /// The values of a fill, which are taken out of the model: `values`.
  caffe2::Argument *takeValues();
  /// The argument `order`: whether images are NHWC.
  llvm::Expected<bool> isNHWC();

  //===- Outputs ------------------------------------------------------------//

  unsigned getNumOutputs() const { return proto.output_size(); }
  /// Sets output \p index, if the operator has one, or keeps the error.
  llvm::Error setOutput(unsigned index, NodeValue value,
                        std::shared_ptr<const QuantParams> quant = nullptr);
  llvm::ArrayRef<Blob> getOutputs() const { return outputs; }
  /// The next nodes are named after output \p index.
  void nameAfterOutput(unsigned index);

  //===- Making nodes -------------------------------------------------------//

  NodeValue createShared(std::shared_ptr<const Tensor> tensor);
  /// A constant of \p shape: \p kind and the elements \p values.
  NodeValue ints(ElemKind kind, DimsRef shape, llvm::ArrayRef<int64_t> values);

  /// Tells the user one line.
  void warn(llvm::StringRef line) const;
  /// Names the arguments that the importer has not asked for: to be called
  /// after it.
  void warnOfUnreadArgs();
  /// Takes the inputs from the blobs. An error names one that is not there.
  llvm::Error readInputs();

private:
  llvm::Expected<NodeValue> create(NodeDraft draft) override;
  llvm::Error checkConstant(const Type &type) override {
    return net.budget.check(type.getSizeInBytes());
  }
  void failArg(const caffe2::Argument &arg, llvm::StringRef accepted);

  caffe2::OperatorDef &proto;
  NetContext &net;
  std::vector<Blob> inputs, outputs;
  mutable std::vector<bool> argRead;
};

/// Imports one operator: makes the graph's nodes and sets the outputs.
using NetOpImporter = llvm::Error (*)(NetOp &op);

/// What the importers of operators may take for granted.
struct NetOpTraits {
  /// The least and the largest number of inputs.
  unsigned minInputs = 1, maxInputs = 1;
  /// Quantized inputs are accepted.
  bool isQuantized = false;
  /// Input 0 may be stated to be fused rows.
  bool takesFusedRows = false;
  /// Inputs from this one on are weights. Without an init_net they are zeros
  /// of the shape that is stated.
  unsigned firstWeight = ~0u;
  /// Without an init_net, inputs from this one on may be missing: the others
  /// imply their shapes.
  unsigned firstImplied = ~0u;
  /// That holds only with this argument; empty where it always does.
  llvm::StringLiteral impliedBy = "";
  /// One line on what is not supported.
  llvm::StringLiteral limit = "";
};
/// maxInputs of operators with any number.
constexpr unsigned manyInputs = ~0u;

/// Registers the importer of an operator: `static Caffe2Operator fc("FC",
/// importFC, {3, 3});`. A static object of the file of the operator's family.
class Caffe2Operator {
public:
  Caffe2Operator(llvm::StringRef name, NetOpImporter importer,
                 NetOpTraits traits = {});
};

struct RegisteredNetOp {
  NetOpImporter importer;
  NetOpTraits traits;
};
/// The importer of \p name; null when there is none.
const RegisteredNetOp *findCaffe2Operator(llvm::StringRef name);

/// Whether the shape of input \p index of \p op, which is registered, follows
/// from the other inputs.
bool isImplied(const caffe2::OperatorDef &op, unsigned index);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_NETOP_H
