//===- InstrTypes.h - An instruction as its record sees it ------*- C++ -*-===//

#ifndef GLOWISH_LIB_IR_INSTRTYPES_H
#define GLOWISH_LIB_IR_INSTRTYPES_H

#include "glowish/IR/IR.h"

namespace glowish {

/// The types of an instruction's operands by their role, for the functions of
/// its record: one input an @in or @inout operand, one output an @out operand,
/// null for an absent one.
struct InstrTypes {
  /// \p instr outlives the result.
  explicit InstrTypes(const Instruction &instr);

  OpView getView() const {
    return OpView(instr.getInfo(), inputs, outputs, instr.getAttrs());
  }

  const Instruction &instr;
  llvm::SmallVector<const Type *, 4> inputs, outputs;
};

} // namespace glowish

#endif // GLOWISH_LIB_IR_INSTRTYPES_H
