//===- MemoryRegions.cpp - The setting memory-regions ---------------------===//

#include "MemoryRegions.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace glowish;

/// Null unless \p text is a number from 1 on, perhaps of KiB or MiB.
static std::optional<uint64_t> parseBytes(llvm::StringRef text) {
  unsigned shift = text.consume_back("K")   ? 10
                   : text.consume_back("M") ? 20
                                            : 0;
  uint64_t number;
  if (text.getAsInteger(10, number) || number == 0 ||
      number > (UINT64_MAX >> shift))
    return std::nullopt;
  return number << shift;
}

llvm::Expected<std::vector<RegionLimit>>
glowish::parseMemoryRegions(llvm::StringRef text) {
  std::vector<RegionLimit> regions;
  llvm::StringSet<> macros;
  for (llvm::StringRef part : llvm::split(text, ',')) {
    auto [name, size] = part.split(':');
    std::optional<uint64_t> bytes = parseBytes(size);
    if (!isCIdentifier(name) || !bytes)
      return makeError("«memory-regions={0}»: '{1}' is no region; accepted: "
                       "C identifiers with sizes of at least 1 in bytes, K or "
                       "M, as in dtcm:64K,sram:256K",
                       text, part);
    if (std::string reason = explainReservedName(name); !reason.empty())
      return makeError("«memory-regions={0}»: '{1}' {2}; state another name",
                       text, name, reason);
    // Macros of the header are in capitals.
    if (!macros.insert(name.upper()).second)
      return makeError("«memory-regions={0}»: two regions are called '{1}'; "
                       "accepted: names that differ in more than capitals",
                       text, name);
    regions.push_back({name.str(), *bytes});
  }
  return regions;
}
