//===- Checksum.h - Checksums of weights and models -------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_CHECKSUM_H
#define GLOWISH_SUPPORT_CHECKSUM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace glowish {

/// A non-cryptographic 64-bit checksum that detects corruption. The bytes are
/// read as little-endian 8-byte words, the last one zero-padded. Four lanes,
/// initially 1, 2, 3 and 4, take the words in turn; each word w updates its
/// lane by
///   lane = rotateLeft((lane ^ w) * 0x9E3779B97F4A7C15, 29)
/// Finally a fifth lane, initially 5, takes the four lanes and the number of
/// bytes by the same step. The step is a bijection of the lane, so corruption
/// that is confined to one lane is always detected. Generated bundles contain a
/// C implementation of the same algorithm.
///
/// The bytes may be added in chunks of any size.
class Checksum64 {
public:
  void add(llvm::ArrayRef<uint8_t> bytes) {
    size += bytes.size();
    while (!bytes.empty()) {
      if (numPending == 0 && bytes.size() >= sizeof(pending)) {
        size_t whole = bytes.size() / sizeof(pending) * sizeof(pending);
        addWhole(bytes.take_front(whole));
        bytes = bytes.drop_front(whole);
        continue;
      }
      size_t taken = std::min(sizeof(pending) - numPending, bytes.size());
      std::memcpy(pending + numPending, bytes.data(), taken);
      numPending += taken;
      bytes = bytes.drop_front(taken);
      if (numPending < sizeof(pending))
        continue;
      addWhole(pending);
      numPending = 0;
    }
  }

  /// Returns the checksum of all bytes; add() must not be called afterwards.
  uint64_t finish() {
    std::memset(pending + numPending, 0, sizeof(pending) - numPending);
    for (size_t i = 0; i * 8 < numPending; ++i)
      lanes[i] = step(lanes[i], load(pending + i * 8));
    uint64_t result = 5;
    for (uint64_t lane : lanes)
      result = step(result, lane);
    return step(result, size);
  }

private:
  static uint64_t step(uint64_t lane, uint64_t word) {
    lane = (lane ^ word) * 0x9E3779B97F4A7C15u;
    return lane << 29 | lane >> 35;
  }
  static uint64_t load(const uint8_t *bytes) {
    return llvm::support::endian::read64le(bytes);
  }
  /// Adds \p bytes, whose number is a multiple of 32.
  void addWhole(llvm::ArrayRef<uint8_t> bytes) {
    // Local copies let the compiler keep the lanes in registers.
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
    const uint8_t *data = bytes.data();
    for (const uint8_t *end = data + bytes.size(); data != end; data += 32) {
      a = step(a, load(data));
      b = step(b, load(data + 8));
      c = step(c, load(data + 16));
      d = step(d, load(data + 24));
    }
    lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
  }

  uint64_t lanes[4] = {1, 2, 3, 4};
  uint64_t size = 0;
  uint8_t pending[32];
  size_t numPending = 0;
};

inline uint64_t checksum64(llvm::ArrayRef<uint8_t> bytes) {
  Checksum64 checksum;
  checksum.add(bytes);
  return checksum.finish();
}

} // namespace glowish

#endif // GLOWISH_SUPPORT_CHECKSUM_H
