//===- MemoryFunctions.h - memcpy and its like without libc -----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_MEMORYFUNCTIONS_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_MEMORYFUNCTIONS_H

#include "glowish/Backends/CPU/TargetDescription.h"

namespace glowish {

/// Defines memcpy, memmove and memset in \p module, hidden, so that a linker
/// without a C library finds them: code that LLVM generates calls them.
void defineMemoryFunctions(llvm::Module &module,
                           const TargetDescription &target);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_MEMORYFUNCTIONS_H
