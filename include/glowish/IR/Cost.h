//===- Cost.h - Work of an instruction --------------------------*- C++ -*-===//

#ifndef GLOWISH_IR_COST_H
#define GLOWISH_IR_COST_H

#include "glowish/IR/IR.h"

namespace glowish {

/// The work of one instruction, or of several.
struct Cost {
  /// Two for each multiply-add that the record counts (MultiplyAdds): those of
  /// convolutions and matrix products, as they are defined. A kernel with a
  /// better algorithm does fewer.
  double flops = 0;
  /// The size of the operands. Elements that a view of stride 0 repeats count
  /// once; an operand that is read and written counts twice.
  double bytes = 0;

  Cost &operator+=(const Cost &other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

/// Returns the work of \p instr, whose operands count as a whole (RunProgram.h
/// has those of one run). Marks of a lifetime cost nothing; a branch costs as
/// much as the dearer body, and a loop as if it ran as often as it may.
Cost getCost(const Instruction &instr);

} // namespace glowish

#endif // GLOWISH_IR_COST_H
