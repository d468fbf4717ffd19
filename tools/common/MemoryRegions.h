//===- MemoryRegions.h - The option -memory-regions -------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_MEMORYREGIONS_H
#define GLOWISH_TOOLS_COMMON_MEMORYREGIONS_H

#include "glowish/IR/MemoryPlan.h"

namespace glowish {

/// Parses `dtcm:64K,sram:256K`: names, which a bundle's header declares, and
/// sizes in bytes, in KiB or in MiB.
llvm::Expected<std::vector<RegionLimit>>
parseMemoryRegions(llvm::StringRef text);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_MEMORYREGIONS_H
