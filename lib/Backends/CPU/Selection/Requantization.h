//===- Requantization.h - Rounded floats to bytes ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_REQUANTIZATION_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_REQUANTIZATION_H

#include "glowish/Backends/CPU/TargetDescription.h"
#include "glowish/IR/Instrs.h"

namespace glowish {

/// A scalar program and what its inputs are.
struct ProgramInputs {
  ScalarProgram program;
  /// Null for sums of int32.
  llvm::SmallVector<Buffer *, 4> inputs;
};

/// Whether the target is faster with integers: without vectors and on MVE, a
/// comparison of floats takes several instructions, and a limit of integers
/// one.
inline bool prefersIntegers(const TargetDescription &target) {
  return target.vectorBits == 0 || target.hasDotReduction;
}

/// Where \p code makes bytes of rounded floats, perhaps plus a zero point that
/// is a constant, converts these to int32 first, adds the zero point there, and
/// saturates. The results are the same. \p before: the instruction that new
/// constants are for. Returns whether anything was changed.
bool requantizeInIntegers(ProgramInputs &code, IRFunction &function,
                          const Instruction &before);

/// Does the same in all ElementWiseLoops.
bool prepareRequantizations(IRFunction &function,
                            const TargetDescription &target);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_REQUANTIZATION_H
