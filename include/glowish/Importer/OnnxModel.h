//===- OnnxModel.h - ONNX models that are imported often ------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_ONNXMODEL_H
#define GLOWISH_IMPORTER_ONNXMODEL_H

#include "glowish/Importer/ONNX.h"

namespace glowish {

/// An ONNX model that was read once, to be imported for several values of its
/// symbolic dimensions. Errors begin with its name.
class OnnxModel {
public:
  /// A file, binary or protobuf text.
  static llvm::Expected<OnnxModel> read(llvm::StringRef path);
  /// \p bytes; \p name is used in messages, external data are in \p folder
  /// (empty: there are none).
  static llvm::Expected<OnnxModel>
  parse(llvm::StringRef bytes, llvm::StringRef name, llvm::StringRef folder);
  OnnxModel(OnnxModel &&);
  OnnxModel &operator=(OnnxModel &&);
  ~OnnxModel();

  /// Makes a module with one function, "main". Placeholders keep the model's
  /// names, order and (NCHW) shapes. All operators that are not supported are
  /// listed in one error. The modules of a model share its weights.
  llvm::Expected<std::unique_ptr<Module>> import(const ImportOptions &options);
  /// The same, the last time: the weights go when the module does, and this
  /// is empty.
  llvm::Expected<std::unique_ptr<Module>>
  importLast(const ImportOptions &options);

  /// Whether the dimension of an input is \p symbol, or depends on it.
  bool hasSymbol(llvm::StringRef symbol) const;

  struct StatedInput {
    std::string name;
    ElemKind kind;
    /// Open dimensions are empty.
    std::vector<std::optional<int64_t>> shape;
  };
  /// The inputs, weights left out, as the model and \p options state them.
  llvm::Expected<std::vector<StatedInput>>
  getStatedInputs(const ImportOptions &options) const;

  struct Input {
    std::string name;
    Type type;
  };
  /// The inputs, weights left out, with the types that \p options give them.
  llvm::Expected<std::vector<Input>>
  getInputs(const ImportOptions &options) const;

private:
  struct Contents;
  explicit OnnxModel(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents;
};

} // namespace glowish

#endif // GLOWISH_IMPORTER_ONNXMODEL_H
