//===- TargetSelection.cpp - From options to an LLVM target ---------------===//

#include "Target/TargetSelection.h"
#include "glowish/Backends/CPU/TargetSupport.h"
#include "glowish/Support/SettingNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/ARMTargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/RISCVISAInfo.h"
#include "llvm/TargetParser/RISCVTargetParser.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/X86TargetParser.h"
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace glowish;
using llvm::StringRef;

static void initializeTargets() {
  static const bool done = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    // For the inline assembly of the system call that requests AMX.
    llvm::InitializeAllAsmParsers();
    return true;
  }();
  (void)done;
}

//===- Names --------------------------------------------------------------===//

/// Whether code for \p triple can be made for the CPU that \p info, made for
/// the same triple, calls \p cpu. (LLVM aborts over one of another word size.)
static bool isCpuOf(const llvm::Triple &triple,
                    const llvm::MCSubtargetInfo &info, StringRef cpu) {
  if (!info.isCPUStringValid(cpu))
    return false;
  if (triple.isX86())
    return !triple.isArch64Bit() ||
           llvm::X86::parseArchX86(cpu, /*Only64Bit=*/true) !=
               llvm::X86::CK_None;
  if (triple.isRISCV())
    return llvm::RISCV::parseCPU(cpu, triple.isArch64Bit());
  return true;
}

/// The few of \p names that look most like \p wrong, and how to see all.
static std::string suggest(std::vector<StringRef> names, StringRef wrong,
                           StringRef option) {
  constexpr size_t most = 6;
  llvm::sort(names, [&](StringRef a, StringRef b) {
    return std::pair(a.edit_distance(wrong), a) <
           std::pair(b.edit_distance(wrong), b);
  });
  names.resize(std::min(names.size(), most));
  return llvm::join(names, ", ") + ", ...: " + nameSetting(option, "help") +
         " lists all";
}

static std::vector<StringRef> getCpuNames(const llvm::Triple &triple,
                                          const llvm::MCSubtargetInfo &info) {
  std::vector<StringRef> names;
  for (const auto &known : info.getAllProcessorDescriptions())
    if (isCpuOf(triple, info, known.Key))
      names.push_back(known.Key);
  return names;
}

static std::unique_ptr<llvm::MCSubtargetInfo>
getSubtarget(const TargetSelection &selection, StringRef cpu,
             StringRef features) {
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      selection.target->createMCSubtargetInfo(selection.triple.str(), cpu,
                                              features));
}

/// The triples of a CPU that LLVM knows for ARM, of \p kind, in 32 bits.
static std::vector<std::string> getARMTriples(StringRef cpu,
                                              llvm::ARM::ArchKind kind) {
  // "armv7e-m" is "armv7em" in a triple.
  std::string arch;
  for (char each : llvm::ARM::getArchName(kind))
    if (each != '-')
      arch += each;
  StringRef version = arch;
  version.consume_front("arm");
  bool hasFloats = llvm::ARM::getDefaultFPU(cpu, kind) != llvm::ARM::FK_NONE;
  llvm::ARM::ProfileKind profile = llvm::ARM::parseArchProfile(arch);
  if (profile == llvm::ARM::ProfileKind::M)
    arch = ("thumb" + version).str();
  std::string system = profile == llvm::ARM::ProfileKind::M ||
                               profile == llvm::ARM::ProfileKind::R
                           ? "-none-"
                           : "-linux-gnu";
  std::vector<std::string> triples = {arch + system + "eabi"};
  if (hasFloats)
    triples.insert(triples.begin(), arch + system + "eabihf");
  return triples;
}

/// Whether \p cpu is a CPU of \p target, which is not ARM with 32 bits.
static bool isCpuOf(const TargetSupport &target, StringRef cpu) {
  llvm::Triple triple(llvm::Triple::normalize(target.triple));
  std::string message;
  const llvm::Target *found =
      llvm::TargetRegistry::lookupTarget(triple.str(), message);
  if (!found || triple.isARM() || triple.isThumb())
    return false;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      found->createMCSubtargetInfo(triple.str(), "", ""));
  return isCpuOf(triple, *info, cpu);
}

