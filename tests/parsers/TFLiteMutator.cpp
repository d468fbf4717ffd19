//===- TFLiteMutator.cpp - Mutations of FlatBuffers for libFuzzer ---------===//

#include "glowish/Support/Random.h"
#include "robustness/Extremes.h"
#include <cstddef>
#include <cstring>
#include <iterator>

using namespace glowish;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Half of the mutations change aligned words: offsets, lengths, extents,
/// indices and options. FlatBuffers' verifier refuses most changes of the size.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  Random random(seed);
  if (size < 8 || random.below(2))
    return LLVMFuzzerMutate(data, size, maxSize);
  static constexpr int32_t words[] = {0, 1,  -1, 2,   3,  4,  5,      7,
                                      8, 16, 97, 255, -2, 64, 1 << 20};
  for (uint64_t left = 1 + random.below(3); left > 0; --left) {
    uint8_t *at = data + 4 * random.below(size / 4);
    int32_t word = random.below(4) ? words[random.below(std::size(words))]
                                   : int32_t(robustness::pickExtreme(random));
    int32_t old;
    std::memcpy(&old, at, sizeof(old));
    switch (random.below(3)) {
    case 0: // near what is there
      word = int32_t(uint32_t(old) + uint32_t(random.below(9)) - 4);
      break;
    case 1: // another word of the file
      std::memcpy(&word, data + 4 * random.below(size / 4), sizeof(word));
      break;
    }
    std::memcpy(at, &word, sizeof(word));
  }
  return size;
}
