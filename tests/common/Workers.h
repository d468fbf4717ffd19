//===- Workers.h - Many jobs in child processes -----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_COMMON_WORKERS_H
#define GLOWISH_TESTS_COMMON_WORKERS_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <functional>
#include <string>

namespace glowish {

/// What became of one job.
struct JobResult {
  bool passed = false;
  /// What the job returned; of one that failed the error's message, or the
  /// signal that ended its process and what that wrote to stderr.
  std::string text;
};

struct JobOptions {
  /// Processes at the same time, at least 1.
  unsigned numWorkers = 1;
  /// A job that takes longer fails.
  unsigned seconds = 60;
  /// Jobs that a process does one after the other. 1 where none may spoil
  /// another; more save the time that it takes to copy this process.
  uint64_t jobsPerProcess = 1;
};

/// Calls \p job with 0 ... \p numJobs - 1 in copies of this process, and here
/// \p done with what became of each, in the order in which they end. A process
/// that a job ends (a crash) is replaced by one for the jobs behind it.
llvm::Error runJobs(uint64_t numJobs, const JobOptions &options,
                    std::function<llvm::Expected<std::string>(uint64_t)> job,
                    std::function<void(uint64_t, JobResult)> done);

} // namespace glowish

#endif // GLOWISH_TESTS_COMMON_WORKERS_H
