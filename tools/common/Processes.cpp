//===- Processes.cpp - Tools on several processes -------------------------===//

#include "common/Processes.h"
#include "common/Tool.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/SettingNames.h"
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

/// What \p error of \p group means for the exit code.
static int endWithError(ProcessGroup &group, llvm::Error error) {
  if (!error.isA<AgreedError>())
    group.abort(spellSettings(llvm::toString(std::move(error)), spellAsFlag));
  if (group.isFirst())
    reportToolError(std::move(error));
  else
    llvm::consumeError(std::move(error));
  // mpirun ends all when one ends with an error, also those that still print.
  group.wait();
  return ExitCode::failure;
}

llvm::Expected<int> glowish::runInGroup(
    llvm::function_ref<llvm::Expected<int>(ProcessGroup *)> body) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<ProcessGroup> group,
                           ProcessGroup::join());
  if (!group)
    return body(nullptr);
  if (!group->isFirst())
    becomeSilent();
  if (llvm::Error error = group->checkBuilds())
    return endWithError(*group, std::move(error));
  llvm::Expected<int> code = body(group.get());
  return code ? *code : endWithError(*group, code.takeError());
}

llvm::Error glowish::agree(ProcessGroup *group, llvm::Error error) {
  return group ? group->agree(std::move(error)) : std::move(error);
}
