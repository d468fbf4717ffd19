//===- Error.cpp - User-facing errors -------------------------------------===//

#include "glowish/Support/Error.h"
#include "glowish/Support/Escape.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace glowish;

llvm::Error glowish::makeErrorOfText(llvm::StringRef message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 escapeControls(message));
}

llvm::Error glowish::addContext(llvm::Error error, const llvm::Twine &prefix) {
  llvm::Error result = llvm::Error::success();
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    result = llvm::joinErrors(std::move(result),
                              makeErrorOfText(prefix.str() + info.message()));
  });
  return result;
}

int glowish::reportError(llvm::Error error) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    llvm::SmallVector<llvm::StringRef> lines;
    // Errors of libraries are not escaped yet.
    std::string message = escapeControls(info.message());
    llvm::StringRef(message).rtrim().split(lines, '\n');
    for (size_t i = 0; i < lines.size(); ++i)
      os << (i ? "  " : "error: ") << lines[i] << '\n';
  });
  llvm::errs() << text;
  // If writing to stderr failed as well, the exit code has to be enough; the
  // stream's destructor would otherwise abort the process.
  llvm::errs().clear_error();
  return 1;
}
