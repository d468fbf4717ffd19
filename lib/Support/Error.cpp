//===- Error.cpp - User-facing errors -------------------------------------===//

#include "glowish/Support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace glowish;

llvm::Error glowish::addContext(llvm::Error error, const llvm::Twine &prefix) {
  llvm::Error result = llvm::Error::success();
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    result = llvm::joinErrors(
        std::move(result),
        llvm::createStringError(llvm::inconvertibleErrorCode(),
                                prefix.str() + info.message()));
  });
  return result;
}

/// Escapes control characters: messages quote names from input files, which
/// could otherwise contain terminal escape sequences.
static void printEscaped(llvm::raw_ostream &os, llvm::StringRef line) {
  for (unsigned char c : line)
    if ((c < 0x20 && c != '\t') || c == 0x7f)
      os << "\\x" << llvm::hexdigit(c >> 4) << llvm::hexdigit(c & 15);
    else
      os << char(c);
}

int glowish::reportError(llvm::Error error) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    llvm::SmallVector<llvm::StringRef> lines;
    std::string message = info.message();
    llvm::StringRef(message).rtrim().split(lines, '\n');
    for (size_t i = 0; i < lines.size(); ++i) {
      os << (i ? "  " : "error: ");
      printEscaped(os, lines[i]);
      os << '\n';
    }
  });
  llvm::errs() << text;
  // If writing to stderr failed as well, the exit code has to be enough; the
  // stream's destructor would otherwise abort the process.
  llvm::errs().clear_error();
  return 1;
}
