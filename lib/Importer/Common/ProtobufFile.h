//===- ProtobufFile.h - Parsing of protobuf files ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_PROTOBUFFILE_H
#define GLOWISH_LIB_IMPORTER_COMMON_PROTOBUFFILE_H

#include "Common/Messages.h"
#include "glowish/Support/Error.h"
#include <google/protobuf/message.h>

namespace glowish {

/// Whether \p bytes look like protobuf text, which begins with the name of a
/// field. The first byte of a binary model, a tag, is no letter.
bool looksLikeText(llvm::StringRef bytes);

/// Parses \p bytes as a binary \p message.
bool parseBinary(llvm::StringRef bytes, google::protobuf::Message &message);

/// Parses \p bytes as a \p message in text or binary format. \p what describes
/// the file ("an ONNX model"); \p advice is appended to the error for files
/// over protobuf's size limit.
llvm::Error parseProtobuf(llvm::StringRef bytes,
                          google::protobuf::Message &message,
                          llvm::StringRef what, llvm::StringRef advice);

/// Returns an error for the first field anywhere in \p message that its type
/// does not declare, and that \p isKnown, given the name of a type and the
/// number of a field, does not accept. \p schema says whose fields are expected
/// ("ONNX 1.23"). Where \p describe names a message that the field is in, the
/// error begins with that.
llvm::Error checkUnknownFields(
    const google::protobuf::Message &message, llvm::StringRef schema,
    llvm::function_ref<bool(llvm::StringRef type, int number)> isKnown,
    llvm::function_ref<std::string(const google::protobuf::Message &)>
        describe);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_PROTOBUFFILE_H
