//===- InstrTable.cpp - The records of the instructions -------------------===//

#include "InstrFactory.h"
#include "glowish/Ops/TypeRules.h"
#include "llvm/ADT/StringMap.h"
#include <array>
#include <mutex>

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
/// Dialects register themselves before main(), and those of plug-ins while
/// other threads compile: a record is where it is for good before its kind is
/// returned, so that reading it needs no lock.
class Registry {
public:
  Registry() { add(getInstrTable(), instrMakers); }

  /// Returns the first of the new kinds.
  InstrKind add(llvm::ArrayRef<OpInfo> table,
                llvm::ArrayRef<InstrDialect::Maker> makers) {
    std::lock_guard lock(mutex);
    auto first = InstrKind(size);
    if (size + table.size() > records.size())
      llvm::report_fatal_error("too many kinds of instructions");
    for (auto [info, maker] : llvm::zip_equal(table, makers)) {
      if (!kinds.try_emplace(info.name, InstrKind(size)).second)
        llvm::report_fatal_error("two instructions are called " + info.name);
      records[size++] = {&info, maker};
    }
    return first;
  }

  const OpInfo &getInfo(InstrKind kind) const {
    return *records[unsigned(kind)].info;
  }
  InstrDialect::Maker getMaker(InstrKind kind) const {
    return records[unsigned(kind)].maker;
  }
  std::optional<InstrKind> find(llvm::StringRef name) {
    std::lock_guard lock(mutex);
    auto found = kinds.find(name);
    return found == kinds.end() ? std::nullopt : std::optional(found->second);
  }

private:
  struct Record {
    const OpInfo *info = nullptr;
    InstrDialect::Maker maker = nullptr;
  };
  std::array<Record, 1024> records;
  std::mutex mutex;
  /// Guarded by the mutex.
  /// @{
  size_t size = 0;
  llvm::StringMap<InstrKind> kinds;
  /// @}
};

} // namespace

static Registry &getRegistry() {
  static Registry registry;
  return registry;
}

InstrDialect::InstrDialect(llvm::ArrayRef<OpInfo> table,
                           llvm::ArrayRef<Maker> makers)
    : first(getRegistry().add(table, makers)), size(table.size()) {}

bool glowish::isCommonInstr(InstrKind kind) {
  return unsigned(kind) < std::size(instrMakers);
}

const OpInfo &glowish::getInstrInfo(InstrKind kind) {
  return getRegistry().getInfo(kind);
}

std::optional<InstrKind> glowish::findInstrKind(llvm::StringRef name) {
  return getRegistry().find(name);
}

Instruction *glowish::makeInstr(InstrDraft draft, llvm::StringRef name) {
  return getRegistry().getMaker(draft.kind)(std::move(draft), name);
}
