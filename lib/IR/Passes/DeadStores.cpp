//===- DeadStores.cpp - Dead store elimination ----------------------------===//
//
// One walk from the end of the program to its beginning, keeping for each root
// the layouts that are read later, and those that are written before. A write
// that is not read is dead.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "glowish/IR/Passes.h"

using namespace glowish;

namespace {

/// The accesses to the elements of one root after a point of the program.
class LaterAccesses {
public:
  /// No more layouts than this are kept of either kind: the walk stays linear.
  static constexpr size_t limit = 64;

  void read(const StridedLayout &layout) {
    llvm::erase_if(overwritten, [&](const StridedLayout &other) {
      return !areDisjoint(other, layout);
    });
    if (live.size() == limit)
      isAllLive = true;
    else if (!contains(live, layout))
      live.push_back(layout);
  }
  /// A write of \p layout, all of the root if \p isWhole: what was there
  /// before is not read.
  void overwrite(const StridedLayout &layout, bool isWhole) {
    if (isWhole) {
      live.clear();
      isAllLive = false;
    }
    llvm::erase_if(live, [&](const StridedLayout &other) {
      return isSame(other, layout);
    });
    if (overwritten.size() < limit && !contains(overwritten, layout))
      overwritten.push_back(layout);
  }
  /// Whether something may read an element of \p layout before it is written
  /// again.
  bool isRead(const StridedLayout &layout) const {
    if (contains(overwritten, layout))
      return false;
    return isAllLive || llvm::any_of(live, [&](const StridedLayout &other) {
             return !areDisjoint(other, layout);
           });
  }

private:
  static bool contains(llvm::ArrayRef<StridedLayout> layouts,
                       const StridedLayout &layout) {
    return llvm::any_of(layouts, [&](const StridedLayout &other) {
      return isSame(other, layout);
    });
  }

  /// Read before they are written, unless `isAllLive` has taken over.
  llvm::SmallVector<StridedLayout, 2> live;
  /// Written before an element of them is read.
  llvm::SmallVector<StridedLayout, 2> overwritten;
  bool isAllLive = false;
};

class DeadStoreWalk {
public:
  explicit DeadStoreWalk(IRFunction &function) {
    // The application, or the next run, reads what the program leaves.
    for (const auto &buffer : function.getBuffers())
      if (buffer->getKind() == Buffer::Kind::Mutable)
        later[buffer.get()].read(StridedLayout::of(*buffer));
  }

  bool isDead(const Instruction &instr) {
    for (unsigned i = 0; i < instr.getNumOperands(); ++i)
      if (const Buffer *buffer = instr.getOperand(i))
        if (instr.writes(i) &&
            instr.getOperandInfo(i).role != OperandRole::Scratch &&
            later[buffer->getRoot()].isRead(StridedLayout::of(*buffer)))
          return false;
    return true;
  }

  /// Steps over \p instr, which stays.
  void keep(const Instruction &instr) {
    for (unsigned i = 0; i < instr.getNumOperands(); ++i)
      if (const Buffer *buffer = instr.getOperand(i))
        if (instr.writes(i) && !instr.reads(i))
          later[buffer->getRoot()].overwrite(StridedLayout::of(*buffer),
                                             isWholeRoot(*buffer));
    for (unsigned i = 0; i < instr.getNumOperands(); ++i)
      if (const Buffer *buffer = instr.getOperand(i))
        if (instr.reads(i))
          later[buffer->getRoot()].read(StridedLayout::of(*buffer));
  }

private:
  llvm::DenseMap<const Buffer *, LaterAccesses> later;
};

} // namespace

llvm::Expected<bool> glowish::eliminateDeadStores(IRFunction &function,
                                                  const IRPassContext &) {
  DeadStoreWalk walk(function);
  bool changed = false;
  for (auto it = function.getInstrs().end();
       it != function.getInstrs().begin();) {
    Instruction &instr = *--it;
    if (instr.isLifetimeMarker())
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
