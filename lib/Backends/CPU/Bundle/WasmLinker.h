//===- WasmLinker.h - Linking WebAssembly -----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WASMLINKER_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WASMLINKER_H

#include "glowish/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace glowish {

/// What a module is linked of. Its memory, which does not grow, has a stack,
/// the data of the object and the heap, whose start is the exported global
/// __heap_base.
struct WasmLink {
  llvm::ArrayRef<char> object;
  /// Files of further objects.
  std::vector<std::string> libraries = {};
  uint64_t stackBytes = 0, heapBytes = 0;
  /// Data that is exported, beside the functions that name themselves so.
  std::vector<std::string> exports = {};
  /// Whether several instances share a memory, which they import. Each sets its
  /// exported global __stack_pointer to a stack of its own, and the functions
  /// whose addresses the object takes are in the exported table
  /// __indirect_function_table. Else the memory is exported.
  bool sharesMemory = false;
};

/// A linked module.
struct WasmModule {
  std::unique_ptr<llvm::MemoryBuffer> bytes;
  /// Pages of the imported memory; 0 if the module has its own.
  uint64_t importedPages = 0;
};

/// The path of the linker. An error names the package that has it.
llvm::Expected<std::string> findWasmLinker();

/// Runs \p linker.
llvm::Expected<WasmModule> linkWasm(llvm::StringRef linker,
                                    const WasmLink &link);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WASMLINKER_H
