//===- OnnxWeights.h - Replace weights of ONNX models -----------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_ONNXWEIGHTS_H
#define GLOWISH_IMPORTER_ONNXWEIGHTS_H

#include "glowish/Base/Tensor.h"
#include <map>

namespace glowish {

/// An ONNX model file whose initializers can be replaced.
class OnnxWeights {
public:
  /// Reads the model at \p path, binary or protobuf text.
  static llvm::Expected<OnnxWeights> read(llvm::StringRef path);
  OnnxWeights(OnnxWeights &&);
  ~OnnxWeights();

  bool has(llvm::StringRef name) const;
  /// Replaces the elements of the initializer \p name. The error names an
  /// initializer that does not exist or has another type.
  llvm::Error set(llvm::StringRef name, const Tensor &value);

  /// Writes the model as one binary file, including external data. Apart from
  /// the contents and location of initializers, the model is as read. The file
  /// is written under a temporary name first.
  llvm::Error write(llvm::StringRef path);

private:
  struct Contents;
  explicit OnnxWeights(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents;
};

} // namespace glowish

#endif // GLOWISH_IMPORTER_ONNXWEIGHTS_H
