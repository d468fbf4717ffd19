//===- TargetDescription.cpp - Target properties for kernels --------------===//

#include "glowish/Backends/CPU/TargetDescription.h"
#include "Target/TargetSelection.h"
#include "glowish/Support/Error.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace glowish;

/// Whether the core makes four operations of vdpbf16ps, which then does half as
/// many multiply-adds in a cycle as those of floats do: measured on an Emerald
/// Rapids, 78 and 166 GFLOP/s. AMD's cores do twice as many.
static bool splitsBFloat16Dot(llvm::StringRef cpu) {
  return llvm::is_contained(
      {"sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d"},
      cpu);
}

static void describeX86(TargetDescription &target,
                        const llvm::MCSubtargetInfo &info) {
  auto has = [&](llvm::StringRef feature) { return hasFeature(info, feature); };
  target.isX86 = true;
  bool isWide =
      has("avx512f") && has("avx512vl") && has("avx512dq") && has("avx512bw");
  target.hasAVX512 = isWide;
  target.vectorBits = isWide ? 512 : has("avx") ? 256 : has("sse2") ? 128 : 0;
  target.numVectorRegisters = isWide ? 32 : has("64bit-mode") ? 16 : 8;
  target.hasFloat = target.hasDouble = has("sse2");
  target.issuesWidely = target.vectorBits > 0;
  target.hasFMA = has("fma");
  target.hasRounding = has("sse4.1");
  target.hasFloat16 = has("f16c");
  target.hasMatrixInt8 = isWide && has("amx-tile") && has("amx-int8") &&
                         info.getTargetTriple().isOSLinux();
  target.hasMatrixBFloat16 = isWide && has("amx-tile") && has("amx-bf16") &&
                             info.getTargetTriple().isOSLinux();
  // The level between 256 and 512 bits has neither of the two.
  target.addsPairs = isWide ? has("avx512vnni") : has("avxvnni");
  target.dot = target.addsPairs ? DotInstr::UnsignedQuads
               : has("sse2")    ? DotInstr::Pairs
                                : DotInstr::None;
  target.hasBFloat16Dot = isWide && has("avx512bf16");
  target.bfloat16DotCost = splitsBFloat16Dot(info.getCPU()) ? 4 : 1;
  target.lookup = isWide && has("avx512vbmi") ? LookupInstr::Bytes128
                  : isWide                    ? LookupInstr::Words64
                                              : LookupInstr::None;
  // Cores with 512-bit vectors have 1 or 2 MiB, those before 256 or 512 KiB.
  target.cacheBytes = has("amx-tile") ? 2 << 20 : isWide ? 1 << 20 : 256 << 10;
}

static void describeAArch64(TargetDescription &target,
                            const llvm::MCSubtargetInfo &info) {
  bool hasRegisters = info.checkFeatures("+fp-armv8");
  target.vectorBits =
      info.checkFeatures("+neon") && !target.isBigEndian ? 128 : 0;
  target.numVectorRegisters = 32;
  target.hasFloat = target.hasDouble = hasRegisters;
  target.hasFMA = target.hasRounding = target.hasFloat16 = hasRegisters;
  target.hasMultiplyByLane = target.vectorBits > 0;
  if (target.vectorBits > 0 && info.checkFeatures("+dotprod"))
    target.dot = DotInstr::SignedQuads;
  target.hasBFloat16Dot = target.vectorBits > 0 && info.checkFeatures("+bf16");
  if (target.vectorBits > 0)
    target.lookup = LookupInstr::Bytes64;
}

/// NEON has 16 registers of 128 bits, MVE 8, and both lie over those of the
/// floating-point unit: 32 of 32 bits.
static void describeARM(TargetDescription &target,
                        const llvm::MCSubtargetInfo &info) {
  auto has = [&](llvm::StringRef feature) { return hasFeature(info, feature); };
  target.hasFloat = has("vfp2sp") && !has("soft-float");
  target.hasDouble = target.hasFloat && has("fp64");
  target.hasFMA = target.hasFloat && has("vfp4d16sp");
  target.hasRounding = target.hasFloat && has("fp-armv8d16sp");
  bool hasVectors = target.hasFloat && !target.isBigEndian;
  bool hasNeon = hasVectors && has("neon");
  bool hasMVE = hasVectors && has("mve.fp");
  target.vectorBits = hasNeon || hasMVE ? 128 : 0;
  // NEON's vmla takes a factor from a lane, and its vfma doesn't.
  target.hasMultiplyByLane = hasNeon;
  target.fusesMultiplyByLane = false;
  target.hasMultiplyByScalar = !hasNeon && hasMVE;
  target.convertsHalfRegisters = target.vectorBits == 0 || hasNeon;
  target.numVectorRegisters = hasNeon           ? 16
                              : hasMVE          ? 8
                              : target.hasFloat ? 32
                                                : 8;
  // The kernels are Thumb-2, and take all general registers.
  target.hasDualMultiply = target.vectorBits == 0 && has("dsp") &&
                           has("thumb2") && has("thumb-mode") &&
                           !has("reserve-r9") && !target.isBigEndian;
  target.hasDotReduction = hasMVE;
  target.hasRoundingConversion = target.hasFloat;
  if (!has("mclass"))
    return;
  // Some have an L1 cache, none an L2. LLVM generates no prefetch instructions
  // for most, and on the others they would only cost time.
  target.hasPrefetch = false;
  target.cacheBytes = 16 << 10;
}

