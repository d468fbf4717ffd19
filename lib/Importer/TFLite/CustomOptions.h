//===- CustomOptions.h - Options of custom operators ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_CUSTOMOPTIONS_H
#define GLOWISH_LIB_IMPORTER_TFLITE_CUSTOMOPTIONS_H

#include "TFLite/TFLiteOp.h"
#include "flatbuffers/flexbuffers.h"

namespace glowish::tflite {

/// The options of a custom operator, which \p op has as a FlexBuffers map, and
/// outlives; or an error. What is absent there reads as 0.
llvm::Expected<flexbuffers::Map> getCustomOptions(const TFLiteOp &op);

/// Option \p name, or an error unless it is from \p least to \p most.
llvm::Expected<int64_t> getOption(const flexbuffers::Map &options,
                                  const char *name, int64_t least,
                                  int64_t most);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_CUSTOMOPTIONS_H
