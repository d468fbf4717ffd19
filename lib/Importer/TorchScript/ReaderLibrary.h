//===- ReaderLibrary.h - The library that reads archives --------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_READERLIBRARY_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_READERLIBRARY_H

#include "TorchScript/Program.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace glowish::torchscript {

/// Reads the method \p method of the TorchScript archive \p bytes, forward() or
/// the only one where that is empty, which may have operators of
/// \p schemas beside those of libtorch. The library that does it, and with it
/// libtorch, is loaded at the first call: that which $GLOWISH_TORCH_READER
/// names, or the one beside this library.
llvm::Expected<std::shared_ptr<const torchscript::Program>>
readTorchProgram(llvm::StringRef bytes, llvm::StringRef method,
                 const std::vector<std::string> &schemas);
/// The path of that library, which need not exist.
std::string getTorchReaderPath();

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_READERLIBRARY_H
