//===- Multiversioning.h - One module for several levels --------*- C++ -*-===//
//
// The levels are those of the x86-64 psABI: x86-64, x86-64-v2 (SSE4.2),
// x86-64-v3 (AVX2, FMA) and x86-64-v4 (AVX-512).
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_TARGET_MULTIVERSIONING_H
#define GLOWISH_LIB_BACKENDS_CPU_TARGET_MULTIVERSIONING_H

#include "glowish/Backends/CPU/CPUBackend.h"

namespace glowish {

/// The names in -mcpu=a,b,... in ascending order. An error names what is not
/// a level, is there twice, or does not go with several levels.
llvm::Expected<std::vector<std::string>>
parseLevels(const TargetOptions &options);

/// "_v3" for x86-64-v3, "_v1" for x86-64.
std::string getLevelSuffix(llvm::StringRef level);

/// The code of a level: an entry, and the level's name.
struct LevelEntry {
  std::string level;
  llvm::Function *entry;
};

/// Adds to \p module, in code that every x86-64 processor runs,
///   int (*NAME_select(void))(const uint8_t *, uint8_t *, uint8_t *)
/// which returns the entry for the processor that it runs on, and the entry
/// NAME, which selects and calls it. \p entries: lowest level first; they
/// become internal. A processor below all of them gets an entry that returns
/// EntryStatus::Processor.
void emitDispatch(llvm::Module &module, llvm::StringRef name,
                  llvm::ArrayRef<LevelEntry> entries);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_TARGET_MULTIVERSIONING_H
