//===- RunProgram.cpp - Programs beside the compiler ----------------------===//

#include "common/Foreign/RunProgram.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <sys/resource.h>

using namespace glowish;

namespace {

/// Emulators, linkers and the like reserve more addresses than a test may take
/// (as limitMemory of the fuzzer says).
class WithoutMemoryLimit {
public:
  WithoutMemoryLimit() {
    getrlimit(RLIMIT_AS, &limit);
    rlimit most = {limit.rlim_max, limit.rlim_max};
    setrlimit(RLIMIT_AS, &most);
  }
  ~WithoutMemoryLimit() { setrlimit(RLIMIT_AS, &limit); }

private:
  rlimit limit;
};

} // namespace

llvm::Expected<std::string>
glowish::runProgram(llvm::ArrayRef<std::string> command, const std::string &log,
                    unsigned seconds) {
  llvm::ErrorOr<std::string> path =
      llvm::sys::findProgramByName(command.front());
  if (!path)
    return makeError("there is no {0}", command.front());
  llvm::SmallVector<llvm::StringRef> words(command.begin(), command.end());
  std::string message;
  WithoutMemoryLimit without;
  int status = llvm::sys::ExecuteAndWait(
      *path, words, /*Env=*/std::nullopt,
      {llvm::StringRef(""), llvm::StringRef(log), llvm::StringRef(log)},
      seconds, /*MemoryLimit=*/0, &message);
  std::string text;
  if (auto file = llvm::MemoryBuffer::getFile(log))
    text = (*file)->getBuffer().str();
  if (status != 0)
    return makeError("{0} failed: {1}", command.front(),
                     text.empty() ? message
                                  : llvm::StringRef(text).trim().str());
  return text;
}
