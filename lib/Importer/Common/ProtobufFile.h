//===- ProtobufFile.h - Models in protobufs of files ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_PROTOBUFFILE_H
#define GLOWISH_LIB_IMPORTER_COMMON_PROTOBUFFILE_H

#include "glowish/Support/Error.h"
#include <google/protobuf/message.h>

namespace glowish {

/// Whether \p bytes look like a protobuf in text: they begin with the name of
/// a field, and binary ones with the tag of one, which is no letter.
bool looksLikeText(llvm::StringRef bytes);

/// Parses \p bytes as a binary \p message.
bool parseBinary(llvm::StringRef bytes, google::protobuf::Message &message);

/// Parses \p bytes as a \p message in text or in binary. \p what: the file, as
/// "an ONNX model"; \p advice: what to do about files over protobuf's limit.
llvm::Error parseProtobuf(llvm::StringRef bytes,
                          google::protobuf::Message &message,
                          llvm::StringRef what, llvm::StringRef advice);

/// \p name as a message can have it: hostile ones are long, or not text.
std::string quote(llvm::StringRef name);

/// \p message without what hostile names bring into it: control characters,
/// lines that are not of a list of nodes ("node ..."), and more than anybody
/// would read.
std::string cleanMessage(llvm::StringRef message);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_PROTOBUFFILE_H
