//===- Numbers.h - Numbers as people read them ------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_NUMBERS_H
#define GLOWISH_SUPPORT_NUMBERS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace glowish {

/// A unit that bytes are counted in.
struct ByteUnit {
  llvm::StringLiteral name;
  double size;
};

/// The largest of bytes, KiB, MiB and GiB that \p bytes are at least one of.
ByteUnit chooseByteUnit(uint64_t bytes);
/// "17 bytes", "3.25 KiB".
std::string formatBytes(uint64_t bytes);
/// The same behind the exact number: "3328 bytes (3.25 KiB)".
std::string formatExactBytes(uint64_t bytes);
/// Three digits that count, of a number of at least 0: "0", "0.0125", "3.14",
/// "118", "25600".
std::string formatShort(double value);

} // namespace glowish

#endif // GLOWISH_SUPPORT_NUMBERS_H
