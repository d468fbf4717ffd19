//===- FindInstr.h - Looking for an instruction -----------------*- C++ -*-===//

#ifndef GLOWISH_IR_FINDINSTR_H
#define GLOWISH_IR_FINDINSTR_H

#include "glowish/IR/IR.h"

namespace glowish {

/// Returns the first instruction of \p function, or of a body inside it, that
/// \p isWanted returns true for; null if there is none.
inline const Instruction *
findInstr(const IRFunction &function,
          llvm::function_ref<bool(const Instruction &instr)> isWanted) {
  const Instruction *found = nullptr;
  forEachFunction(function, [&](const IRFunction &each) {
    for (const Instruction &instr : each.getInstrs())
      if (!found && isWanted(instr))
        found = &instr;
  });
  return found;
}

} // namespace glowish

#endif // GLOWISH_IR_FINDINSTR_H
