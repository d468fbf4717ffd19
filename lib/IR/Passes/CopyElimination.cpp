//===- CopyElimination.cpp - Removes redundant copies ---------------------===//
//
// Removes a copy from S to D where one of the two can be stored in the other:
//
//   forward   D is all of an activation that only the copy writes: its readers
//             read S (a slice, a transposition or a broadcast becomes a view)
//   backward  S is all of an activation: its readers and writers access D
//             instead (a producer writes straight into its part of a
//             concatenation, or into an output)
//   fill      S has one value in every element: a fill of D
//   duplicate S was copied before and neither copy has changed
//
// Each rewrite states its conditions. Buffers are compared element by element
// (StridedLayout.h), since views of one root may overlap.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "glowish/IR/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace glowish;

namespace {

class CopyEliminator {
public:
  explicit CopyEliminator(IRFunction &function)
      : function(function), index(function) {}
  bool run();

private:
  bool eliminate(CopyInstr &copy);
  /// Carries \p relocation out, and takes \p copy away.
  bool relocate(Relocation &relocation, CopyInstr &copy) {
    relocation.apply(&copy);
    index.erase(&copy);
    return true;
  }
  bool readSource(CopyInstr &copy);
  bool sourceSurvives(const StridedLayout &source, const Buffer *sourceRoot,
                      const CopyInstr &copy, const Relocation &relocation);
  bool writeTarget(CopyInstr &copy);
  bool targetIsFree(const StridedLayout &target, const Buffer *targetRoot,
                    const CopyInstr &copy, const Relocation &relocation);
  bool becomeFill(CopyInstr &copy);
  bool reuseDuplicate(CopyInstr &copy);

  IRFunction &function;
  AccessIndex index;
  /// Copies that stay, by the root of their input.
  llvm::DenseMap<const Buffer *, std::vector<CopyInstr *>> kept;
};

} // namespace

/// Reorders the dimensions of a copy so that \p whole becomes row-major, and
/// \p other with it: a copy has no order of its own. False where no order does
/// that for all of \p root.
static bool makeWhole(StridedLayout &whole, StridedLayout &other,
                      const Buffer *root) {
  auto order = llvm::to_vector(llvm::seq<unsigned>(whole.shape.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    // Dimensions of extent 1 may be anywhere.
    return std::make_pair(-whole.strides[a], a) <
           std::make_pair(-whole.strides[b], b);
  });
  auto permute = [&](const Dims &dims) {
    Dims result;
    for (unsigned d : order)
      result.push_back(dims[d]);
    return result;
  };
  whole = {permute(whole.shape), whole.offset, permute(whole.strides)};
  other = {permute(other.shape), other.offset, permute(other.strides)};
  return whole.offset == 0 && whole.isDense() && !whole.isEmpty() &&
         whole.getNumElements() == root->getType().getNumElements();
}

//===- Forward ------------------------------------------------------------===//

/// Whether all readers that are to read the source instead of the target find
/// the same values there: nothing writes it after the copy, up to the last
/// reader. That reader may write over what it reads, where its record says so.
bool CopyEliminator::sourceSurvives(const StridedLayout &source,
                                    const Buffer *sourceRoot,
                                    const CopyInstr &copy,
                                    const Relocation &relocation) {
  const Buffer *target = copy.getResult()->getRoot();
  unsigned last = index.get(target).rbegin()->time;
  for (const Access &write :
       index.getBetween(sourceRoot, index.getTime(&copy) + 1, last)) {
    StridedLayout written = write.getLayout();
    if (!write.isWrite() || areDisjoint(written, source))
      continue;
    if (write.time != last)
      return false;
    for (const Access &read : index.getBetween(target, last, last)) {
      std::optional<StridedLayout> moved = relocation.map(*read.getBuffer());
      if (!moved || !read.isInPlace() || !isSame(*moved, written))
        return false;
    }
  }
  return true;
}

bool CopyEliminator::readSource(CopyInstr &copy) {
  Buffer *target = copy.getResult()->getRoot();
  Buffer *source = copy.getInput()->getRoot();
  StridedLayout targetLayout = StridedLayout::of(*copy.getResult());
  StridedLayout sourceLayout = StridedLayout::of(*copy.getInput());
  if (target->getKind() != Buffer::Kind::Activation || target == source ||
      !makeWhole(targetLayout, sourceLayout, target))
    return false;
  const Access *write = index.getOnlyWrite(target);
  // Nothing reads the target before the copy: the verifier ensures that. A
  // target without readers is left to dead store elimination.
  if (!write || write->instr != &copy || index.get(target).size() == 1)
    return false;
  Relocation relocation(function, index, target, source, sourceLayout);
  if (!relocation.isPossible(&copy) || !relocation.isWorthwhile(&copy) ||
      !sourceSurvives(sourceLayout, source, copy, relocation))
    return false;
  return relocate(relocation, copy);
}

//===- Backward -----------------------------------------------------------===//

