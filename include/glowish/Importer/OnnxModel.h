//===- OnnxModel.h - ONNX models for repeated import ------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_ONNXMODEL_H
#define GLOWISH_IMPORTER_ONNXMODEL_H

#include "glowish/Importer/ONNX.h"

namespace glowish {

/// An ONNX model that is parsed once and imported several times, for different
/// values of its symbolic dimensions. Errors begin with its name.
class OnnxModel {
public:
  /// Reads a file, binary or protobuf text.
  static llvm::Expected<OnnxModel> read(llvm::StringRef path);
  /// Parses \p bytes. \p name is used in messages; \p folder contains external
  /// data, empty if there are none.
  static llvm::Expected<OnnxModel>
  parse(llvm::StringRef bytes, llvm::StringRef name, llvm::StringRef folder);
  OnnxModel(OnnxModel &&);
  OnnxModel &operator=(OnnxModel &&);
  ~OnnxModel();

  /// Imports the model as a module with one function, "main". Placeholders keep
  /// the model's names, order and (NCHW) shapes. All unsupported operators are
  /// listed in one error. The modules of a model share its weights.
  llvm::Expected<std::unique_ptr<Module>> import(const ImportOptions &options);
  /// Like import(), but transfers the weights to the module and leaves this
  /// object empty.
  llvm::Expected<std::unique_ptr<Module>>
  importLast(const ImportOptions &options);

  /// Whether a dimension of an input is \p symbol or an expression of it.
  bool hasSymbol(llvm::StringRef symbol) const;

  struct StatedInput {
    std::string name;
    ElemKind kind;
    /// Dimensions without a value are empty.
    std::vector<std::optional<int64_t>> shape;
  };
  /// Returns the inputs, except weights, as declared by the model and
  /// \p options.
  llvm::Expected<std::vector<StatedInput>>
  getStatedInputs(const ImportOptions &options) const;

  /// An input or output as the model declares it.
  struct DeclaredValue {
    std::string name;
    /// None if the model states none, or one that tensors don't have.
    std::optional<ElemKind> kind;
    /// Numbers, symbols and expressions of them; empty where nothing is stated.
    /// None if the model does not even state the rank.
    std::optional<std::vector<std::string>> dims;
  };
  /// Returns the inputs, except weights, and the outputs in the model's order.
  std::vector<DeclaredValue> getDeclaredInputs() const;
  std::vector<DeclaredValue> getDeclaredOutputs() const;

  struct Input {
    std::string name;
    Type type;
    /// InputExtents::dims.
    std::vector<std::string> dims;
  };
  /// Returns the inputs, except weights, with their types under \p options.
  llvm::Expected<std::vector<Input>>
  getInputs(const ImportOptions &options) const;

private:
  struct Contents;
  explicit OnnxModel(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents;
};

} // namespace glowish

#endif // GLOWISH_IMPORTER_ONNXMODEL_H
