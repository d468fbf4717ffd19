//===- CustomOptions.h - Options of custom operators ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_CUSTOMOPTIONS_H
#define GLOWISH_LIB_IMPORTER_TFLITE_CUSTOMOPTIONS_H

#include "TFLite/TFLiteOp.h"
#include "flatbuffers/flexbuffers.h"

namespace glowish::tflite {

/// The options of a custom operator, which has them as a FlexBuffers map and
/// outlives them. Which are read is noted, as one that is set and not read is
/// an error.
class CustomOptions {
public:
  static llvm::Expected<CustomOptions> read(const TFLiteOp &op);

  /// Returns option \p name; what is absent reads as 0.
  flexbuffers::Reference get(const char *name) const {
    op->noteRead(name);
    return map[name];
  }
  /// Returns option \p name, or an error unless it is from \p least to \p most.
  llvm::Expected<int64_t> getInt(const char *name, int64_t least,
                                 int64_t most) const;
  std::vector<std::string> getNames() const;

private:
  CustomOptions(const TFLiteOp &op, flexbuffers::Map map) : op(&op), map(map) {}

  const TFLiteOp *op;
  flexbuffers::Map map;
};

/// Returns an error if \p op has options of a custom operator that are set and
/// that \p isRead does not account for.
llvm::Error checkCustomOptions(const TFLiteOp &op, FieldReads isRead);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_CUSTOMOPTIONS_H
