//===- BundleFiles.cpp - Files on their way to a bundle -------------------===//

#include "BundleFiles.h"
#include "FunctionSizes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;

static constexpr llvm::StringLiteral threadsSource =
#include "glowish/glowish_threads.c.inc"
    ;
static constexpr llvm::StringLiteral threadsHeader =
#include "glowish/glowish_threads.h.inc"
    ;

std::string BundleFiles::getPath(const llvm::Twine &name) const {
  llvm::SmallString<128> path(options.folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

llvm::Error BundleFiles::addFile(llvm::StringRef name, PrintFn print) {
  llvm::Expected<llvm::raw_pwrite_stream &> stream = files.add(getPath(name));
  if (!stream)
    return stream.takeError();
  print(*stream);
  return llvm::Error::success();
}

llvm::Expected<BundleCode> glowish::generateCode(CPUBackend &backend,
                                                 llvm::Module &module,
                                                 const BundleOptions &options) {
  BundleCode code;
  GLOWISH_ASSIGN_OR_RETURN(code.object,
                           backend.emitObject(module, options.savesAssembly
                                                          ? &code.assembly
                                                          : nullptr));
  if (options.codeSizes)
    GLOWISH_RETURN_IF_ERROR(readFunctionSizes(code.object, *options.codeSizes));
  return code;
}

llvm::Error BundleFiles::addBytes(llvm::StringRef suffix,
                                  llvm::ArrayRef<char> bytes) {
  return add(suffix, [&](llvm::raw_ostream &os) {
    os << llvm::StringRef(bytes.data(), bytes.size());
  });
}

llvm::Error BundleFiles::addCode(const BundleCode &code) {
  GLOWISH_RETURN_IF_ERROR(addBytes(".o", code.object));
  return addAssembly(code);
}

llvm::Error BundleFiles::addAssembly(const BundleCode &code) {
  return options.savesAssembly ? addBytes(".s", code.assembly)
                               : llvm::Error::success();
}

llvm::Error BundleFiles::addThreads(const TargetDescription &target) {
  if (target.numThreads == 1 || !target.hasSystem)
    return llvm::Error::success();
  GLOWISH_RETURN_IF_ERROR(addFile(
      "glowish_threads.c", [](llvm::raw_ostream &os) { os << threadsSource; }));
  return addFile("glowish_threads.h",
                 [](llvm::raw_ostream &os) { os << threadsHeader; });
}

static bool writesText(const BundleOptions &options, uint64_t size) {
  if (options.weights == BundleWeights::File)
    return options.api == BundleApi::Static && size <= maxTextWeights;
  return options.weights == BundleWeights::Text;
}

llvm::Error BundleFiles::addWeightsFile(const Weights &weights) {
  return add(".weights.bin", [&](llvm::raw_ostream &os) { weights.print(os); });
}

llvm::Error BundleFiles::addWeights(const Weights &weights) {
  if (options.weights == BundleWeights::Embed)
    return llvm::Error::success();
  GLOWISH_RETURN_IF_ERROR(addWeightsFile(weights));
  hasText = writesText(options, weights.getSize());
  if (!hasText)
    return llvm::Error::success();
  return add(".weights.txt",
             [&](llvm::raw_ostream &os) { weights.printText(os); });
}

llvm::Error BundleFiles::commit() {
  GLOWISH_RETURN_IF_ERROR(files.commit());
  std::string stale = getPath(options.networkName + ".weights.txt");
  // A program that includes it would be compiled with the wrong weights.
  if (!hasText && llvm::sys::fs::is_regular_file(stale))
    if (std::error_code code = llvm::sys::fs::remove(stale))
      return makeError("cannot remove '{0}', which has other weights: {1}",
                       stale, code.message());
  return llvm::Error::success();
}
