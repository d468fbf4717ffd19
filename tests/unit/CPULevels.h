//===- CPULevels.h - Targets that this machine can run ----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_CPULEVELS_H
#define GLOWISH_TESTS_UNIT_CPULEVELS_H

#include "glowish/Backends/CPU/CPUBackend.h"
#include "llvm/TargetParser/Host.h"

namespace glowish {

/// This machine with all that it has, and on x86-64 each of the architecture's
/// levels that it reaches. Without \p sharesWeights once each: what has no
/// weights has the same code whatever levels share them.
inline std::vector<TargetOptions> getLevels(bool sharesWeights = true) {
  std::vector<TargetOptions> targets(1);
  std::string triple = llvm::sys::getProcessTriple();
  if (llvm::Triple(triple).getArch() != llvm::Triple::x86_64)
    return targets;
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto hasAll = [&](llvm::ArrayRef<llvm::StringRef> names) {
    return llvm::all_of(
        names, [&](llvm::StringRef name) { return features.lookup(name); });
  };
  auto add = [&](const char *cpu, const char *onlyLevel = "") {
    if (*onlyLevel && !sharesWeights)
      return;
    TargetOptions &target = targets.emplace_back();
    target.triple = triple;
    target.cpu = cpu;
    target.testing.onlyLevel = onlyLevel;
  };
  // Also with weights that are packed for AVX-512, which levels share.
  add("x86-64");
  add("x86-64,x86-64-v4", "x86-64");
  if (hasAll({"sse4.2", "popcnt", "cx16"}))
    add("x86-64-v2");
  if (hasAll({"avx2", "fma", "f16c", "bmi2", "lzcnt", "movbe"})) {
    add("x86-64-v3");
    add("x86-64-v3,x86-64-v4", "x86-64-v3");
  }
  if (hasAll({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    add("x86-64-v4");
  return targets;
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_CPULEVELS_H
