//===- DetachedData.h - Weights that stay in a model's file -----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_DETACHEDDATA_H
#define GLOWISH_LIB_IMPORTER_ONNX_DETACHEDDATA_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace glowish::onnximport {

/// The location of external data that are in the model's own file, at an offset
/// from its beginning. No file has a name with a zero.
inline constexpr llvm::StringLiteral ownFileLocation =
    llvm::StringLiteral::withInnerNUL("model\0file");

/// Returns the binary ModelProto \p bytes with the raw data of large
/// initializers as external data of its own file, so that parsing it does not
/// copy them; none if there are few of these, or \p bytes is no such message.
std::optional<std::string> detachRawData(llvm::StringRef bytes);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_DETACHEDDATA_H
