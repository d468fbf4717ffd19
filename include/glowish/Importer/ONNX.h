//===- ONNX.h - ONNX models to graphs -------------------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_ONNX_H
#define GLOWISH_IMPORTER_ONNX_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// Reads an ONNX model, binary or protobuf text, and makes a module with one
/// function, "main". Placeholders keep the model's names, order and (NCHW)
/// shapes. All operators that are not supported are listed in one error.
llvm::Expected<std::unique_ptr<Module>>
importOnnxFile(llvm::StringRef path, const ImportOptions &options);

/// The same from bytes; \p name is used in messages.
llvm::Expected<std::unique_ptr<Module>>
importOnnx(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef name,
           const ImportOptions &options);

/// A TensorProto file (.pb), as ONNX's own tests have them.
llvm::Expected<Tensor> readTensorProto(llvm::StringRef path);

/// The ONNX operators that can be imported, with the opset since which each
/// form is known, sorted by name.
std::vector<std::pair<std::string, std::vector<int>>> listOnnxOperators();

} // namespace glowish

#endif // GLOWISH_IMPORTER_ONNX_H
