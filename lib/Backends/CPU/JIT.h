//===- JIT.h - Running an object in this process ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_JIT_H
#define GLOWISH_LIB_BACKENDS_CPU_JIT_H

#include "Bundle/glowish_threads.h"
#include "glowish/Backends/Backend.h"

namespace glowish {

/// The entry of objects that are to be loaded.
constexpr llvm::StringLiteral jitEntryName = "glowish_jit_main";

/// What the object calls for tasks: glowish_parallel_for, or a function that
/// checks them.
using ParallelForFn = decltype(&glowish_parallel_for);

/// Loads an object made for this machine, whose entry has the three regions as
/// its arguments, and binds no placeholders. Its tasks have the default
/// threads.
llvm::Expected<std::unique_ptr<Executable>>
loadObject(llvm::ArrayRef<char> object);

/// Loads what CPUBackend::emitLocalObject has made: the code that a bundle
/// gets, so that what is tested here is what is shipped, but for an entry that
/// binds placeholders. \p clock: null, or the clock of a timed object.
llvm::Expected<std::unique_ptr<Executable>>
loadProgram(llvm::ArrayRef<char> object, InstrClock *clock,
            ParallelForFn parallelFor);

/// Returns the glowish_parallel_for of a program for \p numThreads threads:
/// each program of a process has as many as it was compiled for.
ParallelForFn getParallelFor(int64_t numThreads);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_JIT_H
