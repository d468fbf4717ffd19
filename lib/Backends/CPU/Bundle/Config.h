//===- Config.h - The data of a bundle's object -----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_CONFIG_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_CONFIG_H

#include "Header.h"
#include "llvm/IR/Module.h"

namespace glowish {

/// Adds `const BundleConfig NAME_config` with its symbol table to \p module,
/// or `const BundleVariants NAME_variants` with one for each program, in the
/// layout that the dynamic header declares.
void emitConfig(llvm::Module &module, const BundleFacts &facts);

/// Adds `const uint8_t NAME[]` with these bytes to \p module.
void emitBytes(llvm::Module &module, llvm::StringRef name,
               llvm::ArrayRef<uint8_t> data, uint64_t alignment);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_CONFIG_H