/// The rest of the message that \p cpu is not a CPU of \p triple: what to state
/// with it, or in its place.
static std::string describeCpu(const llvm::Triple &triple,
                               const llvm::MCSubtargetInfo &info,
                               StringRef cpu) {
  constexpr size_t most = 2;
  std::vector<std::string> triples;
  const TargetSupport *refused = nullptr;
  for (const TargetSupport &target : listTargets()) {
    bool isPlain = target.system == TargetSystem::Linux ||
                   target.system == TargetSystem::None ||
                   target.level == SupportLevel::Refused;
    if (!isPlain || triples.size() == most || !isCpuOf(target, cpu))
      continue;
    if (target.level == SupportLevel::Refused)
      refused = &target;
    else
      triples.push_back(target.triple.str());
  }
  llvm::ARM::ArchKind kind = llvm::ARM::parseCPUArch(cpu);
  if (kind != llvm::ARM::ArchKind::INVALID && !triple.isARM() &&
      !triple.isThumb())
    llvm::append_range(triples, getARMTriples(cpu, kind));
  for (std::string &each : triples)
    each = nameSetting("target", each);
  if (!triples.empty())
    return "; accepted: with " + llvm::join(triples, " or ");
  if (refused)
    return (", but of one that is refused (" + refused->describe() +
            "); accepted: " + refused->getNear())
        .str();
  return "; accepted: " + suggest(getCpuNames(triple, info), cpu, "mcpu");
}

/// Checks the names of CPU and features: LLVM only warns of unknown ones.
static llvm::Error checkNames(const TargetSelection &selection,
                              const TargetOptions &options) {
  std::unique_ptr<llvm::MCSubtargetInfo> info = getSubtarget(selection, "", "");
  const llvm::Triple &triple = selection.triple;
  StringRef cpu = selection.cpu;
  if (!cpu.empty() && !isCpuOf(triple, *info, cpu))
    return makeError("«mcpu={0}» is not a CPU of {1}target '{2}'{3}", cpu,
                     options.isForHost() ? "this machine's " : "", triple.str(),
                     describeCpu(triple, *info, cpu));
  for (StringRef attribute : options.attributes) {
    StringRef name = attribute;
    bool isSigned = name.consume_front("+") || name.consume_front("-");
    std::vector<StringRef> known;
    for (const auto &feature : info->getAllProcessorFeatures())
      known.push_back(feature.Key);
    bool isKnown = llvm::is_contained(known, name);
    if (!isSigned || !isKnown)
      return makeError(
          "«mattr={0}»: features of target '{1}' are written +name "
          "or -name, and it has {2} called '{3}'; accepted: {4}",
          attribute, triple.str(), isKnown ? "one" : "none", name,
          isKnown ? ("+" + name + ", -" + name).str()
                  : suggest(std::move(known), name, "mattr"));
  }
  return llvm::Error::success();
}

llvm::Expected<std::string>
glowish::listTargetNames(const TargetOptions &options, bool listsCpus) {
  TargetOptions plain;
  plain.triple = options.triple;
  plain.architecture = options.architecture;
  GLOWISH_ASSIGN_OR_RETURN(TargetSelection selection, selectTarget(plain));
  std::unique_ptr<llvm::MCSubtargetInfo> info = getSubtarget(selection, "", "");
  std::string list;
  llvm::raw_string_ostream os(list);
  if (listsCpus) {
    for (StringRef name : getCpuNames(selection.triple, *info))
      os << name << "\n";
    return list;
  }
  for (const auto &feature : info->getAllProcessorFeatures())
    os << llvm::formatv("{0,-28} {1}\n", feature.Key, feature.Desc);
  return list;
}

//===- What is left open --------------------------------------------------===//

/// Whether this system lets a process use the matrix registers that the
/// processor has: some sandboxes and old kernels don't.
static bool mayUseMatrixRegisters() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
#else
  return true;
#endif
}

