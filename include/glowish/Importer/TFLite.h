//===- TFLite.h - Import of TensorFlow Lite models --------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_TFLITE_H
#define GLOWISH_IMPORTER_TFLITE_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// Options of TensorFlow Lite models (-tflite-...).
struct TFLiteOptions final : FormatOptions {
  static constexpr llvm::StringLiteral formatName = "TensorFlow Lite";
  llvm::StringRef getFormatName() const override { return formatName; }
  void addTo(KeyHasher &key) const override;
  static const TFLiteOptions &of(const ImportOptions &options) {
    return getFormatOptions<TFLiteOptions>(options);
  }

  /// Quantized inputs and outputs of the model become floats.
  bool hasFloatInputs = false, hasFloatOutputs = false;
  /// Inputs and outputs of uint8 become int8: numbers less 128.
  bool turnsUInt8ToInt8 = false;
  /// Tensors are named tensorN, by their number in the file.
  bool renamesTensors = false;
  /// The softmax of bytes is computed in float.
  bool hasFloatSoftmax = false;
  /// The relative error that the scale of a bias may have, and whether a larger
  /// one is an error, not a warning.
  double biasScaleTolerance = 1e-6;
  bool refusesBiasScales = true;
};

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