/// Whether the values of the source can be in the target from their first write
/// on, and stay there until their last read: until the copy, nothing else
/// accesses the target, and after it nothing else writes it. The instruction
/// that first writes the source may read what it writes over, where its record
/// says so.
bool CopyEliminator::targetIsFree(const StridedLayout &target,
                                  const Buffer *targetRoot,
                                  const CopyInstr &copy,
                                  const Relocation &relocation) {
  const AccessIndex::Accesses &own = index.get(copy.getInput()->getRoot());
  unsigned first = own.begin()->time, last = own.rbegin()->time;
  for (const Access &access : index.getBetween(targetRoot, first, last)) {
    if (access.instr == &copy || areDisjoint(access.getLayout(), target))
      continue;
    if (access.time > index.getTime(&copy) && !access.isWrite())
      continue;
    if (access.time != first || access.isWrite() || !access.isInPlace())
      return false;
    for (const Access &write : own) {
      if (write.time != first)
        break;
      std::optional<StridedLayout> moved = relocation.map(*write.getBuffer());
      if (!moved || !isSame(*moved, access.getLayout()))
        return false;
    }
  }
  return true;
}

bool CopyEliminator::writeTarget(CopyInstr &copy) {
  Buffer *target = copy.getResult()->getRoot();
  Buffer *source = copy.getInput()->getRoot();
  StridedLayout targetLayout = StridedLayout::of(*copy.getResult());
  StridedLayout sourceLayout = StridedLayout::of(*copy.getInput());
  if (source->getKind() != Buffer::Kind::Activation || target == source ||
      !makeWhole(sourceLayout, targetLayout, source))
    return false;
  // A later write of the source would reach the target.
  unsigned time = index.getTime(&copy);
  for (const Access &access : llvm::reverse(index.get(source))) {
    if (access.time <= time)
      break;
    if (access.isWrite())
      return false;
  }
  Relocation relocation(function, index, source, target, targetLayout);
  if (!relocation.isPossible(&copy) || !relocation.isWorthwhile(&copy) ||
      !targetIsFree(targetLayout, target, copy, relocation))
    return false;
  return relocate(relocation, copy);
}

//===- Fills and duplicates -----------------------------------------------===//

bool CopyEliminator::becomeFill(CopyInstr &copy) {
  const Buffer *source = copy.getInput()->getRoot();
  if (source->getKind() != Buffer::Kind::Activation)
    return false;
  const Access *write = index.getOnlyWrite(source);
  auto *fill = write ? llvm::dyn_cast<FillInstr>(write->instr) : nullptr;
  // Elements that the fill does not write have no value: the copy reads none.
  if (!fill)
    return false;
  index.replace(&copy, FillInstr::draft(copy.getResult(), fill->getValue()),
                copy.getName());
  return true;
}

/// The readers of a copy of what was copied before read the first copy. Both
/// are whole activations that nothing else writes, and the source is not
/// written between the copies.
bool CopyEliminator::reuseDuplicate(CopyInstr &copy) {
  // Looking through all copies of one source would be quadratic.
  constexpr size_t maxTries = 8;
  auto isOnlyWriteOfWhole = [&](const CopyInstr &instr) {
    const Buffer *root = instr.getResult()->getRoot();
    const Access *write = index.getOnlyWrite(root);
    return root->getKind() == Buffer::Kind::Activation &&
           isWholeRoot(*instr.getResult()) && write && write->instr == &instr;
  };
  const Buffer *source = copy.getInput()->getRoot();
  StridedLayout layout = StridedLayout::of(*copy.getInput());
  std::vector<CopyInstr *> &earlier = kept[source];
  size_t tries = std::min(earlier.size(), maxTries);
  for (CopyInstr *other : llvm::ArrayRef(earlier).take_back(tries)) {
    // The earlier copy may have come to read another root since.
    if (other->getInput()->getRoot() != source ||
        !isSame(StridedLayout::of(*other->getInput()), layout) ||
        !isOnlyWriteOfWhole(*other) || !isOnlyWriteOfWhole(copy))
      continue;
    bool isWritten = llvm::any_of(
        index.getBetween(source, index.getTime(other), index.getTime(&copy)),
        [&](const Access &access) {
          return access.isWrite() && !areDisjoint(access.getLayout(), layout);
        });
    Buffer *target = copy.getResult()->getRoot();
    Relocation relocation(function, index, target,
                          other->getResult()->getRoot(),
                          StridedLayout::dense(target->getShape()));
    if (isWritten || !relocation.isPossible(&copy))
      continue;
    if (other->getLoopBounds() != copy.getLoopBounds())
      other->setLoopBounds({});
    return relocate(relocation, copy);
  }
  earlier.push_back(&copy);
  return false;
}

//===- The pass -----------------------------------------------------------===//

bool CopyEliminator::eliminate(CopyInstr &copy) {
  StridedLayout from = StridedLayout::of(*copy.getInput());
  if (from.isEmpty() ||
      (copy.getInput()->getRoot() == copy.getResult()->getRoot() &&
       isSame(from, StridedLayout::of(*copy.getResult())))) {
    index.erase(&copy);
    return true;
  }
  return readSource(copy) || becomeFill(copy) || writeTarget(copy) ||
         reuseDuplicate(copy);
}

bool CopyEliminator::run() {
  std::vector<CopyInstr *> copies;
  for (Instruction &instr : function.getInstrs())
    if (auto *copy = llvm::dyn_cast<CopyInstr>(&instr))
      copies.push_back(copy);
  bool changed = false;
  for (CopyInstr *copy : copies)
    changed |= eliminate(*copy);
  return changed;
}

llvm::Expected<bool> glowish::eliminateCopies(IRFunction &function,
                                              const IRPassContext &) {
  return finishPass(function, CopyEliminator(function).run());
}
