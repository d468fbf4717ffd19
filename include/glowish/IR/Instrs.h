//===- Instrs.h - The generated instruction classes -------------*- C++ -*-===//
//
// For each record of Instrs.td (NAME, or NAMEInstr for one made from a node)
// a class NAMEInstr with
//   static InstrDraft draft(operands..., attributes...)
//   Buffer *getOPERAND() const, ... getATTRIBUTE() const
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_IR_INSTRS_H
#define GLOWISH_IR_INSTRS_H

#include "glowish/IR/IR.h"

namespace glowish {

#define GET_INSTR_CLASSES
#include "glowish/IR/InstrClasses.inc"

} // namespace glowish

#endif // GLOWISH_IR_INSTRS_H
