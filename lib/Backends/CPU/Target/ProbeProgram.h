//===- ProbeProgram.h - Programs that measure this machine ------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_TARGET_PROBEPROGRAM_H
#define GLOWISH_LIB_BACKENDS_CPU_TARGET_PROBEPROGRAM_H

#include "glowish/Backends/CPU/CPUBackend.h"

namespace llvm {
class Function;
} // namespace llvm

namespace glowish {

/// Compiles the program \p name for this machine and loads it. \p emit fills
/// its entry, whose arguments are as a network's (constants, mutables,
/// activations) and which returns 0.
llvm::Expected<std::unique_ptr<Executable>>
compileProbe(CPUBackend &backend, llvm::StringRef name,
             llvm::function_ref<void(llvm::Function &entry)> emit);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_TARGET_PROBEPROGRAM_H
