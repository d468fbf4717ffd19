//===- TorchArchives.cpp - Archives of PyTorch to mutate ------------------===//

#include "TorchArchives.h"
#include "Mutations.h"
#include "llvm/ADT/StringRef.h"
#include <cstring>

using namespace glowish;
using namespace glowish::robustness;

/// Alters a number of a pickle: an operand of BININT1, BININT2, BININT or of a
/// length. Sizes, strides and offsets of tensors are among them.
static void mutatePickle(std::string &bytes, Random &random) {
  constexpr llvm::StringLiteral opcodes = "KMJX";
  constexpr size_t sizes[] = {1, 2, 4, 4};
  constexpr int32_t numbers[] = {0,   1,   -1,      2,       3,        7,
                                 255, 256, 1 << 20, 1 << 30, INT32_MAX};
  std::vector<std::pair<size_t, size_t>> places;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (size_t k = opcodes.find(bytes[i]); k != llvm::StringRef::npos)
      if (i + 1 + sizes[k] <= bytes.size())
        places.emplace_back(i + 1, sizes[k]);
  if (places.empty() || random.below(3) == 0)
    return mutateBytes(bytes, random);
  auto [at, size] = places[random.below(places.size())];
  int32_t number = numbers[random.below(std::size(numbers))];
  if (random.below(2))
    number = int32_t(uint8_t(bytes[at])) + int32_t(random.below(5)) - 2;
  std::memcpy(&bytes[at], &number, size);
}

/// Changes the contents of the entry \p name.
static void mutateContents(llvm::StringRef name, std::string &bytes,
                           Random &random) {
  if (name.ends_with(".py") || name.ends_with("version"))
    mutateText(bytes, random);
  else if (name.ends_with(".pkl"))
    mutatePickle(bytes, random);
  else if (random.below(2))
    bytes.resize(random.below(2 * bytes.size() + 2));
  else
    mutateBytes(bytes, random);
}

void glowish::robustness::mutateEntries(ArchiveEntries &entries,
                                        Random &random) {
  if (entries.empty())
    return;
  size_t i = random.below(entries.size());
  // Code is what most of the reader is for.
  for (size_t k = 0;
       k < 2 && !llvm::StringRef(entries[i].first).ends_with(".py"); ++k)
    i = random.below(entries.size());
  auto &[name, bytes] = entries[i];
  size_t other = random.below(entries.size());
  switch (random.below(16)) {
  case 0:
    entries.erase(entries.begin() + i);
    return;
  case 1:
    name = random.below(2) ? entries[other].first + "x" : name + "/x";
    return;
  case 2:
    bytes = entries[other].second;
    return;
  default:
    mutateContents(name, bytes, random);
  }
}
