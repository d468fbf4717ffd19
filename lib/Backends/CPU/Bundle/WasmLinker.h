//===- WasmLinker.h - Linking WebAssembly -----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WASMLINKER_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WASMLINKER_H

#include "glowish/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace glowish {

/// What a module is linked of. Its memory, which it exports and which does not
/// grow, has a stack, the data of the object and the heap, whose start is the
/// exported global __heap_base.
struct WasmLink {
  llvm::ArrayRef<char> object;
  uint64_t stackBytes = 0, heapBytes = 0;
  /// Data that is exported, beside the functions that name themselves so.
  std::vector<std::string> exports = {};
};

/// The path of the linker. An error names the package that has it.
llvm::Expected<std::string> findWasmLinker();

/// Runs \p linker: the bytes of the module.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
linkWasm(llvm::StringRef linker, const WasmLink &link);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WASMLINKER_H