/// Features that LLVM's defaults lack. On RISC-V without a CPU LLVM takes the
/// base ISA: operating systems use G and C there, and bare metal may have no
/// floating-point registers. Debian's LLVM leaves NEON out of ARM's CPUs, and
/// for most its scheduler ignores register pressure. For some it splits vmla to
/// shorten the chain of dependent sums: kernels have independent ones. All
/// engines for WebAssembly that have vectors have instructions for memcpy and
/// for conversions to integers that saturate. Its linkers have threads only for
/// objects that say they know of atomic instructions. On LoongArch LLVM takes
/// the base ISA, too, where the ABIs of systems have float registers, unless
/// the triple names another.
static std::vector<StringRef> getBaseFeatures(const TargetSelection &selection,
                                              unsigned numThreads) {
  const llvm::Triple &triple = selection.triple;
  std::vector<StringRef> features;
  if (triple.isRISCV() && selection.cpu.empty()) {
    features = {"+m", "+a", "+c"};
    if (triple.getOS() != llvm::Triple::UnknownOS)
      features.insert(features.end(), {"+f", "+d"});
  }
  if (triple.isLoongArch() && selection.cpu.empty() &&
      triple.getEnvironment() != llvm::Triple::GNUSF)
    features = {"+f", "+d"};
  if (triple.isWasm())
    features = {"+bulk-memory", "+nontrapping-fptoint"};
  if (triple.isWasm() && numThreads > 1)
    features.push_back("+atomics");
  if (!triple.isARM() && !triple.isThumb())
    return features;
  auto kind = llvm::ARM::parseCPUArch(selection.cpu);
  StringRef arch = selection.cpu.empty() ? triple.getArchName()
                                         : llvm::ARM::getArchName(kind);
  if (llvm::ARM::parseArchProfile(arch) != llvm::ARM::ProfileKind::A)
    return features;
  if (!selection.cpu.empty())
    llvm::ARM::getFPUFeatures(llvm::ARM::getDefaultFPU(selection.cpu, kind),
                              features);
  features.insert(features.end(), {"+use-misched", "-slowfpvmlx"});
  return features;
}

/// Whether the target is this machine's processor, as it is: a virtual machine
/// may hide features that the processor's name stands for.
static bool isHostProcessor(const TargetOptions &options) {
  return options.isForHost() &&
         (options.cpu.empty() || options.cpu == "native");
}

/// "+a,-b": the host's own features where the target is the host.
static std::string getFeatures(const TargetSelection &selection,
                               const TargetOptions &options) {
  llvm::SubtargetFeatures features;
  if (isHostProcessor(options)) {
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      features.AddFeature(
          feature.first(),
          feature.second &&
              (!feature.first().starts_with("amx") || mayUseMatrixRegisters()));
  } else if (!options.isForHost()) {
    for (StringRef feature : getBaseFeatures(selection, options.numThreads))
      features.AddFeature(feature);
  }
  // The host's features come out of a hash map; the others have an order.
  std::vector<std::string> sorted = features.getFeatures();
  if (options.isForHost())
    llvm::sort(sorted);
  llvm::append_range(
      sorted, llvm::SubtargetFeatures(llvm::join(options.attributes, ","))
                  .getFeatures());
  return llvm::join(sorted, ",");
}

/// Registers of 512 bits are a feature of their own, without which LLVM cannot
/// make code for AVX-512 (unless it is taken out, for AVX10). CPUs have both,
/// and an extension of AVX-512 that is added brings the registers.
static void addImpliedFeatures(TargetSelection &selection) {
  if (!selection.triple.isX86() ||
      StringRef(selection.features).contains("evex512") ||
      !hasFeature(*getSubtarget(selection, selection.cpu, selection.features),
                  "avx512f"))
    return;
  llvm::SubtargetFeatures features(selection.features);
  features.AddFeature("evex512");
  selection.features = features.getString();
}

/// The M profile has Thumb instructions only, and without an environment LLVM
/// takes calling conventions from before the EABI.
static void completeARM(TargetSelection &selection,
                        const TargetOptions &options) {
  llvm::Triple &triple = selection.triple;
  if (selection.cpu.empty() && triple.getSubArch() == llvm::Triple::NoSubArch)
    selection.cpu = llvm::ARM::getARMCPUForArch(triple).str();
  StringRef arch =
      llvm::ARM::getArchName(llvm::ARM::parseCPUArch(selection.cpu));
  if (llvm::ARM::parseArchProfile(arch) == llvm::ARM::ProfileKind::M &&
      arch.consume_front("arm") &&
      (!triple.isThumb() || triple.getSubArch() == llvm::Triple::NoSubArch))
    triple.setArchName(("thumb" + arch).str());
  triple = llvm::Triple(llvm::Triple::normalize(triple.str()));
  if (!triple.isOSBinFormatELF() ||
      triple.getEnvironment() != llvm::Triple::UnknownEnvironment)
    return;
  bool isHard = options.floatABI == llvm::FloatABI::Hard;
  if (triple.getOS() == llvm::Triple::UnknownOS)
    triple.setEnvironment(isHard ? llvm::Triple::EABIHF : llvm::Triple::EABI);
  else
    triple.setEnvironment(isHard ? llvm::Triple::GNUEABIHF
                                 : llvm::Triple::GNUEABI);
}

