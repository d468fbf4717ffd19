//===- Run.h - How the interpreter runs instructions ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_INTERPRETER_RUN_H
#define GLOWISH_LIB_BACKENDS_INTERPRETER_RUN_H

#include "Kernels.h"

namespace glowish::interpreter {

/// runNAME for each instruction of Instrs.td, defined in the file of its
/// family.
#define LIFETIME_MARKER(NAME)
#define INSTR(NAME)                                                            \
  void run##NAME(const Memory &memory, const NAME##Instr &instr);
#define GET_INSTR_LIST
#include "glowish/IR/InstrKinds.inc"

/// Runs \p instr, which is of Instrs.td.
void runInstr(const Memory &memory, const Instruction &instr);

} // namespace glowish::interpreter

#endif // GLOWISH_LIB_BACKENDS_INTERPRETER_RUN_H
