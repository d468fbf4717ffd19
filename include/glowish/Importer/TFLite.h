//===- TFLite.h - Import of TensorFlow Lite models --------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_TFLITE_H
#define GLOWISH_IMPORTER_TFLITE_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// Whether \p path is a TensorFlow Lite model: a file that ends in .tflite.
bool isTFLitePath(llvm::StringRef path);

/// Imports a TensorFlow Lite model (.tflite, schema version 3) as a module with
/// one function, "main". Placeholders have the names and (NHWC) shapes of the
/// file's tensors; quantized ones are plain integers. Variables keep their
/// values from run to run. All unsupported operators are listed in one error.
llvm::Expected<std::unique_ptr<Module>>
importTFLiteFile(llvm::StringRef path, const ImportOptions &options);

/// Like importTFLiteFile(), from memory at an address that is a multiple of 16;
/// \p name is used in messages.
llvm::Expected<std::unique_ptr<Module>>
importTFLite(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef name,
             const ImportOptions &options);

struct TFLiteOperatorInfo {
  std::string name;
  /// One-line description of what is not supported.
  std::string limit;
};
/// The operators that can be imported, sorted by name.
std::vector<TFLiteOperatorInfo> listTFLiteOperators();

} // namespace glowish

#endif // GLOWISH_IMPORTER_TFLITE_H
