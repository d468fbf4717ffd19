//===- ReaderLibrary.cpp - The library that reads archives ----------------===//

#include "TorchScript/ReaderLibrary.h"
#include "glowish/Support/ChildProcess.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/OptionalLibrary.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/FileSystem.h"
#include <dlfcn.h>

using namespace glowish;
using namespace glowish::torchscript;

static constexpr llvm::StringLiteral fileName("libglowish-torch.so"),
    variable("GLOWISH_TORCH_READER");

std::string torchscript::getTorchReaderPath() {
  return getOptionalLibraryPath(fileName, variable);
}

namespace {

struct Reader {
  ReadFunction *read = nullptr;
  /// Why there is none.
  std::string reason;
};

} // namespace

static Reader loadReader() {
  std::string path = getTorchReaderPath();
  if (!llvm::sys::fs::exists(path))
    return {
        .reason = llvm::formatv(
            "TorchScript is read with libtorch, by {0}, which '{1}' is not: "
            "build glowish where libtorch-dev is installed, or name the "
            "file in ${2}",
            fileName, path, variable)};
  // No other library may see its symbols.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {.reason =
                llvm::formatv("TorchScript is read with libtorch (Debian: "
                              "libtorch1.13), which cannot be loaded: "
                              "{0}",
                              dlerror())};
  auto *version =
      reinterpret_cast<VersionFunction *>(dlsym(library, versionSymbol));
  auto *read = reinterpret_cast<ReadFunction *>(dlsym(library, readSymbol));
  if (!version || !read)
    return {.reason =
                llvm::formatv("'{0}' is not {1} of glowish", path, fileName)};
  if (version() != programVersion)
    return {.reason =
                llvm::formatv("'{0}' is of another release of glowish", path)};
  return {.read = read, .reason = ""};
}

/// Has a copy of this process read the archive first: libtorch crashes for some
/// that are malformed.
static llvm::Error tryToRead(const Reader &reader, llvm::StringRef bytes,
                             llvm::StringRef method,
                             const std::vector<std::string> &schemas) {
  // A sanitizer is to tell of what the reader does wrong itself.
  if (LLVM_ADDRESS_SANITIZER_BUILD)
    return llvm::Error::success();
  llvm::Expected<std::string> reason = runInChildProcess(/*maxSeconds=*/0, [&] {
    Program program;
    std::string error;
    reader.read(bytes.data(), bytes.size(), method.str().c_str(), schemas,
                program, error);
    return error;
  });
  if (!reason)
    return addContext(reason.takeError(), "libtorch cannot read it: ");
  return reason->empty() ? llvm::Error::success() : makeError("{0}", *reason);
}

llvm::Expected<std::shared_ptr<const Program>>
torchscript::readTorchProgram(llvm::StringRef bytes, llvm::StringRef method,
                              const std::vector<std::string> &schemas) {
  static const Reader reader = loadReader();
  if (!reader.read)
    return makeError("{0}", reader.reason);
  GLOWISH_RETURN_IF_ERROR(tryToRead(reader, bytes, method, schemas));
  auto program = std::make_shared<Program>();
  std::string error;
  if (!reader.read(bytes.data(), bytes.size(), method.str().c_str(), schemas,
                   *program, error))
    return makeError("{0}", error);
  return program;
}
