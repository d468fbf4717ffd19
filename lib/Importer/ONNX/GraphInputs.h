//===- GraphInputs.h - Types of model inputs --------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_GRAPHINPUTS_H
#define GLOWISH_LIB_IMPORTER_ONNX_GRAPHINPUTS_H

#include "glowish/Importer/OnnxModel.h"
#include "llvm/ADT/StringSet.h"
#include <onnx/onnx_pb.h>
#include <set>

namespace glowish::onnximport {

/// Determines the types of a model's inputs.
class InputTypes {
public:
  /// \p inputs are those of the model, without weights, in order. Both
  /// arguments must outlive this.
  InputTypes(llvm::ArrayRef<const onnx::ValueInfoProto *> inputs,
             const ImportOptions &options);

  /// Returns the type of \p input: the one given in the options, or that of the
  /// model with unknown dimensions bound by the options, by the tensor that
  /// will be passed for the input, or, if symbolic, by a tensor passed for
  /// another input. It is an error if a dimension remains unbound; the message
  /// names the flags that bind it. A dimension that depends on symbols that
  /// have ranges in the options has an extent.
  llvm::Expected<Type> resolve(const onnx::ValueInfoProto &input) const;

  /// Returns what is known of \p input without tensors that will be passed.
  llvm::Expected<OnnxModel::StatedInput>
  getStated(const onnx::ValueInfoProto &input) const;

  /// Returns an error that lists all unbound symbolic dimensions and the flags
  /// that bind them, if there are any.
  llvm::Error checkSymbols() const;

  /// Describes two tensors of which each binds a symbol to another extent;
  /// empty if there are none. Not an error: models may use a symbol loosely.
  std::string findContradiction() const;

private:
  llvm::Error checkGivenRank(const onnx::ValueInfoProto &input) const;
  /// Whether a dimension depends on a symbol that has a range.
  bool isRanged(llvm::StringRef dim) const;
  /// Returns the extent of a dimension, the largest if each run states it, or
  /// nothing if it is unbound.
  llvm::Expected<std::optional<int64_t>>
  findExtent(const onnx::ValueInfoProto &input, unsigned index) const;
  /// Returns the extent of the dimension \p dim, which isRanged().
  llvm::Expected<Extent> parseExtent(llvm::StringRef dim) const;
  llvm::Expected<int64_t> resolveDim(const onnx::ValueInfoProto &input,
                                     unsigned index, ElemKind kind) const;
  std::vector<std::string> getMissing(llvm::StringRef dim,
                                      const llvm::StringSet<> &known) const;

  llvm::ArrayRef<const onnx::ValueInfoProto *> inputs;
  const ImportOptions &options;
  /// Types of the tensors that will be passed, by input name.
  std::map<std::string, Type> given;
  /// Values of symbols, from the options and from passed tensors. The first one
  /// takes precedence.
  std::map<std::string, int64_t> symbols;
};

/// Returns the inputs of \p graph without weights, which files of IR version 3
/// list among them.
std::vector<const onnx::ValueInfoProto *>
getDataInputs(const onnx::GraphProto &graph);

/// Returns the constant that replaces \p input according to the options,
/// checked against the model's type, or null.
llvm::Expected<std::shared_ptr<const Tensor>>
resolveConstantInput(const onnx::ValueInfoProto &input,
                     const ImportOptions &options);

/// Returns the symbols that the model names in dimensions of \p inputs.
std::set<std::string>
findSymbols(llvm::ArrayRef<const onnx::ValueInfoProto *> inputs);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_GRAPHINPUTS_H
