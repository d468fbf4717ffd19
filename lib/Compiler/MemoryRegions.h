//===- MemoryRegions.h - The setting memory-regions ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_COMPILER_MEMORYREGIONS_H
#define GLOWISH_LIB_COMPILER_MEMORYREGIONS_H

#include "glowish/IR/MemoryPlan.h"

namespace glowish {

/// Parses `dtcm:64K,sram:256K`: names, which a bundle's header declares, and
/// sizes in bytes, in KiB or in MiB.
llvm::Expected<std::vector<RegionLimit>>
parseMemoryRegions(llvm::StringRef text);

} // namespace glowish

#endif // GLOWISH_LIB_COMPILER_MEMORYREGIONS_H
