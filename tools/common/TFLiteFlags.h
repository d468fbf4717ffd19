//===- TFLiteFlags.h - Flags of TensorFlow Lite models ----------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_TFLITEFLAGS_H
#define GLOWISH_TOOLS_COMMON_TFLITEFLAGS_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// The values of the flags -tflite-..., or an error if one is given and \p path
/// is no TensorFlow Lite model.
llvm::Expected<TFLiteOptions> readTFLiteFlags(llvm::StringRef path);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_TFLITEFLAGS_H
