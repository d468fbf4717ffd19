//===- DeadStores.cpp - Results that nobody reads -------------------------===//
//
// One walk from the end of the program to its beginning, keeping for each root
// the regions that are read later. A write that meets none of them is dead.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "glowish/IR/Passes.h"

using namespace glowish;

namespace {

/// The elements of one root that are read after a point of the program.
class LiveRegions {
public:
  /// Beyond this many regions everything is taken for live: the walk stays
  /// linear.
  static constexpr unsigned limit = 64;

  void read(const Region &region) {
    if (regions.size() == limit)
      isAllLive = true;
    if (!isAllLive && llvm::none_of(regions, [&](const Region &other) {
          return isSame(other, region);
        }))
      regions.push_back(region);
  }
  /// A write of \p region, all of the root if \p isWhole: what was there
  /// before is not read.
  void overwrite(const Region &region, bool isWhole) {
    if (isWhole) {
      regions.clear();
      isAllLive = false;
      return;
    }
    llvm::erase_if(regions, [&](const Region &other) {
      return isSame(other, region);
    });
  }
  bool isRead(const Region &region) const {
    return isAllLive || llvm::any_of(regions, [&](const Region &other) {
             return !areDisjoint(other, region);
           });
  }

private:
  bool isAllLive = false;
  llvm::SmallVector<Region, 2> regions;
};

class DeadStoreWalk {
public:
  explicit DeadStoreWalk(IRFunction &function) {
    // The application, or the next run, reads what the program leaves.
    for (const auto &buffer : function.getBuffers())
      if (buffer->getKind() == Buffer::Kind::Mutable)
        live[buffer.get()].read(Region::of(*buffer));
  }

  bool isDead(const Instruction &instr) {
    for (unsigned i = 0; i < instr.getNumOperands(); ++i)
      if (const Buffer *buffer = instr.getOperand(i))
        if (instr.writes(i) &&
            instr.getOperandInfo(i).role != OperandRole::Scratch &&
            live[buffer->getRoot()].isRead(Region::of(*buffer)))
          return false;
    return true;
  }

  /// Steps over \p instr, which stays.
  void keep(const Instruction &instr) {
    for (unsigned i = 0; i < instr.getNumOperands(); ++i)
      if (const Buffer *buffer = instr.getOperand(i))
        if (instr.writes(i) && !instr.reads(i))
          live[buffer->getRoot()].overwrite(Region::of(*buffer),
                                            isWholeRoot(*buffer));
    for (unsigned i = 0; i < instr.getNumOperands(); ++i)
      if (const Buffer *buffer = instr.getOperand(i))
        if (instr.reads(i))
          live[buffer->getRoot()].read(Region::of(*buffer));
  }

private:
  llvm::DenseMap<const Buffer *, LiveRegions> live;
};

} // namespace

llvm::Expected<bool> glowish::eliminateDeadStores(IRFunction &function,
                                                  const IRPassContext &) {
  DeadStoreWalk walk(function);
  bool changed = false;
  for (auto it = function.getInstrs().end();
       it != function.getInstrs().begin();) {
    Instruction &instr = *--it;
    if (llvm::isa<AllocInstr, DeallocInstr>(&instr))
      continue;
    if (!walk.isDead(instr)) {
      walk.keep(instr);
      continue;
    }
    ++it;
    function.erase(&instr);
    changed = true;
  }
  return finishPass(function, changed);
}
