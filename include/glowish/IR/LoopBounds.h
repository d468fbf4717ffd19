//===- LoopBounds.h - How far the loops of a run go -------------*- C++ -*-===//

#ifndef GLOWISH_IR_LOOPBOUNDS_H
#define GLOWISH_IR_LOOPBOUNDS_H

#include "glowish/IR/IR.h"

namespace glowish {

/// The bounds of the result, operand 0, of \p instr, for a result that is
/// reshaped to \p shape. Those without a dimension of their own are left out.
std::vector<LoopBound> getResultBounds(const Instruction &instr, DimsRef shape);

} // namespace glowish

#endif // GLOWISH_IR_LOOPBOUNDS_H
