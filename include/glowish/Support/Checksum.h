//===- Checksum.h - Checksums of weights and models -------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_CHECKSUM_H
#define GLOWISH_SUPPORT_CHECKSUM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/xxhash.h"
#include <cstdint>

namespace glowish {

/// XXH64 of \p bytes with seed 0, a non-cryptographic hash that detects
/// corruption. Generated bundles contain a C implementation of it.
inline uint64_t checksum64(llvm::ArrayRef<uint8_t> bytes) {
  return llvm::xxHash64(bytes);
}

/// The same of bytes that are added in chunks of any size: llvm::xxHash64 takes
/// them as one array.
class Checksum64 {
public:
  Checksum64();
  void add(llvm::ArrayRef<uint8_t> bytes);
  /// Returns the checksum of all bytes; add() must not be called afterwards.
  uint64_t finish();

private:
  /// Adds \p bytes, whose number is a multiple of sizeof(pending).
  void addStripes(llvm::ArrayRef<uint8_t> bytes);

  uint64_t lanes[4];
  uint64_t size = 0;
  uint8_t pending[32];
  size_t numPending = 0;
};

} // namespace glowish

#endif // GLOWISH_SUPPORT_CHECKSUM_H
