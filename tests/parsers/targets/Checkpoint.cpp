//===- Checkpoint.cpp - Checkpoints of a training -------------------------===//

#include "model-trainer/Checkpoint.h"
#include "glowish/Support/Checksum.h"
#include "parsers/Fuzzing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

using namespace glowish;
using namespace glowish::parsers;

/// The file as it is, and with the checksum that fits what follows it.
GLOWISH_PARSER_FUZZER(checkpoint) {
  accept(parseCheckpoint(input, "checkpoint"));
  constexpr size_t checksumAt = 16, headerSize = checksumAt + 8;
  if (input.size() < headerSize)
    return;
  std::string bytes = input.str();
  llvm::support::endian::write64le(
      &bytes[checksumAt],
      checksum64(llvm::arrayRefFromStringRef(input.drop_front(headerSize))));
  accept(parseCheckpoint(bytes, "checkpoint"));
}
