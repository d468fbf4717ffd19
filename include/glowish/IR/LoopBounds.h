//===- LoopBounds.h - How far the loops of a run go -------------*- C++ -*-===//

#ifndef GLOWISH_IR_LOOPBOUNDS_H
#define GLOWISH_IR_LOOPBOUNDS_H

#include "glowish/IR/IR.h"

namespace glowish {

/// Returns the ranges of the symbols that the inputs of \p function state.
SymbolRanges getSymbolRanges(const IRFunction &function);

/// The bounds of the result, operand 0, of \p instr, for a result that is
/// reshaped to \p shape. Those without a dimension of their own are left out.
std::vector<LoopBound> getResultBounds(const Instruction &instr, DimsRef shape);

/// Returns the bounds of an instruction whose operand 0 is of the shape of
/// operand \p index, the left or the right side, of \p matmul: what that needs
/// of it.
std::vector<LoopBound> getSideBounds(const Instruction &matmul, unsigned index);

} // namespace glowish

#endif // GLOWISH_IR_LOOPBOUNDS_H
