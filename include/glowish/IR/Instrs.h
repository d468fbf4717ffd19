//===- Instrs.h - The generated instruction classes -----------*- C++ -*-===//
//
// For each record of Instrs.td (NAME, or NAMEInstr for one made from a node)
// a class NAMEInstr with
//   static InstrDraft draft(operands..., attributes...)
//   Buffer *getOPERAND() const, ... getATTRIBUTE() const
// and InstrVisitor, which calls visitNAME(NAMEInstr &) or visitInstr(
// Instruction &).
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_IR_INSTRS_H
#define GLOWISH_IR_INSTRS_H

#include "glowish/IR/IR.h"

namespace glowish {

/// Begins the life of an activation.
class AllocInstr : public Instruction {
public:
  AllocInstr(InstrDraft draft, llvm::StringRef name)
      : Instruction(std::move(draft), name) {}
  static InstrDraft draft(Buffer *buffer) {
    return {InstrKind::Alloc, {buffer}, {}};
  }
  static bool classof(const Instruction *instr) {
    return instr->getKind() == InstrKind::Alloc;
  }
  Buffer *getBuffer() const { return getOperand(0); }
};

/// Ends the life of an activation.
class DeallocInstr : public Instruction {
public:
  DeallocInstr(InstrDraft draft, llvm::StringRef name)
      : Instruction(std::move(draft), name) {}
  static InstrDraft draft(Buffer *buffer) {
    return {InstrKind::Dealloc, {buffer}, {}};
  }
  static bool classof(const Instruction *instr) {
    return instr->getKind() == InstrKind::Dealloc;
  }
  Buffer *getBuffer() const { return getOperand(0); }
};

#define GET_INSTR_CLASSES
#include "glowish/IR/InstrClasses.inc"

/// `struct MyVisitor : InstrVisitor<MyVisitor, Result, Args...>`.
template <typename Derived, typename Result = void, typename... Args>
class InstrVisitor {
public:
  Result visit(Instruction &instr, Args... args) {
    switch (instr.getKind()) {
#define INSTR(NAME)                                                            \
  case InstrKind::NAME:                                                        \
    return derived().visit##NAME(static_cast<NAME##Instr &>(instr), args...);
#define GET_INSTR_LIST
#include "glowish/IR/InstrKinds.inc"
    case InstrKind::Alloc:
    case InstrKind::Dealloc:
      return derived().visitInstr(instr, args...);
    }
    llvm_unreachable("not an instruction kind");
  }
#define INSTR(NAME)                                                            \
  Result visit##NAME(NAME##Instr &instr, Args... args) {                       \
    return derived().visitInstr(instr, args...);                               \
  }
#define GET_INSTR_LIST
#include "glowish/IR/InstrKinds.inc"

private:
  Derived &derived() { return static_cast<Derived &>(*this); }
};

} // namespace glowish

#endif // GLOWISH_IR_INSTRS_H
