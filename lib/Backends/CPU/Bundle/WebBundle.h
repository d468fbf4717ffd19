//===- WebBundle.h - Bundles for browsers and Node.js -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WEBBUNDLE_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WEBBUNDLE_H

#include "BundleFiles.h"

namespace glowish {

/// Whether bundles of \p backend are for browsers and Node.js (isForWeb).
bool isForWeb(CPUBackend &backend);

/// Whether a module can be linked at all, and be what \p options request. Such
/// bundles do not learn, and have one API.
llvm::Error checkWebOptions(CPUBackend &backend, const BundleOptions &options);

/// Whether the functions that the network calls can be in its module.
llvm::Error checkWebFunctions(const BundleFacts &facts);

/// Whether regions of the sizes in \p facts are in reach of its addresses.
llvm::Error checkWebMemory(const BundleFacts &facts);

/// Names the entry of \p module, which has been emitted for \p facts, for
/// JavaScript, and completes it with what a C library has.
void prepareWebModule(CPUBackend &backend, llvm::Module &module,
                      const BundleFacts &facts);

/// Links \p code, and writes NAME.wasm, NAME.mjs, NAME.d.ts, the weights, for
/// several threads NAME.worker.mjs, and package.json; the last one not where
/// there is one that glowish has not written.
llvm::Error writeWebFiles(const BundleCode &code, const Weights &weights,
                          const BundleFacts &facts);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_WEBBUNDLE_H
