//===- OnnxModel.h - ONNX models for repeated import ------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_ONNXMODEL_H
#define GLOWISH_IMPORTER_ONNXMODEL_H

#include "glowish/Importer/ONNX.h"
#include "glowish/Importer/ParsedModel.h"

namespace glowish {

/// An ONNX model that is parsed once. Placeholders keep the model's names,
/// order and (NCHW) shapes. All unsupported operators are listed in one error.
class OnnxModel final : public ParsedModel {
public:
  /// Reads a file, binary or protobuf text.
  static llvm::Expected<OnnxModel> read(llvm::StringRef path);
  /// Parses \p bytes. \p name is used in messages; \p folder contains external
  /// data, empty if there are none.
  static llvm::Expected<OnnxModel>
  parse(llvm::StringRef bytes, llvm::StringRef name, llvm::StringRef folder);
  OnnxModel(OnnxModel &&);
  OnnxModel &operator=(OnnxModel &&);
  ~OnnxModel() override;

  llvm::Expected<std::unique_ptr<Module>>
  import(const ImportOptions &options) override;
  llvm::Expected<std::unique_ptr<Module>>
  importLast(const ImportOptions &options) override;
  bool hasSymbol(llvm::StringRef symbol) const override;
  llvm::Expected<std::vector<StatedInput>>
  getStatedInputs(const ImportOptions &options) const override;
  std::vector<DeclaredValue> getDeclaredInputs() const override;
  std::vector<DeclaredValue> getDeclaredOutputs() const override;
  llvm::Expected<std::vector<Input>>
  getInputs(const ImportOptions &options) const override;

private:
  struct Contents;
  explicit OnnxModel(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents;
};

} // namespace glowish

#endif // GLOWISH_IMPORTER_ONNXMODEL_H
