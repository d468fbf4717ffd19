//===- OnnxWeights.h - ONNX models with other weights -----------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_ONNXWEIGHTS_H
#define GLOWISH_IMPORTER_ONNXWEIGHTS_H

#include "glowish/Base/Tensor.h"
#include <map>

namespace glowish {

/// The file of an ONNX model whose initializers change.
class OnnxWeights {
public:
  /// Reads the model at \p path, binary or protobuf text.
  static llvm::Expected<OnnxWeights> read(llvm::StringRef path);
  OnnxWeights(OnnxWeights &&);
  ~OnnxWeights();

  bool has(llvm::StringRef name) const;
  /// Gives the initializer \p name the elements of \p value. The error names
  /// an initializer that is not there or has another type.
  llvm::Error set(llvm::StringRef name, const Tensor &value);

  /// Writes the model as one binary file, with external data of initializers
  /// in it; under a temporary name first. Nothing but the elements of
  /// initializers, and where they are, differs from what was read.
  llvm::Error write(llvm::StringRef path);

private:
  struct Contents;
  explicit OnnxWeights(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents;
};

} // namespace glowish

#endif // GLOWISH_IMPORTER_ONNXWEIGHTS_H