//===- What goes together -------------------------------------------------===//

static llvm::Error checkFloatABI(const TargetSelection &selection,
                                 const llvm::MCSubtargetInfo &info) {
  const llvm::Triple &triple = selection.triple;
  llvm::FloatABI::ABIType wanted = selection.floatABI;
  if (triple.isARM() || triple.isThumb()) {
    bool isHard = wanted == llvm::FloatABI::Hard ||
                  (wanted == llvm::FloatABI::Default &&
                   triple.getEnvironmentName().ends_with("hf"));
    if (isHard && !hasFeature(info, "vfp2sp"))
      return makeError(
          "target '{0}' passes floats in float registers, which {1} lacks; "
          "accepted: «mcpu» or «mattr» with them («mcpu=cortex-m4», "
          "«mattr=+vfp4d16sp»), or «float-abi=soft»",
          triple.str(),
          selection.cpu.empty() ? "its generic CPU"
                                : nameSetting("mcpu", selection.cpu));
    return llvm::Error::success();
  }
  if (wanted == llvm::FloatABI::Soft)
    return makeError(
        "«float-abi=soft» is for ARM targets, not '{0}'{1}", triple.str(),
        triple.isRISCV() ? "; «mabi=lp64» or ilp32 is the same here" : "");
  return llvm::Error::success();
}

static llvm::Error checkABI(TargetSelection &selection,
                            llvm::ArrayRef<StringRef> accepted) {
  if (selection.abi.empty() || llvm::is_contained(accepted, selection.abi))
    return llvm::Error::success();
  return makeError("«mabi={0}»: target '{1}' with these features has no such "
                   "ABI; accepted: {2}",
                   selection.abi, selection.triple.str(),
                   accepted.empty() ? "none; it has only its own"
                                    : llvm::join(accepted, ", "));
}

/// LLVM aborts over extensions that exclude each other, and ignores an ABI
/// that needs registers which are not there.
static llvm::Error checkRISCV(TargetSelection &selection,
                              const llvm::MCSubtargetInfo &info) {
  bool isWide = selection.triple.isArch64Bit();
  std::vector<std::string> extensions;
  for (const auto &feature : info.getAllProcessorFeatures())
    if (hasFeature(info, feature.Key) &&
        llvm::RISCVISAInfo::isSupportedExtensionFeature(feature.Key))
      extensions.push_back("+" + std::string(feature.Key));
  auto isa = llvm::RISCVISAInfo::parseFeatures(isWide ? 64 : 32, extensions);
  if (!isa)
    return addContext(isa.takeError(), "«mattr»: ");
  std::vector<StringRef> accepted;
  if (hasFeature(info, "e")) {
    accepted.push_back(isWide ? "lp64e" : "ilp32e");
  } else {
    accepted.push_back(isWide ? "lp64" : "ilp32");
    if (hasFeature(info, "f"))
      accepted.push_back(isWide ? "lp64f" : "ilp32f");
    if (hasFeature(info, "d"))
      accepted.push_back(isWide ? "lp64d" : "ilp32d");
  }
  if (selection.abi.empty())
    selection.abi = accepted.back().str();
  return checkABI(selection, accepted);
}

/// LLVM prints that an ABI is not that of the triple, or needs registers which
/// are not there.
static llvm::Error checkLoongArch(TargetSelection &selection,
                                  const llvm::MCSubtargetInfo &info) {
  llvm::Triple &triple = selection.triple;
  std::vector<StringRef> accepted = {"lp64s"};
  if (hasFeature(info, "d"))
    accepted.push_back("lp64d");
  if (selection.abi.empty())
    selection.abi = accepted.back().str();
  GLOWISH_RETURN_IF_ERROR(checkABI(selection, accepted));
  if (triple.hasEnvironment() && selection.abi == "lp64s")
    triple.setEnvironment(llvm::Triple::GNUSF);
  return llvm::Error::success();
}

