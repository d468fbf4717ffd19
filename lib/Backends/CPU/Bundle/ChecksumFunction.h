//===- ChecksumFunction.h - The checksum of weights in code -----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_CHECKSUMFUNCTION_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_CHECKSUMFUNCTION_H

#include "glowish/Backends/CPU/TargetDescription.h"

namespace glowish {

/// Defines a function in \p module that returns checksum64 of the \p size bytes
/// at its argument, for applications whose language computes with 64-bit
/// integers slowly.
llvm::Function *defineChecksum(llvm::Module &module,
                               const TargetDescription &target, uint64_t size);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_CHECKSUMFUNCTION_H
