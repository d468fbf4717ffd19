//===- TorchScript.cpp - TorchScript archives -----------------------------===//

#include "glowish/Importer/TorchScript.h"
#include "TorchScript/ReaderLibrary.h"
#include "glowish/Support/ChildProcess.h"
#include "glowish/Support/MemoryFile.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"
#include "robustness/TorchArchives.h"
#include "llvm/Support/Compiler.h"
#include <csignal>
#include <mutex>

#if LLVM_ADDRESS_SANITIZER_BUILD
#include <sanitizer/common_interface_defs.h>
#endif

using namespace glowish;
using namespace glowish::torchscript;
using namespace glowish::parsers;

/// A crash of this process is no finding.
static void endQuietly() {
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    std::signal(signal, SIG_DFL);
#if LLVM_ADDRESS_SANITIZER_BUILD
  __sanitizer_set_death_callback([] {});
#endif
}

/// Loads libtorch, which takes each copy of this process two seconds otherwise.
static void loadReader() {
  llvm::consumeError(
      readTorchProgram(/*bytes=*/"", /*method=*/"", {}).takeError());
}

/// Parts: the entries of an archive, which is made of them with right
/// checksums, and `inputs`, the types of inputs. libtorch, which reads it, is
/// not ours and crashes for some: a copy of this process reads it first. What
/// comes after reading is ours.
GLOWISH_PARSER_FUZZER(torchscript) {
  static std::once_flag isLoaded;
  std::call_once(isLoaded, loadReader);
  Parts parts = splitParts(input);
  ImportOptions options = getImportOptions(findPart(parts, "inputs"));
  llvm::erase_if(parts,
                 [](const auto &part) { return part.first == "inputs"; });
  std::string bytes = makeArchive(parts);
  MemoryFile file(bytes, "input");
  auto reason = runInChildProcess(/*maxSeconds=*/20, [&] {
    endQuietly();
    auto program = readTorchProgram(bytes, /*method=*/"", {});
    return program ? std::string() : llvm::toString(program.takeError());
  });
  if (reason && reason->empty())
    compileToPlan(importTorchScriptFile(file.getPath(), options), input.size(),
                  Target::Interpreter);
  llvm::consumeError(reason.takeError());
}
