//===- WebInterface.h - A bundle's JavaScript interface ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WEBINTERFACE_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WEBINTERFACE_H

#include "Header.h"

namespace glowish {

/// The ES module NAME.mjs, which loads NAME.wasm. \p memoryPages: of the memory
/// that NAME.wasm imports for several threads.
void printWebModule(llvm::raw_ostream &os, const BundleFacts &facts,
                    uint64_t memoryPages);
/// NAME.worker.mjs, the worker that such a module starts.
void printWebWorker(llvm::raw_ostream &os, const BundleFacts &facts);
/// Its types for TypeScript, NAME.d.ts.
void printWebTypes(llvm::raw_ostream &os, const BundleFacts &facts);
/// The package.json of the folder.
void printWebPackage(llvm::raw_ostream &os, const BundleFacts &facts);
/// Whether \p text is a package.json that the function above has written.
bool isWebPackage(llvm::StringRef text);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WEBINTERFACE_H
