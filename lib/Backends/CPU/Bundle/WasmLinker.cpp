//===- WasmLinker.cpp - Linking WebAssembly -------------------------------===//

#include "WasmLinker.h"
#include "glowish/Support/File.h"
#include "llvm/Object/Wasm.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"

using namespace glowish;

llvm::Expected<std::string> glowish::findWasmLinker() {
  for (const char *name : {"wasm-ld-19", "wasm-ld"})
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
  return makeError("WebAssembly is linked by wasm-ld-19, which is not in PATH; "
                   "it is in Debian's package lld-19");
}

namespace {

/// A temporary file, removed when this is, or when a signal ends the process.
class TemporaryFile {
public:
  static llvm::Expected<std::unique_ptr<TemporaryFile>>
  create(llvm::StringRef suffix) {
    llvm::SmallString<128> path;
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("glowish", suffix, path))
      return makeError("cannot create a temporary file: {0}", code.message());
    return std::unique_ptr<TemporaryFile>(new TemporaryFile(path));
  }
  ~TemporaryFile() { llvm::sys::DontRemoveFileOnSignal(path); }
  TemporaryFile(const TemporaryFile &) = delete;

  llvm::StringRef getPath() const { return path; }

private:
  explicit TemporaryFile(llvm::StringRef name) : path(name), remover(name) {
    removeOnSignals(path);
  }
  std::string path;
  llvm::FileRemover remover;
};

} // namespace

/// What memories of WebAssembly have a whole number of.
static constexpr uint64_t pageBytes = 64 << 10;

static llvm::Error writeBytes(llvm::StringRef path,
                              llvm::ArrayRef<char> bytes) {
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (!code) {
    os.write(bytes.data(), bytes.size());
    os.close();
    code = os.error();
    os.clear_error();
  }
  if (code)
    return makeError("cannot write '{0}': {1}", path, code.message());
  return llvm::Error::success();
}

static std::vector<std::string> getArguments(llvm::StringRef linker,
                                             const WasmLink &link,
                                             llvm::StringRef object,
                                             llvm::StringRef module) {
  // A stack at the start of the memory: what grows beyond it is a trap.
  std::vector<std::string> arguments = {
      linker.str(),
      object.str(),
      "-o",
      module.str(),
      "--no-entry",
      "--stack-first",
      "-z",
      "stack-size=" + std::to_string(link.stackBytes),
      "--initial-heap=" +
          std::to_string(llvm::alignTo(link.heapBytes, pageBytes)),
      "--no-growable-memory",
      "--export=__heap_base",
      "--strip-all",
      "-O2"};
  llvm::append_range(arguments, link.libraries);
  for (const std::string &name : link.exports)
    arguments.push_back("--export=" + name);
  if (link.sharesMemory)
    for (const char *argument : {"--shared-memory", "--import-memory",
                                 "--export=__stack_pointer", "--export-table"})
      arguments.push_back(argument);
  return arguments;
}

/// The pages of the memory that \p module imports, or 0.
static llvm::Expected<uint64_t>
readImportedPages(const llvm::MemoryBuffer &module) {
  GLOWISH_ASSIGN_OR_RETURN(
      auto file,
      llvm::object::ObjectFile::createWasmObjectFile(module.getMemBufferRef()));
  for (const llvm::wasm::WasmImport &import : file->imports())
    if (import.Kind == llvm::wasm::WASM_EXTERNAL_MEMORY)
      return import.Memory.Minimum;
  return 0;
}

llvm::Expected<WasmModule> glowish::linkWasm(llvm::StringRef linker,
                                             const WasmLink &link) {
  GLOWISH_ASSIGN_OR_RETURN(auto object, TemporaryFile::create("o"));
  GLOWISH_ASSIGN_OR_RETURN(auto module, TemporaryFile::create("wasm"));
  GLOWISH_ASSIGN_OR_RETURN(auto log, TemporaryFile::create("log"));
  GLOWISH_RETURN_IF_ERROR(writeBytes(object->getPath(), link.object));
  std::vector<std::string> arguments =
      getArguments(linker, link, object->getPath(), module->getPath());
  llvm::SmallVector<llvm::StringRef> references(arguments.begin(),
                                                arguments.end());
  std::string message;
  int status = llvm::sys::ExecuteAndWait(
      linker, references, /*Env=*/std::nullopt,
      {llvm::StringRef(""), log->getPath(), log->getPath()},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  if (status != 0) {
    auto text = llvm::MemoryBuffer::getFile(log->getPath());
    llvm::StringRef said = text ? (*text)->getBuffer() : llvm::StringRef();
    return makeError("{0} failed: {1}", linker,
                     said.empty() ? llvm::StringRef(message)
                                  : said.split('\n').first);
  }
  auto bytes = llvm::MemoryBuffer::getFile(module->getPath(), /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false,
                                           /*IsVolatile=*/true);
  if (!bytes)
    return makeError("cannot read '{0}': {1}", module->getPath(),
                     bytes.getError().message());
  GLOWISH_ASSIGN_OR_RETURN(uint64_t pages, readImportedPages(**bytes));
  return WasmModule{std::move(*bytes), pages};
}