/// Without SSE2 LLVM keeps floats in registers of the x87 unit, with more bits
/// than they have, and what is computed of their bits is wrong. It aborts over
/// the features of the other word size, and takes minutes for floats of
/// functions.
static llvm::Error checkX86(TargetSelection &selection,
                            const llvm::MCSubtargetInfo &info) {
  bool isWide = selection.triple.isArch64Bit();
  if (hasFeature(info, "64bit-mode") != isWide ||
      (isWide && !hasFeature(info, "64bit")))
    return makeError(
        "«mattr»: target '{0}' {1} 64bit and 64bit-mode; accepted: "
        "another «target»",
        selection.triple.str(), isWide ? "has" : "has no");
  if (hasFeature(info, "soft-float"))
    return makeError("«mattr=+soft-float»: floats of target '{0}' are computed "
                     "with SSE2; accepted: without it",
                     selection.triple.str());
  if (hasFeature(info, "sse2"))
    return checkABI(selection, {});
  return makeError("target '{0}' with {1} has no SSE2, which floats are "
                   "computed with; accepted: «mcpu=pentium4» or later, or "
                   "«mattr=+sse2»",
                   selection.triple.str(),
                   selection.cpu.empty() ? "these features"
                                         : nameSetting("mcpu", selection.cpu));
}

/// LLVM prints that an extension needs a later revision, and that MIPS I is an
/// experiment.
static llvm::Error checkMIPS(TargetSelection &selection,
                             const llvm::MCSubtargetInfo &info) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral>
      needed[] = {{"dsp", "mips32r2"}, {"dspr2", "mips32r2"},
                  {"msa", "mips32r5"}, {"virt", "mips32r5"},
                  {"crc", "mips32r6"}, {"ginv", "mips32r6"},
                  {"mips1", "mips2"}};
  for (const auto &[feature, revision] : needed)
    if (hasFeature(info, feature) && !hasFeature(info, revision))
      return makeError("«mattr»: target '{0}' has {1}, which needs {2}; "
                       "accepted: a «mcpu» with both, or without {1}",
                       selection.triple.str(), feature, revision);
  return checkABI(selection, {});
}

/// LLVM recurses without end where MVE is not alone, or not on the M profile.
static llvm::Error checkARM(TargetSelection &selection,
                            const llvm::MCSubtargetInfo &info) {
  if (hasFeature(info, "mve") &&
      (hasFeature(info, "neon") || !hasFeature(info, "mclass")))
    return makeError("«mattr»: target '{0}' has MVE {1}; accepted: one of mve "
                     "(Arm's M profile) and neon (the others)",
                     selection.triple.str(),
                     hasFeature(info, "neon") ? "and NEON"
                                              : "without the M profile");
  return checkABI(selection, {"aapcs", "aapcs-linux"});
}

static llvm::Error checkTogether(TargetSelection &selection) {
  std::unique_ptr<llvm::MCSubtargetInfo> info =
      getSubtarget(selection, selection.cpu, selection.features);
  GLOWISH_RETURN_IF_ERROR(checkFloatABI(selection, *info));
  const llvm::Triple &triple = selection.triple;
  if (triple.isX86())
    return checkX86(selection, *info);
  if (triple.isRISCV())
    return checkRISCV(selection, *info);
  if (triple.isLoongArch())
    return checkLoongArch(selection, *info);
  if (triple.isMIPS())
    return checkMIPS(selection, *info);
  if (triple.isARM() || triple.isThumb())
    return checkARM(selection, *info);
  if (triple.isAArch64())
    return checkABI(selection, {"aapcs"});
  return checkABI(selection, {});
}

