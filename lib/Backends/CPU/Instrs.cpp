//===- Instrs.cpp - Instructions of the CPU back end ----------------------===//

#include "Instrs.h"

using namespace glowish;

#define GET_INSTR_ARRAYS
#include "glowish/Backends/CPU/instr-table.inc"

static const OpInfo instrTable[] = {
#define GET_INSTR_TABLE
#include "glowish/Backends/CPU/instr-table.inc"
};

static const InstrDialect::Maker instrMakers[] = {
#define INSTR(NAME)                                                            \
  [](InstrDraft draft, llvm::StringRef name) -> Instruction * {                \
    return new NAME##Instr(std::move(draft), name);                            \
  },
#define GET_INSTR_LIST
#include "glowish/Backends/CPU/instr-kinds.inc"
};

static const InstrDialect dialect(instrTable, instrMakers);

InstrKind glowish::getCPUKind(CPUInstrKind kind) {
  return dialect.getKind(unsigned(kind));
}
