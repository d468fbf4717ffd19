//===- PeakRate.h - Peak rates of a core ------------------------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_CPU_PEAKRATE_H
#define GLOWISH_BACKENDS_CPU_PEAKRATE_H

#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/MachineLimits.h"

namespace glowish {

/// Measures what the core that this thread runs on can do: floating-point
/// operations a second, two for each multiply-add, of a loop of independent
/// multiply-adds on registers, as wide as \p backend makes its vectors. A
/// program whose multiply-adds are float is at most that fast. Takes about
/// \p seconds. \p backend compiles for this machine.
llvm::Expected<double> measurePeakRate(CPUBackend &backend,
                                       double seconds = 0.1);

/// Measures the limits of as many cores as \p backend makes code for threads:
/// the peak rate of one of them times their number, and how fast they read, all
/// at the same time and in order, from the caches that the system names (Linux)
/// and from memory. Takes about \p seconds for each.
llvm::Expected<MachineLimits> measureMachineLimits(CPUBackend &backend,
                                                   double seconds = 0.1);

} // namespace glowish

#endif // GLOWISH_BACKENDS_CPU_PEAKRATE_H
