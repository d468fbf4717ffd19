//===- OnnxWeights.h - Replace weights of ONNX models -----------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_ONNXWEIGHTS_H
#define GLOWISH_IMPORTER_ONNXWEIGHTS_H

#include "glowish/Importer/ParsedModel.h"

namespace glowish {

/// An ONNX model file whose initializers can be replaced. write() includes
/// external data.
class OnnxWeights final : public ModelWeights {
public:
  /// Reads the model at \p path, binary or protobuf text.
  static llvm::Expected<OnnxWeights> read(llvm::StringRef path);
  OnnxWeights(OnnxWeights &&);
  ~OnnxWeights() override;

  bool has(llvm::StringRef name) const override;
  llvm::Error set(llvm::StringRef name, const Tensor &value) override;
  llvm::Error write(llvm::StringRef path) override;

private:
  struct Contents;
  explicit OnnxWeights(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents;
};

} // namespace glowish

#endif // GLOWISH_IMPORTER_ONNXWEIGHTS_H
