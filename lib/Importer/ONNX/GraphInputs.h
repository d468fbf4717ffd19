//===- GraphInputs.h - Types of a model's inputs --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_GRAPHINPUTS_H
#define GLOWISH_LIB_IMPORTER_ONNX_GRAPHINPUTS_H

#include "glowish/Importer/OnnxModel.h"
#include "llvm/ADT/StringSet.h"
#include <onnx/onnx_pb.h>

namespace glowish {

/// What binds the open dimensions of a model's inputs.
class InputTypes {
public:
  /// \p inputs: those of the model without its weights, in their order. Both
  /// outlive this.
  InputTypes(llvm::ArrayRef<const onnx::ValueInfoProto *> inputs,
             const ImportOptions &options);

  /// The type of \p input: what the options state for it, or what the model
  /// says, with its open dimensions bound by the options, then by the tensor
  /// that it will be given, then, if it is symbolic, by the tensor given to
  /// another input. An unbound one is an error that names the flags that bind
  /// it.
  llvm::Expected<Type> resolve(const onnx::ValueInfoProto &input) const;

  /// What is known of \p input before tensors are given.
  llvm::Expected<OnnxModel::StatedInput>
  getStated(const onnx::ValueInfoProto &input) const;

  /// Whether all symbolic dimensions have values; the error lists all that have
  /// none, with the flags that bind them.
  llvm::Error checkSymbols() const;

private:
  /// The extent of a dimension, nothing where it is open.
  llvm::Expected<std::optional<int64_t>>
  findExtent(const onnx::ValueInfoProto &input, unsigned index) const;
  llvm::Expected<int64_t> resolveDim(const onnx::ValueInfoProto &input,
                                     unsigned index, ElemKind kind) const;
  std::vector<std::string> getMissing(llvm::StringRef dim,
                                      const llvm::StringSet<> &known) const;

  llvm::ArrayRef<const onnx::ValueInfoProto *> inputs;
  const ImportOptions &options;
  /// Types of the tensors that inputs will be given, by the inputs' names.
  std::map<std::string, Type> given;
  /// Values of symbols: those of the options, and of the given tensors, of
  /// which the first that has one decides.
  std::map<std::string, int64_t> symbols;
};

/// The inputs of \p graph without the weights, which files of IR version 3
/// list among them.
std::vector<const onnx::ValueInfoProto *>
getDataInputs(const onnx::GraphProto &graph);

/// The constant that the options bind \p input to, checked against the model's
/// type; null where there is none.
llvm::Expected<std::shared_ptr<const Tensor>>
resolveConstantInput(const onnx::ValueInfoProto &input,
                     const ImportOptions &options);

/// Whether all inputs that the options name are inputs of the model; \p names
/// has those, in order, without the weights.
llvm::Error checkInputNames(const std::vector<std::string> &names,
                            const ImportOptions &options);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_GRAPHINPUTS_H