/// Vectors have the length that all processors with the features have; more
/// than 512 bits are not used.
static void describeRISCV(TargetDescription &target,
                          const llvm::MCSubtargetInfo &info) {
  auto has = [&](llvm::StringRef feature) { return hasFeature(info, feature); };
  target.hasFloat = target.hasFMA = has("f");
  target.hasDouble = has("d");
  target.numVectorRegisters = target.hasFloat ? 32 : 16;
  if (!target.hasFloat || !has("zve32f"))
    return;
  for (auto [feature, bits] :
       {std::pair("zvl64b", 64u), std::pair("zvl128b", 128u),
        std::pair("zvl256b", 256u), std::pair("zvl512b", 512u)})
    if (has(feature))
      target.vectorBits = bits;
  target.hasMultiplyByScalar = target.vectorBits > 0;
}

/// An engine translates the code for a processor with at least 16 vector
/// registers, of which V8 keeps one to itself. What is known of the processor
/// is only that it is a phone's or better.
static void describeWasm(TargetDescription &target,
                         const llvm::MCSubtargetInfo &info) {
  bool isRelaxed = info.checkFeatures("+relaxed-simd");
  target.hasFloat = target.hasDouble = target.hasRounding = true;
  target.isTranslated = true;
  target.hasPrefetch = false;
  if (!isRelaxed && !info.checkFeatures("+simd128"))
    return;
  target.isWasm = true;
  target.vectorBits = 128;
  target.numVectorRegisters = 15;
  target.dot = DotInstr::Pairs;
  target.hasRelaxedMultiplyAdd = isRelaxed;
  target.splitsMultiplyAdd = !isRelaxed;
  target.instrsPerCycle = 5;
  target.cacheBytes = 512 << 10;
}

/// Sets the stack limits. Threads have 8 MiB on Linux, except with some C
/// libraries, and at least 512 KiB on other systems; bare metal has little.
static void describeSystem(TargetDescription &target,
                           const llvm::Triple &triple) {
  target.hasSystem = triple.getOS() != llvm::Triple::UnknownOS;
  target.isHosted =
      triple.isArch64Bit() && (triple.isOSLinux() || triple.isOSDarwin() ||
                               triple.isOSWindows() || triple.isOSFreeBSD());
  if (target.isHosted)
    target.maxStackBytes =
        triple.isOSLinux() && !triple.isMusl() ? 1280 << 10 : 256 << 10;
  // What browsers load is linked with a stack for it.
  if (isForWeb(triple)) {
    target.isHosted = true;
    target.maxStackBytes = webStackBytes / 2;
  }
}

TargetDescription
TargetDescription::forMachine(const llvm::TargetMachine &machine) {
  TargetDescription target;
  target.cpu = machine.getTargetCPU().str();
  target.features = machine.getTargetFeatureString().str();
  const llvm::MCSubtargetInfo &info = *machine.getMCSubtargetInfo();
  const llvm::Triple &triple = machine.getTargetTriple();
  target.isBigEndian = !triple.isLittleEndian();
  if (triple.isX86()) {
    describeX86(target, info);
  } else if (triple.isAArch64()) {
    describeAArch64(target, info);
  } else if (triple.isARM() || triple.isThumb()) {
    describeARM(target, info);
  } else if (triple.isRISCV()) {
    describeRISCV(target, info);
  } else if (triple.isWasm()) {
    describeWasm(target, info);
  }
  target.packedBits = target.vectorBits;
  describeSystem(target, triple);
  return target;
}

//===- Reproducible results -----------------------------------------------===//

/// The one target that decides the order of sums for all reproducible ones. Its
/// vectors are the widest, which LLVM splits for others. The stack bytes are
/// fewer than any hosted target has, so that what fits here fits there: tiles
/// of other targets may be larger.
static TargetDescription describeSumTarget() {
  TargetDescription target;
  target.vectorBits = target.packedBits = 512;
  target.numVectorRegisters = 32;
  target.hasFloat = target.hasDouble = target.hasRounding = true;
  target.isHosted = target.hasSystem = target.issuesWidely = true;
  target.cacheBytes = 1 << 20;
  target.maxStackBytes = 192 << 10;
  target.isReproducible = true;
  return target;
}

const TargetDescription &TargetDescription::getSumTarget() const {
  static const TargetDescription common = describeSumTarget();
  return isReproducible ? common : *this;
}

llvm::Error TargetDescription::makeReproducible() {
  if (!isHosted || vectorBits == 0 || !hasDouble)
    return makeError(
        "«reproducible»: accepted are 64-bit targets with a system "
        "and float vectors, such as x86_64-linux-gnu, "
        "aarch64-linux-gnu, and riscv64-linux-gnu with "
        "«mattr=+v»; and wasm32-unknown-unknown with "
        "«mattr=+simd128»");
  isReproducible = true;
  roundsEachStep = true;
  hasFMA = hasRelaxedMultiplyAdd = false;
  return llvm::Error::success();
}

//===- Attributes ---------------------------------------------------------===//

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

llvm::Function *TargetDescription::createFunction(
    llvm::Module &module, llvm::FunctionType *type,
    llvm::GlobalValue::LinkageTypes linkage, const llvm::Twine &name) const {
  auto *function = llvm::Function::Create(type, linkage, name, module);
  addFunctionAttributes(*function);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}
