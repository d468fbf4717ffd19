//===- Error.h - User-facing errors -----------------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_ERROR_H
#define GLOWISH_SUPPORT_ERROR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include <string>
#include <type_traits>

namespace glowish {

/// Returns an error with \p message. Messages quote names from input files,
/// which could have sequences that terminals obey: escapeControls
/// (Support/Escape.h) is applied to all of it.
llvm::Error makeErrorOfText(llvm::StringRef message);

/// An argument of makeError: a reference to a value that formatv can print.
/// Most are texts and integers, which need no code of their own in each file
/// that makes errors.
class ErrorArgument {
public:
  ErrorArgument(const char *text) : ErrorArgument(llvm::StringRef(text)) {}
  ErrorArgument(const std::string &text)
      : ErrorArgument(llvm::StringRef(text)) {}
  ErrorArgument(llvm::StringRef text) : text(text), print(printText) {}
  template <typename T>
    requires(std::is_integral_v<T> && sizeof(T) > 1)
  ErrorArgument(T value)
      : integer(value),
        print(std::is_signed_v<T> ? printSigned : printUnsigned) {}
  template <typename T>
    requires((!std::is_integral_v<std::remove_cvref_t<T>> ||
              sizeof(std::remove_cvref_t<T>) == 1) &&
             !std::is_convertible_v<T, llvm::StringRef>)
  ErrorArgument(T &&value)
      : value(const_cast<void *>(static_cast<const void *>(&value))),
        print(printValue<T>) {}

  void format(llvm::raw_ostream &os, llvm::StringRef options) const {
    print(*this, os, options);
  }

private:
  using Printer = void(const ErrorArgument &argument, llvm::raw_ostream &os,
                       llvm::StringRef options);
  static Printer printText, printSigned, printUnsigned;
  template <typename T>
  static void printValue(const ErrorArgument &argument, llvm::raw_ostream &os,
                         llvm::StringRef options) {
    llvm::support::detail::build_format_adapter(
        static_cast<T &&>(
            *static_cast<std::remove_reference_t<T> *>(argument.value)))
        .format(os, options);
  }

  llvm::StringRef text;
  uint64_t integer = 0;
  void *value = nullptr;
  Printer *print;
};

/// Returns an error with the message formatv(\p format, \p arguments...), of
/// which makeErrorOfText says what becomes of control characters.
llvm::Error makeErrorOf(const char *format,
                        llvm::ArrayRef<ErrorArgument> arguments);
template <typename... Args>
llvm::Error makeError(const char *format, Args &&...arguments) {
  return makeErrorOf(format, {ErrorArgument(std::forward<Args>(arguments))...});
}

/// Prepends \p prefix to the message of \p error; success is passed through.
llvm::Error addContext(llvm::Error error, const llvm::Twine &prefix);
/// Prepends \p prefix to the error of \p value; a value is passed through.
template <typename T>
llvm::Expected<T> addContext(llvm::Expected<T> value,
                             const llvm::Twine &prefix) {
  if (value)
    return value;
  return addContext(value.takeError(), prefix);
}

/// Prints each error to stderr as `error: MESSAGE`, with continuation lines of
/// the message indented, and returns the exit code 1.
int reportError(llvm::Error error);

/// `GLOWISH_ASSIGN_OR_RETURN(auto x, expression)` declares x with the value of
/// the llvm::Expected `expression`, or returns its error from the function;
/// with `x` it assigns. It is one statement, so that it may follow an `if`
/// without braces, by a statement expression of GCC and Clang.
#define GLOWISH_ASSIGN_OR_RETURN(DECLARATION, ...)                             \
  DECLARATION = __extension__({                                                \
    auto glowishExpected = (__VA_ARGS__);                                      \
    if (!glowishExpected)                                                      \
      return glowishExpected.takeError();                                      \
    std::move(*glowishExpected);                                               \
  })

/// Returns from the function if the llvm::Error expression is a failure.
#define GLOWISH_RETURN_IF_ERROR(...)                                           \
  do {                                                                         \
    if (llvm::Error glowishError = (__VA_ARGS__))                              \
      return glowishError;                                                     \
  } while (false)

} // namespace glowish

#endif // GLOWISH_SUPPORT_ERROR_H
