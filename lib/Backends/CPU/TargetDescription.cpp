//===- TargetDescription.cpp - What kernels know of a target --------------===//

#include "glowish/Backends/CPU/TargetDescription.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace glowish;

static void describeX86(TargetDescription &target,
                        const llvm::MCSubtargetInfo &info) {
  auto has = [&](llvm::StringRef feature) {
    return info.checkFeatures(("+" + feature).str());
  };
  bool isWide =
      has("avx512f") && has("avx512vl") && has("avx512dq") && has("avx512bw");
  target.vectorBits = isWide ? 512 : has("avx") ? 256 : has("sse2") ? 128 : 0;
  target.numVectorRegisters = isWide ? 32 : has("64bit-mode") ? 16 : 8;
  target.hasFMA = has("fma");
  target.hasRounding = has("sse4.1");
  target.hasFloat16 = has("f16c");
  target.hasMatrixInt8 = isWide && has("amx-tile") && has("amx-int8") &&
                         info.getTargetTriple().isOSLinux();
  // Cores with 512-bit vectors have 1 or 2 MiB, those before 256 or 512 KiB.
  target.cacheBytes = has("amx-tile") || has("avx512bf16") ? 2 << 20
                      : isWide                             ? 1 << 20
                                                           : 256 << 10;
}

/// Threads have 8 MiB on Linux, but for some libraries, and at least 512 KiB on
/// other systems. What runs without a system has little.
static void describeSystem(TargetDescription &target,
                           const llvm::Triple &triple) {
  target.isHosted = triple.isArch64Bit() &&
                    (triple.isOSLinux() || triple.isOSDarwin() ||
                     triple.isOSWindows() || triple.isOSFreeBSD());
  if (target.isHosted)
    target.maxStackBytes =
        triple.isOSLinux() && !triple.isMusl() ? 1280 << 10 : 256 << 10;
}

TargetDescription
TargetDescription::forMachine(const llvm::TargetMachine &machine) {
  TargetDescription target;
  target.cpu = machine.getTargetCPU().str();
  target.features = machine.getTargetFeatureString().str();
  const llvm::MCSubtargetInfo &info = *machine.getMCSubtargetInfo();
  auto has = [&](llvm::StringRef feature) {
    return info.checkFeatures(("+" + feature).str());
  };
  const llvm::Triple &triple = machine.getTargetTriple();
  if (triple.isX86()) {
    describeX86(target, info);
  } else if (triple.isAArch64()) {
    target.vectorBits = has("neon") ? 128 : 0;
    target.numVectorRegisters = 32;
    target.hasFMA = target.hasRounding = target.hasFloat16 = true;
  } else if (triple.isARM() || triple.isThumb()) {
    target.vectorBits = has("neon") ? 128 : 0;
    target.numVectorRegisters = target.vectorBits ? 16 : 8;
    target.hasFMA = has("vfp4sp");
    target.hasRounding = has("fp-armv8d16sp");
  } else if (triple.isRISCV()) {
    target.vectorBits = has("v") ? 128 : 0;
    target.numVectorRegisters = target.vectorBits ? 32 : 16;
    target.hasFMA = has("f");
  } else if (triple.isWasm()) {
    target.vectorBits = has("simd128") ? 128 : 0;
    target.hasRounding = true;
  }
  target.packedBits = target.vectorBits;
  describeSystem(target, triple);
  return target;
}

void TargetDescription::addFunctionAttributes(llvm::Function &function) const {
  if (!cpu.empty())
    function.addFnAttr("target-cpu", cpu);
  if (!features.empty())
    function.addFnAttr("target-features", features);
  // Without it LLVM splits 512-bit vectors in two on CPUs that once slowed
  // down under them, and the accumulators no longer fit.
  if (vectorBits == 512) {
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
  }
}
