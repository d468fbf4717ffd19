//===- Json.h - Fields of JSON objects --------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHEXPORT_JSON_H
#define GLOWISH_LIB_IMPORTER_TORCHEXPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace glowish::torchexport {

/// Parses \p text. An error if it is corrupt or nested too deeply.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// The field \p key of \p object, which must be there and of this type.
llvm::Expected<const llvm::json::Object *>
getObject(const llvm::json::Object &object, llvm::StringRef key);
llvm::Expected<const llvm::json::Array *>
getArray(const llvm::json::Object &object, llvm::StringRef key);
llvm::Expected<llvm::StringRef> getString(const llvm::json::Object &object,
                                          llvm::StringRef key);
llvm::Expected<int64_t> getInteger(const llvm::json::Object &object,
                                   llvm::StringRef key);

/// Element \p value of an array, an object.
llvm::Expected<const llvm::json::Object *>
asObject(const llvm::json::Value &value);

/// A union: an object of which one member is set; the others are absent or
/// null.
struct JsonMember {
  llvm::StringRef name;
  const llvm::json::Value *value;
};
llvm::Expected<JsonMember> getMember(const llvm::json::Value &value);
llvm::Expected<JsonMember> getMember(const llvm::json::Object &object);

/// Returns what \p graph, of the schema, states of the tensor \p name; null if
/// there is nothing.
const llvm::json::Object *findTensorMeta(const llvm::json::Object &graph,
                                         llvm::StringRef name);

} // namespace glowish::torchexport

#endif // GLOWISH_LIB_IMPORTER_TORCHEXPORT_JSON_H
