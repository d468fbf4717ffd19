//===- InstrFactory.h - Constructing instructions by kind -------*- C++ -*-===//

#ifndef GLOWISH_LIB_IR_INSTRFACTORY_H
#define GLOWISH_LIB_IR_INSTRFACTORY_H

#include "glowish/IR/Instrs.h"

namespace glowish {

/// An instruction of the class that belongs to draft.kind.
Instruction *makeInstr(InstrDraft draft, llvm::StringRef name);

} // namespace glowish

#endif // GLOWISH_LIB_IR_INSTRFACTORY_H
