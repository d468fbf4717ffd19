//===- Processes.cpp - Tools on several processes -------------------------===//

#include "common/Processes.h"
#include "common/Tool.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

using namespace glowish;

/// Drops what this process prints that is no error.
static void becomeSilent() {
  int null = open("/dev/null", O_WRONLY);
  if (null < 0)
    return;
  dup2(null, STDOUT_FILENO);
  close(null);
  // No progress either.
  setenv("TERM", "dumb", /*overwrite=*/1);
}

llvm::Expected<int> glowish::runInGroup(
    llvm::function_ref<llvm::Expected<int>(ProcessGroup *)> body) {
  llvm::Expected<std::unique_ptr<ProcessGroup>> group = ProcessGroup::join();
  bool isSilent = ProcessGroup::getLaunchedRank() != 0;
  auto finish = [&](llvm::Error error) -> llvm::Expected<int> {
    if (!error.isA<AgreedError>() || !isSilent)
      return std::move(error);
    llvm::consumeError(std::move(error));
    return ExitCode::failure;
  };
  if (!group)
    return finish(group.takeError());
  if (!*group)
    return body(nullptr);
  if (isSilent)
    becomeSilent();
  llvm::Expected<int> code = body(group->get());
  if (code)
    return code;
  llvm::Error error = code.takeError();
  if (!error.isA<AgreedError>())
    (*group)->abort(llvm::toString(std::move(error)));
  return finish(std::move(error));
}

llvm::Error glowish::agree(ProcessGroup *group, llvm::Error error) {
  return group ? group->agree(std::move(error)) : std::move(error);
}
