//===- NBitsKernels.h - Packs weights of 8 and 4 bits -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_NBITSKERNELS_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_NBITSKERNELS_H

#include "glowish/IR/IR.h"

namespace glowish {

/// Replaces each MatMulNBits, whose weights, scales and zero points are
/// constants, by a CPUMatMulNBits. Returns
/// whether it changed something.
bool prepareNBitsKernels(IRFunction &function);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_NBITSKERNELS_H
