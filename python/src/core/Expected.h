//===- Expected.h - From the library's errors to exceptions -----*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_EXPECTED_H
#define GLOWISH_PYTHON_CORE_EXPECTED_H

#include "core/Failure.h"
#include "glowish/Support/Error.h"

namespace glowish::python {

/// Returns \p message with settings spelled as keywords: max_extent='y,7'.
std::string spellAsKeywords(llvm::StringRef message);

/// Throws \p error, unless it is a success.
inline void check(llvm::Error error,
                  Failure::Kind kind = Failure::Kind::Compiler) {
  if (error)
    throw Failure{kind, spellAsKeywords(llvm::toString(std::move(error)))};
}

/// The value, or throws the error.
template <typename T>
T take(llvm::Expected<T> value, Failure::Kind kind = Failure::Kind::Compiler) {
  if (!value)
    throw Failure{kind, spellAsKeywords(llvm::toString(value.takeError()))};
  return std::move(*value);
}

/// Throws what the library's errors would be made of.
template <typename... Args>
[[noreturn]] void fail(Failure::Kind kind, const char *format, Args &&...args) {
  throw Failure{kind, llvm::formatv(format, std::forward<Args>(args)...).str()};
}

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_EXPECTED_H
