//===- HiddenConstants.h - Constants that LLVM takes amiss ------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_TARGET_HIDDENCONSTANTS_H
#define GLOWISH_LIB_BACKENDS_CPU_TARGET_HIDDENCONSTANTS_H

#include "llvm/IR/Module.h"

namespace glowish {

/// Hides from instruction selection the constants of \p module, which is
/// optimised code with vectors of MVE, for which LLVM 19 selects wrong
/// instructions: the zero that floats are compared with (VCMP with zero takes
/// NaN for less where it exchanged the sides), and the power of two that floats
/// made of integers, or about to become some, are multiplied with (VCVT gets
/// its number of fraction bits from a register where the constant is outside of
/// a loop).
void hideMVEConstants(llvm::Module &module);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_TARGET_HIDDENCONSTANTS_H
