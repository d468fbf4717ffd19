//===- WebBundle.cpp - Bundles for browsers and Node.js -------------------===//

#include "WebBundle.h"
#include "ChecksumFunction.h"
#include "MemoryFunctions.h"
#include "ModuleEmitter.h"
#include "Target/TargetSelection.h"
#include "WasmLinker.h"
#include "WebInterface.h"
#include "llvm/Support/FileSystem.h"

using namespace glowish;

bool glowish::isForWeb(CPUBackend &backend) {
  return isForWeb(backend.getTargetMachine().getTargetTriple());
}

llvm::Error glowish::checkWebOptions(CPUBackend &backend,
                                     const BundleOptions &options) {
  auto refuse = [&](llvm::StringRef option, llvm::StringRef accepted) {
    return makeError("a bundle for target '{0}' is a module that JavaScript "
                     "loads and does not take {1}; accepted: {2}, or "
                     "«target=wasm32-wasi» for an object",
                     backend.getTargetMachine().getTargetTriple().str(), option,
                     accepted);
  };
  if (options.api != BundleApi::Static)
    return refuse("«bundle-api=dynamic»", "«bundle-api=static»");
  if (options.weights == BundleWeights::Text)
    return refuse("«weights=text»", "«weights=file», «weights=embed»");
  // Linkers have no shared memory without these.
  if (backend.getTarget().numThreads > 1)
    for (llvm::StringRef feature : {"atomics", "bulk-memory"})
      if (!hasFeature(*backend.getTargetMachine().getMCSubtargetInfo(),
                      feature))
        return makeError(
            "«mattr=-{0}» leaves no memory that threads can share; "
            "accepted: «mattr=+{0}», or «threads=1»",
            feature);
  return findWasmLinker().takeError();
}

/// What is in the memory beside regions and stack: constants of kernels, and
/// what aligns the regions.
static constexpr uint64_t otherBytes = 1 << 20;

static uint64_t getRegionBytes(const BundleFacts &facts) {
  return facts.constantSize + facts.mutableSize + facts.activationSize;
}

/// The stacks of all threads but the first, and in as much again the words by
/// which they share their work.
static uint64_t getThreadBytes(const BundleFacts &facts) {
  return facts.numThreads > 1 ? uint64_t(facts.numThreads) * webStackBytes : 0;
}

llvm::Error glowish::checkWebFunctions(const BundleFacts &facts) {
  for (const BundleFunction &function : facts.functions)
    if (!function.object)
      return makeError(
          "the operator '{0}' calls '{1}', which no module for "
          "JavaScript can have from outside; accepted: a plug-in "
          "with an object for WebAssembly, or «target=wasm32-wasi»",
          function.operatorName, function.name);
  return llvm::Error::success();
}

llvm::Error glowish::checkWebMemory(const BundleFacts &facts) {
  const uint64_t most =
      (uint64_t(1) << 32) - webStackBytes - otherBytes - getThreadBytes(facts);
  if (getRegionBytes(facts) > most)
    return makeError("the network needs {0} bytes of memory; accepted for "
                     "WebAssembly, whose addresses have 32 bits: at most {1}",
                     getRegionBytes(facts), most);
  return llvm::Error::success();
}

void glowish::prepareWebModule(CPUBackend &backend, llvm::Module &module,
                               const BundleFacts &facts) {
  llvm::Function *entry = module.getFunction(facts.options.entryName);
  entry->addFnAttr("wasm-export-name", "run");
  if (facts.options.weights != BundleWeights::Embed)
    defineChecksum(module, backend.getTarget(), facts.constantSize)
        ->addFnAttr("wasm-export-name", "checksum");
  // NAME.mjs has it. Not there if the network has no loop for several threads.
  if (llvm::Function *function = module.getFunction(parallelForName)) {
    function->addFnAttr("wasm-import-module", "env");
    function->addFnAttr("wasm-import-name", parallelForName);
  }
  if (!hasFeature(*backend.getTargetMachine().getMCSubtargetInfo(),
                  "bulk-memory"))
    defineMemoryFunctions(module, backend.getTarget());
}

/// Whether a package.json in \p folder is one that glowish may replace.
static bool mayWritePackage(llvm::StringRef folder) {
  auto known = llvm::MemoryBuffer::getFile(folder + "/package.json");
  return !known || isWebPackage((*known)->getBuffer());
}

llvm::Error glowish::writeWebFiles(const BundleCode &code,
                                   const Weights &weights,
                                   const BundleFacts &facts) {
  const BundleOptions &options = facts.options;
  GLOWISH_ASSIGN_OR_RETURN(std::string linker, findWasmLinker());
  bool isEmbedded = options.weights == BundleWeights::Embed;
  WasmLink link = {.object = code.object,
                   .stackBytes = webStackBytes,
                   .heapBytes = getRegionBytes(facts) -
                                (isEmbedded ? facts.constantSize : 0) +
                                getThreadBytes(facts) + 4 * facts.alignment,
                   .sharesMemory = facts.numThreads > 1};
  for (const BundleFunction &function : facts.functions)
    if (!llvm::is_contained(link.libraries, *function.object))
      link.libraries.push_back(*function.object);
  if (isEmbedded)
    link.exports.push_back(options.networkName + "_weights");
  GLOWISH_ASSIGN_OR_RETURN(WasmModule module, linkWasm(linker, link));

  GLOWISH_RETURN_IF_ERROR(createDirectories(options.folder));
  BundleFiles files(options);
  GLOWISH_RETURN_IF_ERROR(files.add(".wasm", [&](llvm::raw_ostream &os) {
    os << module.bytes->getBuffer();
  }));
  GLOWISH_RETURN_IF_ERROR(files.addAssembly(code));
  GLOWISH_RETURN_IF_ERROR(files.add(".mjs", [&](llvm::raw_ostream &os) {
    printWebModule(os, facts, module.importedPages);
  }));
  if (facts.numThreads > 1)
    GLOWISH_RETURN_IF_ERROR(
        files.add(".worker.mjs",
                  [&](llvm::raw_ostream &os) { printWebWorker(os, facts); }));
  GLOWISH_RETURN_IF_ERROR(files.add(
      ".d.ts", [&](llvm::raw_ostream &os) { printWebTypes(os, facts); }));
  if (mayWritePackage(options.folder))
    GLOWISH_RETURN_IF_ERROR(
        files.addFile("package.json", [&](llvm::raw_ostream &os) {
          printWebPackage(os, facts);
        }));
  if (!isEmbedded)
    GLOWISH_RETURN_IF_ERROR(files.addWeightsFile(weights));
  return files.commit();
}
