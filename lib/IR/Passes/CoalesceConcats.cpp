//===- CoalesceConcats.cpp - Concatenations inside longer ones ------------===//
//
// A dense block concatenates x0, f1, then x0, f1, f2, then x0, f1, f2, f3, and
// so on: each time the same copies and one more. Where all parts of one buffer
// are later copied again, side by side as they are there, into another, the
// first becomes a view of the second, and the later copies are removed.
//
// This is correct if the parts are not written between their two copies, and no
// other instruction accesses the elements of the second buffer that the first
// one gets.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "glowish/IR/Passes.h"

using namespace glowish;

namespace {

/// A part of a concatenation that is copied twice.
struct Pair {
  CopyInstr *first, *second;
};

class ConcatCoalescer {
public:
  explicit ConcatCoalescer(IRFunction &function);
  bool run();

private:
  bool getParts(const Buffer *root, std::vector<CopyInstr *> &parts) const;
  CopyInstr *findAgain(const CopyInstr &copy, const Buffer *target) const;
  bool isUnchanged(const Pair &pair) const;
  std::optional<StridedLayout> findPlace(const Pair &pair, const Buffer *inner,
                                         const Buffer *outer) const;
  bool isFree(const StridedLayout &place, const Buffer *outer,
              llvm::ArrayRef<Pair> pairs) const;
  bool nest(Buffer *inner);

  IRFunction &function;
  AccessIndex index;
  /// In the order of the program.
  llvm::DenseMap<const Buffer *, std::vector<CopyInstr *>> copiesOf;
  std::vector<Buffer *> targets;
};

} // namespace

ConcatCoalescer::ConcatCoalescer(IRFunction &function)
    : function(function), index(function) {
  for (Instruction &instr : function.getInstrs())
    if (auto *copy = llvm::dyn_cast<CopyInstr>(&instr)) {
      copiesOf[copy->getInput()->getRoot()].push_back(copy);
      targets.push_back(copy->getResult()->getRoot());
    }
}

/// The copies that \p root, an activation, is made of; false when something
/// else writes it.
bool ConcatCoalescer::getParts(const Buffer *root,
                               std::vector<CopyInstr *> &parts) const {
  // Without elements there are no strides to find places by.
  if (root->getKind() != Buffer::Kind::Activation ||
      root->getType().getNumElements() == 0)
    return false;
  for (const Access &access : index.get(root)) {
    if (!access.isWrite())
      continue;
    auto *copy = llvm::dyn_cast<CopyInstr>(access.instr);
    if (!copy || copy->getInput()->getRoot() == root)
      return false;
    parts.push_back(copy);
  }
  return !parts.empty();
}

/// The next copy of what \p copy copies, to \p target if that is not null.
CopyInstr *ConcatCoalescer::findAgain(const CopyInstr &copy,
                                      const Buffer *target) const {
  // All copies of one source might be tried for each of them.
  constexpr unsigned maxTries = 8;
  const std::vector<CopyInstr *> &all =
      copiesOf.find(copy.getInput()->getRoot())->second;
  auto later = llvm::upper_bound(all, index.getTime(&copy),
                                 [&](unsigned time, const CopyInstr *other) {
                                   return time < index.getTime(other);
                                 });
  for (unsigned tries = 0; later != all.end() && tries < maxTries;
       ++later, ++tries)
    if (isSame(StridedLayout::of(*(*later)->getInput()),
               StridedLayout::of(*copy.getInput())) &&
        (!target || (*later)->getResult()->getRoot() == target))
      return *later;
  return nullptr;
}

/// Whether the two copies of a part copy the same values.
bool ConcatCoalescer::isUnchanged(const Pair &pair) const {
  StridedLayout part = StridedLayout::of(*pair.first->getInput());
  return llvm::none_of(
      index.getBetween(pair.first->getInput()->getRoot(),
                       index.getTime(pair.first), index.getTime(pair.second)),
      [&](const Access &access) {
        return access.isWrite() && !areDisjoint(access.getLayout(), part);
      });
}

/// The box of \p outer, of the size of \p inner, that has the part of \p pair
/// where \p inner has it.
std::optional<StridedLayout>
ConcatCoalescer::findPlace(const Pair &pair, const Buffer *inner,
                           const Buffer *outer) const {
  DimsRef shape = outer->getShape();
  if (inner->getType().getRank() != shape.size())
    return std::nullopt;
  StridedLayout place = {Dims(inner->getShape()), 0, getDenseStrides(shape)};
  std::optional<StridedLayout> part =
      compose(place, StridedLayout::of(*pair.first->getResult()));
  if (!part)
    return std::nullopt;
  place.offset =
      StridedLayout::of(*pair.second->getResult()).offset - part->offset;
  int64_t rest = place.offset;
  if (rest < 0)
    return std::nullopt;
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (rest / place.strides[d] + place.shape[d] > shape[d])
      return std::nullopt;
    rest %= place.strides[d];
  }
  return place;
}

/// Whether only the second copies write to \p place, and nothing reads it
/// before them.
bool ConcatCoalescer::isFree(const StridedLayout &place, const Buffer *outer,
                             llvm::ArrayRef<Pair> pairs) const {
  unsigned last = 0;
  for (const Pair &pair : pairs)
    last = std::max(last, index.getTime(pair.second));
  return llvm::all_of(index.get(outer), [&](const Access &access) {
    if (areDisjoint(access.getLayout(), place))
      return true;
    if (!access.isWrite())
      return access.time > last;
    return llvm::any_of(
        pairs, [&](const Pair &pair) { return pair.second == access.instr; });
  });
}

bool ConcatCoalescer::nest(Buffer *inner) {
  std::vector<CopyInstr *> parts;
  if (!getParts(inner, parts))
    return false;
  std::vector<Pair> pairs = {{parts.front(), nullptr}};
  pairs.front().second = findAgain(*parts.front(), nullptr);
  if (!pairs.front().second)
    return false;
  Buffer *outer = pairs.front().second->getResult()->getRoot();
  if (outer == inner || outer->getKind() == Buffer::Kind::Constant)
    return false;
  for (CopyInstr *part : llvm::drop_begin(parts))
    if (CopyInstr *again = findAgain(*part, outer))
      pairs.push_back({part, again});
  if (pairs.size() != parts.size())
    return false;

  std::optional<StridedLayout> place = findPlace(pairs.front(), inner, outer);
  if (!place)
    return false;
  for (const Pair &pair : pairs) {
    auto part = compose(*place, StridedLayout::of(*pair.first->getResult()));
    if (!part || !isSame(*part, StridedLayout::of(*pair.second->getResult())) ||
        !isUnchanged(pair))
      return false;
  }
  Relocation relocation(function, index, inner, outer, *place);
  if (!isFree(*place, outer, pairs) || !relocation.isPossible(nullptr) ||
      !relocation.isWorthwhile(nullptr))
    return false;
  relocation.apply(nullptr);
  for (const Pair &pair : pairs) {
    llvm::erase(copiesOf[pair.second->getInput()->getRoot()], pair.second);
    index.erase(pair.second);
  }
  return true;
}

bool ConcatCoalescer::run() {
  // From the last concatenation to the first: each is moved once.
  llvm::DenseMap<const Buffer *, bool> isDone;
  bool changed = false;
  for (Buffer *target : llvm::reverse(targets))
    if (!std::exchange(isDone[target], true))
      changed |= nest(target);
  return changed;
}

llvm::Expected<bool> glowish::coalesceConcats(IRFunction &function,
                                              const IRPassContext &) {
  return finishPass(function, ConcatCoalescer(function).run());
}
