//===- HiddenConstants.h - Constants that are miscompiled -------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_TARGET_HIDDENCONSTANTS_H
#define GLOWISH_LIB_BACKENDS_CPU_TARGET_HIDDENCONSTANTS_H

#include "llvm/IR/Module.h"

namespace glowish {

/// Hides constants of \p module, which is optimised code for MVE, from
/// instruction selection. LLVM 19 selects wrong instructions
///   - for comparisons of vectors of floats with 0: where it swaps the
///   operands,
///     the condition of VCMP becomes LT, which is true for NaN;
///   - for a multiplication by a power of two behind a conversion from
///   integers,
///     or in front of one to integers: VCVT may get a register for its number
///     of fraction bits.
void hideMVEConstants(llvm::Module &module);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_TARGET_HIDDENCONSTANTS_H
