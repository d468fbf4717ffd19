//===- JIT.h - Running an object in this process ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_JIT_H
#define GLOWISH_LIB_BACKENDS_CPU_JIT_H

#include "glowish/Backends/Backend.h"

namespace glowish {

/// The entry of objects that are to be loaded.
constexpr llvm::StringLiteral jitEntryName = "glowish_jit_main";

/// Loads an object made for this machine, whose entry has the three regions as
/// its arguments, and binds no placeholders.
llvm::Expected<std::unique_ptr<Executable>>
loadObject(llvm::ArrayRef<char> object);

/// Loads what CPUBackend::emitLocalObject has made: the code that a bundle
/// gets, so that what is tested here is what is shipped, but for an entry that
/// binds placeholders. \p clock: null, or the clock of a timed object.
llvm::Expected<std::unique_ptr<Executable>>
loadProgram(llvm::ArrayRef<char> object, InstrClock *clock = nullptr);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_JIT_H
