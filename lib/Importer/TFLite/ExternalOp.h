//===- ExternalOp.h - External operators in TensorFlow Lite -----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_EXTERNALOP_H
#define GLOWISH_LIB_IMPORTER_TFLITE_EXTERNALOP_H

#include "TFLite/TFLiteOp.h"

namespace glowish::tflite {

/// The domain of external operators of TensorFlow Lite, whose custom operators
/// have a name alone.
inline constexpr llvm::StringLiteral tfliteDomain = "tflite";

/// Imports a custom operator that the options declare as an external one.
llvm::Error importExternalTFLiteOp(TFLiteOp &op);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_EXTERNALOP_H
