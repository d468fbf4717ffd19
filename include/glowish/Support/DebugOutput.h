//===- DebugOutput.h - Debugging output by type -----------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_DEBUGOUTPUT_H
#define GLOWISH_SUPPORT_DEBUGOUTPUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace glowish {

/// A type of debugging output, as LLVM_DEBUG and DEBUG_WITH_TYPE state it.
struct DebugType {
  llvm::StringRef name;
  /// One-line description for -help.
  llvm::StringRef doc;
};

/// All types, for which the libraries write to llvm::dbgs().
llvm::ArrayRef<DebugType> getDebugTypes();

/// Enables the output of \p types; an error names one that does not exist.
///
/// LLVM's own option -debug-only does not exist where LLVM is built without
/// assertions.
llvm::Error enableDebugOutput(llvm::ArrayRef<std::string> types);

} // namespace glowish

#endif // GLOWISH_SUPPORT_DEBUGOUTPUT_H
