//===- Processes.h - Tools on several processes -----------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_PROCESSES_H
#define GLOWISH_TOOLS_COMMON_PROCESSES_H

#include "glowish/Distributed/ProcessGroup.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace glowish {

/// Calls \p body with the group of the processes that mpirun has started, or
/// null without one. What all but the first process print to stdout is
/// dropped. An error that the processes have not agreed on ends all of them,
/// with a line that names the rank; one that they have agreed on is the first
/// process's to report, and the exit code of the others.
llvm::Expected<int>
runInGroup(llvm::function_ref<llvm::Expected<int>(ProcessGroup *group)> body);

/// Whether this process prints and writes files.
inline bool isFirst(const ProcessGroup *group) {
  return !group || group->isFirst();
}

/// ProcessGroup::agree; \p error itself without a group.
llvm::Error agree(ProcessGroup *group, llvm::Error error);
template <typename T>
llvm::Expected<T> agree(ProcessGroup *group, llvm::Expected<T> value) {
  if (!group)
    return value;
  if (llvm::Error error = group->agree(value.takeError()))
    return std::move(error);
  return value;
}

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_PROCESSES_H
