//===- Products.h - Matrix products as they stand -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_PRODUCTS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_PRODUCTS_H

#include "Kernels.h"

namespace glowish {

/// Whether emitProducts takes operand \p index of \p instr with any strides,
/// and packs the matrix of each product on the stack. Otherwise neighbours of a
/// row lie side by side.
bool packsOperand(const MatMulInstr &instr, unsigned index,
                  const TargetDescription &target);

/// The products of \p instr, one by one, on vectors; the right sides are read
/// as they lie in memory.
void emitProducts(KernelBuilder &b, const MatMulInstr &instr,
                  StridedOperand result, StridedOperand lhs, StridedOperand rhs,
                  std::vector<StridedOperand> fused);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_PRODUCTS_H
