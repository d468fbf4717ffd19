//===- BundleFiles.cpp - Files on their way to a bundle -------------------===//

#include "BundleFiles.h"
#include "FunctionSizes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace glowish;

static constexpr llvm::StringLiteral threadsSource =
#include "glowish/glowish_threads.c.inc"
    ;
static constexpr llvm::StringLiteral threadsHeader =
#include "glowish/glowish_threads.h.inc"
    ;

llvm::Error BundleFiles::addFile(llvm::StringRef name, PrintFn print) {
  llvm::SmallString<128> path(options.folder);
  llvm::sys::path::append(path, name);
  llvm::Expected<llvm::raw_pwrite_stream &> stream = files.add(path);
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

llvm::Error BundleFiles::addCode(const BundleCode &code) {
  auto addBytes = [&](llvm::StringRef suffix, llvm::ArrayRef<char> bytes) {
    return add(suffix, [&](llvm::raw_ostream &os) {
      os << llvm::StringRef(bytes.data(), bytes.size());
    });
  };
  GLOWISH_RETURN_IF_ERROR(addBytes(".o", code.object));
  if (!options.savesAssembly)
    return llvm::Error::success();
  return addBytes(".s", code.assembly);
}

llvm::Error BundleFiles::addThreads(const TargetDescription &target) {
  if (target.numThreads == 1 || !target.hasSystem)
    return llvm::Error::success();
  GLOWISH_RETURN_IF_ERROR(addFile(
      "glowish_threads.c", [](llvm::raw_ostream &os) { os << threadsSource; }));
  return addFile("glowish_threads.h",
                 [](llvm::raw_ostream &os) { os << threadsHeader; });
}

llvm::Error BundleFiles::addWeights(const Weights &weights, bool asText) {
  GLOWISH_RETURN_IF_ERROR(add(".weights.bin", [&](llvm::raw_ostream &os) {
    weights.visit(
        [&](llvm::ArrayRef<uint8_t> bytes) { os << llvm::toStringRef(bytes); });
  }));
  if (!asText)
    return llvm::Error::success();
  return add(".weights.txt",
             [&](llvm::raw_ostream &os) { weights.printText(os); });
}