/// LLVM aborts over others.
static llvm::Error checkCodeModel(const llvm::Triple &triple,
                                  llvm::CodeModel::Model model) {
  bool takesMedium =
      triple.getArch() == llvm::Triple::x86_64 || triple.isRISCV();
  bool takesLarge = triple.getArch() == llvm::Triple::x86_64 ||
                    triple.isAArch64() ||
                    triple.getArch() == llvm::Triple::riscv64;
  bool isTaken = model == llvm::CodeModel::Medium  ? takesMedium
                 : model == llvm::CodeModel::Large ? takesLarge
                                                   : true;
  if (isTaken)
    return llvm::Error::success();
  return makeError(
      "«code-model={0}»: target '{1}' has no such model; accepted: "
      "small{2}{3}",
      model == llvm::CodeModel::Medium ? "medium" : "large", triple.str(),
      takesMedium ? ", medium" : "", takesLarge ? ", large" : "");
}

/// The names that -march takes, without those of architectures that are
/// refused.
static std::string listArchitectures() {
  std::vector<StringRef> names;
  for (const llvm::Target &target : llvm::TargetRegistry::targets()) {
    llvm::Triple triple;
    triple.setArch(llvm::Triple::getArchTypeForLLVMName(target.getName()));
    if (triple.getArch() != llvm::Triple::UnknownArch &&
        getTargetSupport(triple).level != SupportLevel::Refused)
      names.push_back(target.getName());
  }
  llvm::sort(names);
  return llvm::join(names, ", ");
}

static llvm::Error findTarget(TargetSelection &selection,
                              const TargetOptions &options) {
  initializeTargets();
  std::string message;
  llvm::Triple &triple = selection.triple;
  triple = llvm::Triple(options.triple.empty()
                            ? llvm::sys::getProcessTriple()
                            : llvm::Triple::normalize(options.triple));
  selection.target =
      llvm::TargetRegistry::lookupTarget(options.architecture, triple, message);
  if (!selection.target && !options.architecture.empty())
    return makeError(
        "«march={0}»: there is no such architecture; accepted: {1}",
        options.architecture, listArchitectures());
  if (triple.getArch() == llvm::Triple::UnknownArch)
    return makeError(
        "«target={0}»: LLVM has no architecture '{1}'; accepted: triples that "
        "begin with x86_64, i686, aarch64, arm, armv7a, thumbv7em, "
        "thumbv8m.main, riscv64, riscv32, wasm32, ..., like "
        "aarch64-linux-gnu or thumbv7em-none-eabihf; «target=help» lists all",
        options.triple, StringRef(options.triple).split('-').first);
  std::string option = options.architecture.empty()
                           ? nameSetting("target", options.triple)
                           : nameSetting("march", options.architecture);
  GLOWISH_RETURN_IF_ERROR(checkSupported(triple, option));
  if (!selection.target)
    return makeError("{0}: this LLVM has no code generator for it; accepted: "
                     "what «target=help» lists",
                     option);
  return llvm::Error::success();
}

llvm::Expected<TargetSelection>
glowish::selectTarget(const TargetOptions &options) {
  TargetSelection selection;
  GLOWISH_RETURN_IF_ERROR(findTarget(selection, options));
  const llvm::Triple &triple = selection.triple;
  selection.cpu = options.cpu;
  if (isHostProcessor(options))
    selection.cpu = llvm::sys::getHostCPUName().str();
  // As other compilers do.
  if (triple.getArch() == llvm::Triple::x86 && selection.cpu.empty())
    selection.cpu = "pentium4";
  selection.floatABI = options.floatABI;
  selection.abi = options.abi;
  if (triple.isARM() || triple.isThumb())
    completeARM(selection, options);
  GLOWISH_RETURN_IF_ERROR(checkNames(selection, options));
  selection.features = getFeatures(selection, options);
  addImpliedFeatures(selection);
  GLOWISH_RETURN_IF_ERROR(checkTogether(selection));
  GLOWISH_RETURN_IF_ERROR(checkCodeModel(triple, options.codeModel));
  // Without a system nothing moves the program, and tables with addresses would
  // take RAM. Hexagon's static code has data near a register that programs need
  // not set.
  bool isStatic = triple.getOS() == llvm::Triple::UnknownOS &&
                  triple.getArch() != llvm::Triple::hexagon;
  selection.relocationModel = options.relocationModel.value_or(
      isStatic ? llvm::Reloc::Static : llvm::Reloc::PIC_);
  return selection;
}
