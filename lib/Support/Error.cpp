//===- Error.cpp - Errors that users see ----------------------------------===//

#include "glowish/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

using namespace glowish;

llvm::Error glowish::addContext(llvm::Error error, const llvm::Twine &prefix) {
  if (!error)
    return error;
  std::string text = prefix.str() + llvm::toString(std::move(error));
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

int glowish::reportError(llvm::Error error) {
  llvm::handleAllErrors(std::move(error), [](const llvm::ErrorInfoBase &info) {
    llvm::SmallVector<llvm::StringRef> lines;
    std::string text = info.message();
    llvm::StringRef(text).rtrim().split(lines, '\n');
    llvm::errs() << "error: ";
    for (size_t i = 0; i < lines.size(); ++i)
      llvm::errs() << (i ? "  " : "") << lines[i] << '\n';
  });
  return 1;
}
