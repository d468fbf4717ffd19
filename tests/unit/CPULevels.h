//===- CPULevels.h - Targets that this machine can run ----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_CPULEVELS_H
#define GLOWISH_TESTS_UNIT_CPULEVELS_H

#include "glowish/Backends/CPU/CPUBackend.h"
#include "llvm/TargetParser/Host.h"

namespace glowish {

/// This machine with all that it has, and on x86-64 each of the architecture's
/// levels that it reaches.
inline std::vector<TargetOptions> getLevels() {
  std::vector<TargetOptions> targets(1);
  std::string triple = llvm::sys::getProcessTriple();
  if (llvm::Triple(triple).getArch() != llvm::Triple::x86_64)
    return targets;
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto hasAll = [&](llvm::ArrayRef<llvm::StringRef> names) {
    return llvm::all_of(
        names, [&](llvm::StringRef name) { return features.lookup(name); });
  };
  auto add = [&](const char *cpu, bool isReached) {
    if (!isReached)
      return;
    targets.emplace_back();
    targets.back().triple = triple;
    targets.back().cpu = cpu;
  };
  add("x86-64", true);
  add("x86-64-v2", hasAll({"sse4.2", "popcnt", "cx16"}));
  add("x86-64-v3", hasAll({"avx2", "fma", "f16c", "bmi2", "lzcnt", "movbe"}));
  add("x86-64-v4",
      hasAll({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}));
  return targets;
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_CPULEVELS_H
