//===- Checksum.h - Checksums of weights and models -----------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_CHECKSUM_H
#define GLOWISH_SUPPORT_CHECKSUM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace glowish {

/// A 64-bit checksum against damage, not against malice. Over the
/// little-endian 8-byte words w of the bytes, the last one filled up with
/// zeros, four lanes in turn do
///   lane = (lane ^ w) * 0x9E3779B97F4A7C15, rotated left by 29,
/// starting at 1, 2, 3, 4; then the four lanes and the number of bytes go
/// through the same step into a lane that starts at 5. Each step is a
/// bijection of the lane: damage to a single lane is always seen. Bundles
/// recompute it in C.
///
/// The bytes may be given in pieces of any sizes.
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

  /// The checksum of all bytes; nothing can be added after.
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
  /// A multiple of four words.
  void addWhole(llvm::ArrayRef<uint8_t> bytes) {
    // Copies of the lanes stay in registers.
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
