//===- Error.h - Errors that users see ------------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_ERROR_H
#define GLOWISH_SUPPORT_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace glowish {

/// An error with the message formatv(\p format, \p args...).
template <typename... Args>
llvm::Error makeError(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      llvm::formatv(format, std::forward<Args>(args)...).str());
}

/// \p error with \p prefix before its message; success stays success.
llvm::Error addContext(llvm::Error error, const llvm::Twine &prefix);

/// Prints each error as `error: MESSAGE` on stderr, further lines of a message
/// indented, and returns the exit code 1.
int reportError(llvm::Error error);

#define GLOWISH_CONCAT_(A, B) A##B
#define GLOWISH_CONCAT(A, B) GLOWISH_CONCAT_(A, B)

/// `GLOWISH_TRY(auto x, expression)`: x is the value of an Expected, or the
/// error is returned.
#define GLOWISH_TRY(DECLARATION, ...)                                          \
  auto GLOWISH_CONCAT(expected, __LINE__) = (__VA_ARGS__);                     \
  if (!GLOWISH_CONCAT(expected, __LINE__))                                     \
    return GLOWISH_CONCAT(expected, __LINE__).takeError();                     \
  DECLARATION = std::move(*GLOWISH_CONCAT(expected, __LINE__))

/// Returns the error of an llvm::Error expression, if it is one.
#define GLOWISH_CHECK(...)                                                     \
  do {                                                                         \
    if (llvm::Error GLOWISH_CONCAT(error, __LINE__) = (__VA_ARGS__))           \
      return GLOWISH_CONCAT(error, __LINE__);                                  \
  } while (false)

} // namespace glowish

#endif // GLOWISH_SUPPORT_ERROR_H
