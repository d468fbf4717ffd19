//===- InstrTable.cpp - The records of the instructions -------------------===//

#include "InstrFactory.h"
#include "glowish/Ops/TypeRules.h"

using namespace glowish;

#define GET_INSTR_ARRAYS
#include "glowish/IR/InstrTable.inc"

static llvm::Expected<TypeList> inferLifetime(const OpView &op) {
  return TypeList{op.getOutput(0)};
}

static const OperandInfo lifetimeOperands[] = {
    {"buffer", OperandRole::Out, false, false, false, false, "an activation"}};

static const OpInfo instrTable[] = {
    {"Alloc",
     "Begins the life of an activation",
     lifetimeOperands,
     {},
     {},
     inferLifetime,
     std::nullopt},
    {"Dealloc",
     "Ends the life of an activation",
     lifetimeOperands,
     {},
     {},
     inferLifetime,
     std::nullopt},
#define GET_INSTR_TABLE
#include "glowish/IR/InstrTable.inc"
};

llvm::ArrayRef<OpInfo> glowish::getInstrTable() { return instrTable; }

const OpInfo &glowish::getInstrInfo(InstrKind kind) {
  return instrTable[unsigned(kind)];
}

std::optional<InstrKind> glowish::findInstrKind(llvm::StringRef name) {
  static const llvm::StringMap<InstrKind> kinds = [] {
    llvm::StringMap<InstrKind> map;
    map["Alloc"] = InstrKind::Alloc;
    map["Dealloc"] = InstrKind::Dealloc;
#define INSTR(NAME) map[#NAME] = InstrKind::NAME;
#define GET_INSTR_LIST
#include "glowish/IR/InstrKinds.inc"
    return map;
  }();
  auto found = kinds.find(name);
  if (found == kinds.end())
    return std::nullopt;
  return found->second;
}

Instruction *glowish::makeInstr(InstrDraft draft, llvm::StringRef name) {
  switch (draft.kind) {
  case InstrKind::Alloc:
    return new AllocInstr(std::move(draft), name);
  case InstrKind::Dealloc:
    return new DeallocInstr(std::move(draft), name);
#define INSTR(NAME)                                                            \
  case InstrKind::NAME:                                                        \
    return new NAME##Instr(std::move(draft), name);
#define GET_INSTR_LIST
#include "glowish/IR/InstrKinds.inc"
  }
  llvm_unreachable("not an instruction kind");
}
