//===- HostCheck.cpp - Whether this machine runs code for a target --------===//

#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"

using namespace glowish;

/// The features of the processor that \p machine makes code for, without the
/// marks of what is fast on it.
static std::unique_ptr<llvm::MCSubtargetInfo>
getFeatures(const llvm::TargetMachine &machine) {
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      machine.getTarget().createMCSubtargetInfo(
          machine.getTargetTriple().str(), machine.getTargetCPU(),
          machine.getTargetFeatureString()));
  info->setDefaultFeatures(machine.getTargetCPU(), /*TuneCPU=*/"",
                           machine.getTargetFeatureString());
  return info;
}

/// Whether the extension \p name of x86 has only instructions for operating
/// systems, or for programs that use them through intrinsics. Generated code
/// has none of them, and hypervisors hide many: without this exception, code
/// for the processor of a virtual machine would be refused on it.
static bool isForSystems(llvm::StringRef name) {
  static const llvm::StringSet<> names = {
      "cldemote", "clflushopt", "clwb",     "clzero",   "enqcmd",
      "fsgsbase", "hreset",     "invpcid",  "kl",       "movdir64b",
      "movdiri",  "mwaitx",     "pconfig",  "pku",      "prefetchi",
      "ptwrite",  "rdpid",      "rdpru",    "rdrnd",    "rdseed",
      "rtm",      "serialize",  "sgx",      "shstk",    "tsxldtrk",
      "uintr",    "usermsr",    "waitpkg",  "wbnoinvd", "widekl",
      "xsave",    "xsavec",     "xsaveopt", "xsaves"};
  return names.contains(name);
}

llvm::Error CPUBackend::checkRunsHere() const {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<CPUBackend> hostBackend,
                           CPUBackend::create({}));
  const llvm::TargetMachine &host = hostBackend->getTargetMachine();
  const llvm::Triple &triple = machine->getTargetTriple();
  const llvm::Triple &hostTriple = host.getTargetTriple();
  if (triple.getArch() != hostTriple.getArch() ||
      triple.getOS() != hostTriple.getOS() ||
      triple.getObjectFormat() != hostTriple.getObjectFormat() ||
      machine->getPointerSize(0) != host.getPointerSize(0))
    return makeError("this machine ('{0}') cannot run code for '{1}'",
                     hostTriple.str(), triple.str());
  auto needed = getFeatures(*machine), available = getFeatures(host);
  for (const auto &feature : needed->getAllProcessorFeatures())
    if (needed->hasFeature(feature.Value) &&
        !available->hasFeature(feature.Value) &&
        !(triple.isX86() && isForSystems(feature.Key)))
      return makeError("this machine lacks the feature '{0}' of the target",
                       feature.Key);
  return llvm::Error::success();
}
