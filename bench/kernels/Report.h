//===- Report.h - Report of the kernel benchmarks ---------------*- C++ -*-===//

#ifndef GLOWISH_BENCH_KERNELS_REPORT_H
#define GLOWISH_BENCH_KERNELS_REPORT_H

#include "glowish/Backends/CPU/CPUBackend.h"
#include <benchmark/benchmark.h>
#include <functional>
#include <string>
#include <vector>

namespace glowish::bench {

/// One shape, computed by glowish and by another library.
struct Case {
  std::string name;
  /// Of one run, two for each multiply-add.
  double flops;
  /// How often a network has it: its weight in the mean.
  unsigned count;
  /// What glowish computes it with.
  std::string kernel;
  std::function<void()> runOwn, runOther;
};

/// Does what all programs here begin with: keeps the process on the core that
/// it runs on and libraries to one thread, reads the options (Google
/// Benchmark's, -mattr, and -winograd, which is off unless 2 or 4 is stated),
/// and makes the back end.
std::unique_ptr<CPUBackend> initialize(int argc, char **argv);

/// Times \p cases, in random order, and prints for each the shares of the peak
/// called \p peakName, which \p measurePeak finds before and after, and the
/// ratio to \p otherName. Returns the exit code.
int measureAndReport(llvm::StringRef peakName,
                     llvm::function_ref<double()> measurePeak,
                     llvm::StringRef otherName, std::vector<Case> cases);
/// The same with the FMA peak.
int measureAndReport(CPUBackend &backend, llvm::StringRef otherName,
                     std::vector<Case> cases);

} // namespace glowish::bench

#endif // GLOWISH_BENCH_KERNELS_REPORT_H
