//===- Messages.h - Errors as text for tests --------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_MESSAGES_H
#define GLOWISH_TESTS_UNIT_MESSAGES_H

#include "llvm/Support/Error.h"
#include <string>

namespace glowish {

/// The message of \p error, "" for success.
inline std::string getMessage(llvm::Error error) {
  return llvm::toString(std::move(error));
}

/// The message of the error in \p expected, "" where there is a value.
template <typename T>
std::string getMessage(const llvm::Expected<T> &expected) = delete;
template <typename T> std::string getMessage(llvm::Expected<T> &&expected) {
  return getMessage(expected.takeError());
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_MESSAGES_H
