//===- Checksum.cpp - XXH64 of bytes in chunks ----------------------------===//

#include "glowish/Support/Checksum.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <cstring>

using namespace glowish;
using llvm::support::endian::read32le;
using llvm::support::endian::read64le;

static constexpr uint64_t prime1 = 0x9E3779B185EBCA87;
static constexpr uint64_t prime2 = 0xC2B2AE3D27D4EB4F;
static constexpr uint64_t prime3 = 0x165667B19E3779F9;
static constexpr uint64_t prime4 = 0x85EBCA77C2B2AE63;
static constexpr uint64_t prime5 = 0x27D4EB2F165667C5;

static uint64_t mixWord(uint64_t lane, uint64_t word) {
  return llvm::rotl(lane + word * prime2, 31) * prime1;
}

Checksum64::Checksum64() : lanes{prime1 + prime2, prime2, 0, -prime1} {}

void Checksum64::addStripes(llvm::ArrayRef<uint8_t> bytes) {
  // Local copies let the compiler keep the lanes in registers.
  uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
  const uint8_t *data = bytes.data();
  for (const uint8_t *end = data + bytes.size(); data != end; data += 32) {
    a = mixWord(a, read64le(data));
    b = mixWord(b, read64le(data + 8));
    c = mixWord(c, read64le(data + 16));
    d = mixWord(d, read64le(data + 24));
  }
  lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
}

void Checksum64::add(llvm::ArrayRef<uint8_t> bytes) {
  size += bytes.size();
  while (!bytes.empty()) {
    if (numPending == 0 && bytes.size() >= sizeof(pending)) {
      size_t whole = bytes.size() / sizeof(pending) * sizeof(pending);
      addStripes(bytes.take_front(whole));
      bytes = bytes.drop_front(whole);
      continue;
    }
    size_t taken = std::min(sizeof(pending) - numPending, bytes.size());
    std::memcpy(pending + numPending, bytes.data(), taken);
    numPending += taken;
    bytes = bytes.drop_front(taken);
    if (numPending < sizeof(pending))
      continue;
    addStripes(pending);
    numPending = 0;
  }
}

uint64_t Checksum64::finish() {
  uint64_t hash = prime5;
  if (size >= sizeof(pending)) {
    hash = llvm::rotl(lanes[0], 1) + llvm::rotl(lanes[1], 7) +
           llvm::rotl(lanes[2], 12) + llvm::rotl(lanes[3], 18);
    for (uint64_t lane : lanes)
      hash = (hash ^ mixWord(0, lane)) * prime1 + prime4;
  }
  hash += size;
  const uint8_t *at = pending, *end = pending + numPending;
  for (; end - at >= 8; at += 8)
    hash = llvm::rotl(hash ^ mixWord(0, read64le(at)), 27) * prime1 + prime4;
  if (end - at >= 4) {
    hash = llvm::rotl(hash ^ read32le(at) * prime1, 23) * prime2 + prime3;
    at += 4;
  }
  for (; at != end; ++at)
    hash = llvm::rotl(hash ^ *at * prime5, 11) * prime1;
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}
