//===- Workers.h - Many tests in child processes ----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_WORKERS_H
#define GLOWISH_TESTS_CONFORMANCE_WORKERS_H

#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace glowish {

/// What became of one job.
struct JobResult {
  bool passed = false;
  /// What the error said, or the signal that ended the process and the last
  /// that it wrote to stderr.
  std::string message;
};

/// Calls \p job with 0 ... \p numJobs - 1, each in a copy of this process, so
/// that none can spoil another, \p numWorkers at a time. A job that takes
/// longer than \p seconds fails.
llvm::Expected<std::vector<JobResult>>
runJobs(unsigned numJobs, unsigned numWorkers, unsigned seconds,
        std::function<llvm::Error(unsigned)> job);

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_WORKERS_H
