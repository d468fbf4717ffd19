//===- ONNX.h - Import of ONNX models ---------------------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_ONNX_H
#define GLOWISH_IMPORTER_ONNX_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// Imports an ONNX model, binary or protobuf text, as a module with one
/// function, "main". Placeholders keep the model's names, order and (NCHW)
/// shapes. All unsupported operators are listed in one error.
llvm::Expected<std::unique_ptr<Module>>
importOnnxFile(llvm::StringRef path, const ImportOptions &options);

/// Like importOnnxFile(), from memory; \p name is used in messages.
llvm::Expected<std::unique_ptr<Module>>
importOnnx(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef name,
           const ImportOptions &options);

/// Returns the number that ONNX's TensorProto.DataType has for \p kind; none
/// for quantized kinds.
std::optional<int> getOnnxDataType(ElemKind kind);

/// Returns the ONNX operators that can be imported, sorted by name, with the
/// opset versions at which their importers change.
std::vector<std::pair<std::string, std::vector<int>>> listOnnxOperators();

} // namespace glowish

#endif // GLOWISH_IMPORTER_ONNX_H
