//===- Checksum.h - Checksums of weights and models -----------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_CHECKSUM_H
#define GLOWISH_SUPPORT_CHECKSUM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Endian.h"
#include <cstdint>

namespace glowish {

/// A 64-bit checksum against damage, not against malice. Over the
/// little-endian 8-byte words w of the bytes, the last one filled up with
/// zeros, four lanes in turn do
///   lane = (lane ^ w) * 0x9E3779B97F4A7C15, rotated left by 29,
/// starting at 1, 2, 3, 4; then the four lanes and the number of bytes go
/// through the same step into a lane that starts at 5. Each step is a
/// bijection of the lane: damage to a single lane is always seen. Bundles
/// recompute it in C.
inline uint64_t checksum64(llvm::ArrayRef<uint8_t> bytes) {
  auto step = [](uint64_t lane, uint64_t word) {
    lane = (lane ^ word) * 0x9E3779B97F4A7C15u;
    return lane << 29 | lane >> 35;
  };
  const uint8_t *data = bytes.data();
  size_t words = bytes.size() / 8, i = 0;
  auto load = [&](size_t word) {
    return llvm::support::endian::read64le(data + word * 8);
  };
  uint64_t lanes[4] = {1, 2, 3, 4};
  // Constant indices keep the lanes in registers.
  for (; i + 4 <= words; i += 4) {
    lanes[0] = step(lanes[0], load(i));
    lanes[1] = step(lanes[1], load(i + 1));
    lanes[2] = step(lanes[2], load(i + 2));
    lanes[3] = step(lanes[3], load(i + 3));
  }
  for (; i < words; ++i)
    lanes[i % 4] = step(lanes[i % 4], load(i));
  if (size_t rest = bytes.size() % 8) {
    uint64_t word = 0;
    for (size_t k = 0; k < rest; ++k)
      word |= uint64_t(data[i * 8 + k]) << (8 * k);
    lanes[i % 4] = step(lanes[i % 4], word);
  }
  uint64_t result = 5;
  for (uint64_t lane : lanes)
    result = step(result, lane);
  return step(result, bytes.size());
}

} // namespace glowish

#endif // GLOWISH_SUPPORT_CHECKSUM_H
