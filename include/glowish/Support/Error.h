//===- Error.h - User-facing errors -----------------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_ERROR_H
#define GLOWISH_SUPPORT_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace glowish {

/// Returns an error with \p message. Messages quote names from input files,
/// which could have sequences that terminals obey: escapeControls
/// (Support/Escape.h) is applied to all of it.
llvm::Error makeErrorOfText(llvm::StringRef message);

/// Returns an error with the message formatv(\p format, \p args...), of which
/// makeErrorOfText says what becomes of control characters.
template <typename... Args>
llvm::Error makeError(const char *format, Args &&...args) {
  return makeErrorOfText(
      llvm::formatv(format, std::forward<Args>(args)...).str());
}

/// Prepends \p prefix to the message of \p error; success is passed through.
llvm::Error addContext(llvm::Error error, const llvm::Twine &prefix);

/// Prints each error to stderr as `error: MESSAGE`, with continuation lines of
/// the message indented, and returns the exit code 1.
int reportError(llvm::Error error);

#define GLOWISH_CONCAT_(A, B) A##B
#define GLOWISH_CONCAT(A, B) GLOWISH_CONCAT_(A, B)

/// `GLOWISH_ASSIGN_OR_RETURN(auto x, expression)` declares x with the value of
/// the llvm::Expected `expression`, or returns its error from the function.
#define GLOWISH_ASSIGN_OR_RETURN(DECLARATION, ...)                             \
  auto GLOWISH_CONCAT(expected, __LINE__) = (__VA_ARGS__);                     \
  if (!GLOWISH_CONCAT(expected, __LINE__))                                     \
    return GLOWISH_CONCAT(expected, __LINE__).takeError();                     \
  DECLARATION = std::move(*GLOWISH_CONCAT(expected, __LINE__))

/// Returns from the function if the llvm::Error expression is a failure.
#define GLOWISH_RETURN_IF_ERROR(...)                                           \
  do {                                                                         \
    if (llvm::Error GLOWISH_CONCAT(error, __LINE__) = (__VA_ARGS__))           \
      return GLOWISH_CONCAT(error, __LINE__);                                  \
  } while (false)

} // namespace glowish

#endif // GLOWISH_SUPPORT_ERROR_H
