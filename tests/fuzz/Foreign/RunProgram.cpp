//===- RunProgram.cpp - Programs beside the compiler ----------------------===//

#include "RunProgram.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <sys/resource.h>

using namespace glowish;
using namespace glowish::fuzz;

namespace {

/// Emulators, linkers and the like reserve more addresses than graphs may take
/// (limitMemory).
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
fuzz::runProgram(llvm::ArrayRef<std::string> command, const std::string &log) {
  constexpr unsigned seconds = 120;
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
