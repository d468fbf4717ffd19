//===- MatMul.h - Matmuls of unpacked operands ------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_MATMUL_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_MATMUL_H

#include "glowish/Backends/CPU/TargetDescription.h"
#include "glowish/IR/Instrs.h"

namespace glowish {

/// Whether emitMatMul takes operand \p index of \p instr with any strides,
/// and packs the matrix of each matmul on the stack. Otherwise neighbours of a
/// row lie side by side.
bool packsOperand(const MatMulInstr &instr, unsigned index,
                  const TargetDescription &target);

/// Whether a run states how many elements of the depth of \p instr count.
bool hasBoundedDepth(const MatMulInstr &instr);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_MATMUL_MATMUL_H
