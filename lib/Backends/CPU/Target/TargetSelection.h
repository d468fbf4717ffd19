//===- TargetSelection.h - From options to an LLVM target -------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_TARGET_TARGETSELECTION_H
#define GLOWISH_LIB_BACKENDS_CPU_TARGET_TARGETSELECTION_H

#include "glowish/Backends/CPU/CPUBackend.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"

namespace glowish {

/// The target for LLVM: TargetOptions with defaults for all that is unset.
struct TargetSelection {
  const llvm::Target *target = nullptr;
  llvm::Triple triple;
  std::string cpu;
  /// "+a,-b".
  std::string features;
  /// May be empty: LLVM's for the triple.
  std::string abi;
  llvm::FloatABI::ABIType floatABI = llvm::FloatABI::Default;
  llvm::Reloc::Model relocationModel = llvm::Reloc::PIC_;
};

/// Fills in what \p options leave open, and checks that all of it goes
/// together; LLVM would warn, or abort, and go on. Processors of ARM's M
/// profile get a Thumb triple, and RISC-V targets the instructions that their
/// system's programs are made of where no CPU is stated. An error names the
/// option, and what is accepted.
llvm::Expected<TargetSelection> selectTarget(const TargetOptions &options);

/// Whether the processor of \p info has \p feature.
inline bool hasFeature(const llvm::MCSubtargetInfo &info,
                       llvm::StringRef feature) {
  return info.checkFeatures(("+" + feature).str());
}

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_TARGET_TARGETSELECTION_H
