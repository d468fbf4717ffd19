//===- InsertLifetimes.cpp - Shortest lifetimes for activations -----------===//

#include "glowish/IR/Passes.h"
#include "llvm/ADT/DenseMap.h"

using namespace glowish;

namespace {

/// The marks that belong before and after an instruction.
struct Marks {
  llvm::SmallVector<Buffer *, 1> begins, ends;
};

/// The lifetime marks to be inserted into a program without them.
class LifetimePlan {
public:
  explicit LifetimePlan(IRFunction &function);
  /// Whether the marks of \p function are where the plan has them.
  bool isFollowedBy(const IRFunction &function) const;
  /// Replaces all marks of \p function by the plan's.
  void apply(IRFunction &function) const;

private:
  /// The marks around each instruction that is none, in the program's order.
  std::vector<Marks> marks;
};

} // namespace

LifetimePlan::LifetimePlan(IRFunction &function) {
  std::vector<Buffer *> order; // of first use
  llvm::DenseMap<Buffer *, unsigned> last;
  for (Instruction &instr : function.getInstrs()) {
    if (instr.isLifetimeMarker())
      continue;
    marks.emplace_back();
    for (Buffer *buffer : instr.getOperands()) {
      if (!buffer || buffer->getRoot()->getKind() != Buffer::Kind::Activation)
        continue;
      Buffer *root = buffer->getRoot();
      if (last.insert_or_assign(root, marks.size() - 1).second) {
        order.push_back(root);
        marks.back().begins.push_back(root);
      }
    }
  }
  for (Buffer *root : order)
    marks[last.lookup(root)].ends.push_back(root);
}

bool LifetimePlan::isFollowedBy(const IRFunction &function) const {
  auto instr = function.getInstrs().begin();
  auto end = function.getInstrs().end();
  auto isMarks = [&](llvm::ArrayRef<Buffer *> buffers, InstrKind kind) {
    for (Buffer *buffer : buffers) {
      if (instr == end || instr->getKind() != kind ||
          instr->getOperand(0) != buffer)
        return false;
      ++instr;
    }
    return true;
  };
  for (const Marks &around : marks) {
    if (!isMarks(around.begins, InstrKind::Alloc) || instr == end ||
        instr->isLifetimeMarker())
      return false;
    ++instr;
    if (!isMarks(around.ends, InstrKind::Dealloc))
      return false;
  }
  return instr == end;
}

void LifetimePlan::apply(IRFunction &function) const {
  std::vector<Instruction *> code;
  for (auto it = function.getInstrs().begin();
       it != function.getInstrs().end();) {
    Instruction &instr = *it++;
    if (instr.isLifetimeMarker())
      function.erase(&instr);
    else
      code.push_back(&instr);
  }
  for (auto [instr, around] : llvm::zip_equal(code, marks)) {
    for (Buffer *buffer : around.begins)
      function.create("", AllocInstr::draft(buffer), instr);
    auto next = std::next(instr->getIterator());
    Instruction *after = next == function.getInstrs().end() ? nullptr : &*next;
    for (Buffer *buffer : around.ends)
      function.create("", DeallocInstr::draft(buffer), after);
  }
}

llvm::Expected<bool> glowish::insertLifetimes(IRFunction &function,
                                              const IRPassContext &) {
  LifetimePlan plan(function);
  if (plan.isFollowedBy(function))
    return false;
  plan.apply(function);
  return true;
}
