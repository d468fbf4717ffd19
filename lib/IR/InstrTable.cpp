//===- InstrTable.cpp - The records of the instructions -------------------===//

#include "InstrFactory.h"
#include "glowish/Ops/TypeRules.h"

using namespace glowish;

//===- Instructions of all back ends --------------------------------------===//

#define GET_INSTR_ARRAYS
#include "glowish/IR/InstrTable.inc"

/// A function, because dialects of other files use it in static initializers.
static llvm::ArrayRef<OpInfo> getInstrTable() {
  static const OpInfo table[] = {
#define GET_INSTR_TABLE
#include "glowish/IR/InstrTable.inc"
  };
  return table;
}

static const InstrDialect::Maker instrMakers[] = {
#define INSTR(NAME)                                                            \
  [](InstrDraft draft, llvm::StringRef name) -> Instruction * {                \
    return new NAME##Instr(std::move(draft), name);                            \
  },
#define GET_INSTR_LIST
#include "glowish/IR/InstrKinds.inc"
};

//===- Registration -------------------------------------------------------===//

namespace {

/// The records of all dialects by their kinds, those of Instrs.td first.
struct Registry {
  std::vector<const OpInfo *> infos;
  std::vector<InstrDialect::Maker> makers;
  llvm::StringMap<InstrKind> kinds;

  Registry() { add(getInstrTable(), instrMakers); }

  void add(llvm::ArrayRef<OpInfo> table,
           llvm::ArrayRef<InstrDialect::Maker> newMakers) {
    for (const OpInfo &info : table) {
      bool isNew = kinds.try_emplace(info.name, InstrKind(infos.size())).second;
      if (!isNew)
        llvm::report_fatal_error("two instructions are called " + info.name);
      infos.push_back(&info);
    }
    llvm::append_range(makers, newMakers);
  }
};

} // namespace

/// Dialects register themselves before main().
static Registry &getRegistry() {
  static Registry registry;
  return registry;
}

InstrDialect::InstrDialect(llvm::ArrayRef<OpInfo> table,
                           llvm::ArrayRef<Maker> makers)
    : first(InstrKind(getRegistry().infos.size())), size(table.size()) {
  getRegistry().add(table, makers);
}

bool glowish::isCommonInstr(InstrKind kind) {
  return unsigned(kind) < std::size(instrMakers);
}

const OpInfo &glowish::getInstrInfo(InstrKind kind) {
  return *getRegistry().infos[unsigned(kind)];
}

std::optional<InstrKind> glowish::findInstrKind(llvm::StringRef name) {
  auto found = getRegistry().kinds.find(name);
  if (found == getRegistry().kinds.end())
    return std::nullopt;
  return found->second;
}

Instruction *glowish::makeInstr(InstrDraft draft, llvm::StringRef name) {
  return getRegistry().makers[unsigned(draft.kind)](std::move(draft), name);
}
