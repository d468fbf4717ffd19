//===- FolderRun.h - Outputs of each set of -input-dir ----------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_RUNNER_FOLDERRUN_H
#define GLOWISH_TOOLS_MODEL_RUNNER_FOLDERRUN_H

#include "common/InputFolder.h"
#include "common/RunResults.h"
#include "glowish/Distributed/ProcessGroup.h"

namespace glowish {

/// Runs a program with each set of -input-dir and writes its outputs to a
/// folder of the set's name in -output-dir. Processes of a group divide the
/// sets, and the first one writes when all are computed.
class FolderRun {
public:
  /// \p group: null for this process alone.
  explicit FolderRun(ProcessGroup *group) : group(group) {}

  /// Takes \p sets, if that is what the options ask for. It is an error if two
  /// have the same name.
  llvm::Error setSets(llvm::ArrayRef<InputSet> sets);
  /// Whether there are sets.
  bool isWanted() const { return !sets.empty(); }
  ProcessGroup *getGroup() const { return group; }

  /// Runs \p session with the sets of this process; without a group, writes.
  llvm::Error run(Session &session, llvm::ArrayRef<SequenceOutput> sequences);
  /// Writes what all processes have computed; they agree on an error.
  llvm::Error finish();

private:
  ProcessGroup *group;
  std::vector<InputSet> sets;
  std::vector<OutputFile> files;
};

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_RUNNER_FOLDERRUN_H
