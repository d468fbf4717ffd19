//===- Accesses.h - Reads and writes of buffers, in order -------*- C++ -*-===//

#ifndef GLOWISH_LIB_IR_PASSES_ACCESSES_H
#define GLOWISH_LIB_IR_PASSES_ACCESSES_H

#include "glowish/IR/Instrs.h"
#include "glowish/IR/StridedLayout.h"
#include "llvm/ADT/DenseMap.h"
#include <set>

namespace glowish {

/// One operand through which an instruction touches a root buffer.
struct Access {
  unsigned time; // the instruction's place in the program
  Instruction *instr;
  unsigned operand;

  Buffer *getBuffer() const { return instr->getOperand(operand); }
  StridedLayout getLayout() const { return StridedLayout::of(*getBuffer()); }
  bool isRead() const { return instr->reads(operand); }
  bool isWrite() const { return instr->writes(operand); }
  /// Is not among the inputs that a pass may compute in another way.
  bool isPredicate() const { return operand == instr->getNumRecordOperands(); }
  /// May be the element that the instruction's result is written over.
  bool isInPlace() const { return instr->getOperandInfo(operand).isInPlace; }
  bool operator<(const Access &other) const {
    return std::tie(time, operand) < std::tie(other.time, other.operand);
  }
};

/// The accesses to each root buffer through it and its views, in the order of
/// the program; lifetime marks are none. Changes that a pass makes through the
/// index cost the logarithm of the accesses, so that no pass is quadratic.
class AccessIndex {
public:
  using Accesses = std::set<Access>;

  explicit AccessIndex(IRFunction &function);

  const Accesses &get(const Buffer *root) const;
  /// The accesses to \p root of which the time is in [\p first, \p last].
  llvm::iterator_range<Accesses::const_iterator>
  getBetween(const Buffer *root, unsigned first, unsigned last) const;
  unsigned getTime(const Instruction *instr) const {
    return times.lookup(instr);
  }
  /// The access that alone writes \p root; null if there are more or none.
  const Access *getOnlyWrite(const Buffer *root) const;

  void setOperand(Instruction *instr, unsigned operand, Buffer *buffer);
  void erase(Instruction *instr);
  /// Puts an instruction called \p name in the place and time of \p old.
  Instruction *replace(Instruction *old, InstrDraft draft,
                       llvm::StringRef name);

private:
  void add(Instruction *instr, unsigned operand);
  void remove(Instruction *instr, unsigned operand);

  IRFunction &function;
  llvm::DenseMap<const Instruction *, unsigned> times;
  llvm::DenseMap<const Buffer *, Accesses> accesses;
};

/// Moves the accesses of the activation \p from to the elements
/// `compose(inner, ...)` of \p to, so that one buffer is stored inside another.
class Relocation {
public:
  Relocation(IRFunction &function, AccessIndex &index, Buffer *from, Buffer *to,
             StridedLayout inner)
      : function(function), index(index), from(from), to(to),
        inner(std::move(inner)) {}

  /// The new layout of \p buffer, \p from or a view of it; null where there is
  /// none.
  std::optional<StridedLayout> map(const Buffer &buffer) const {
    return compose(inner, StridedLayout::of(buffer));
  }
  /// Whether each access but those of \p ignored can go through its new
  /// layout: it exists, is dense where the record demands that, and the
  /// verifier can prove that no instruction overwrites its own operands.
  bool isPossible(const Instruction *ignored) const;
  /// Whether, as far as memory is read and written with larger strides than
  /// before, that costs no more than a copy.
  bool isWorthwhile(const Instruction *ignored) const;
  /// Moves all accesses but those of \p ignored.
  void apply(const Instruction *ignored);

private:
  bool staysApart(const Access &access, const StridedLayout &layout) const;

  IRFunction &function;
  AccessIndex &index;
  Buffer *from, *to;
  StridedLayout inner;
};

/// To be called at the end of a pass: deletes unused constants, activations and
/// views, and updates the lifetime marks. Returns whether the pass (\p changed)
/// or this changed anything.
bool finishPass(IRFunction &function, bool changed);

} // namespace glowish

#endif // GLOWISH_LIB_IR_PASSES_ACCESSES_H
