//===- Accesses.cpp - Reads and writes of buffers, in order ---------------===//

#include "Accesses.h"
#include "glowish/IR/Passes.h"

using namespace glowish;

//===- AccessIndex --------------------------------------------------------===//

AccessIndex::AccessIndex(IRFunction &function) : function(function) {
  unsigned time = 0;
  for (Instruction &instr : function.getInstrs()) {
    if (instr.isLifetimeMarker())
      continue;
    times[&instr] = ++time;
    for (unsigned i = 0; i < instr.getNumOperands(); ++i)
      add(&instr, i);
  }
}

void AccessIndex::add(Instruction *instr, unsigned operand) {
  if (Buffer *buffer = instr->getOperand(operand))
    accesses[buffer->getRoot()].insert({getTime(instr), instr, operand});
}

void AccessIndex::remove(Instruction *instr, unsigned operand) {
  if (Buffer *buffer = instr->getOperand(operand))
    accesses[buffer->getRoot()].erase({getTime(instr), instr, operand});
}

const AccessIndex::Accesses &AccessIndex::get(const Buffer *root) const {
  static const Accesses none;
  auto found = accesses.find(root);
  return found == accesses.end() ? none : found->second;
}

llvm::iterator_range<AccessIndex::Accesses::const_iterator>
AccessIndex::getBetween(const Buffer *root, unsigned first,
                        unsigned last) const {
  const Accesses &all = get(root);
  return {all.lower_bound({first, nullptr, 0}),
          all.lower_bound({last + 1, nullptr, 0})};
}

const Access *AccessIndex::getOnlyWrite(const Buffer *root) const {
  const Access *found = nullptr;
  for (const Access &access : get(root)) {
    if (!access.isWrite())
      continue;
    if (found)
      return nullptr;
    found = &access;
  }
  return found;
}

void AccessIndex::setOperand(Instruction *instr, unsigned operand,
                             Buffer *buffer) {
  remove(instr, operand);
  instr->setOperand(operand, buffer);
  add(instr, operand);
}

void AccessIndex::erase(Instruction *instr) {
  for (unsigned i = 0; i < instr->getNumOperands(); ++i)
    remove(instr, i);
  times.erase(instr);
  function.erase(instr);
}

Instruction *AccessIndex::replace(Instruction *old, InstrDraft draft,
                                  llvm::StringRef name) {
  Instruction *added = function.create(name, std::move(draft), old);
  unsigned time = getTime(old);
  erase(old);
  times[added] = time;
  for (unsigned i = 0; i < added->getNumOperands(); ++i)
    add(added, i);
  return added;
}

//===- Relocation ---------------------------------------------------------===//

bool Relocation::isPossible(const Instruction *ignored) const {
  return llvm::all_of(index.get(from), [&](const Access &access) {
    if (access.instr == ignored)
      return true;
    std::optional<StridedLayout> layout = map(*access.getBuffer());
    const OperandInfo &info = access.instr->getOperandInfo(access.operand);
    return layout && (info.isStrided || layout->isDense()) &&
           (!access.isWrite() || layout->isInjective()) &&
           staysApart(access, *layout);
  });
}

/// Whether the verifier will accept what else the instruction of \p access
/// touches of the new root, when the access goes to \p layout.
bool Relocation::staysApart(const Access &access,
                            const StridedLayout &layout) const {
  auto isApart = [&](const Access &other, const StridedLayout &otherLayout) {
    if (other.operand == access.operand ||
        (!access.isWrite() && !other.isWrite()) ||
        areDisjoint(layout, otherLayout))
      return true;
    const Access &read = access.isWrite() ? other : access;
    return !read.isWrite() && read.isInPlace() && isSame(layout, otherLayout);
  };
  for (const Access &other : index.getBetween(from, access.time, access.time)) {
    std::optional<StridedLayout> moved = map(*other.getBuffer());
    if (!moved || !isApart(other, *moved))
      return false;
  }
  return llvm::all_of(
      index.getBetween(to, access.time, access.time),
      [&](const Access &other) { return isApart(other, other.getLayout()); });
}

/// Whether neighbours in the innermost dimension are so near that a cache line
/// has many of them: pairs, of which a view shows one element each.
static bool isNearlyDense(const StridedLayout &layout) {
  for (unsigned d = layout.shape.size(); d-- > 0;)
    if (layout.shape[d] != 1)
      return std::abs(layout.strides[d]) <= 2;
  return true;
}

bool Relocation::isWorthwhile(const Instruction *ignored) const {
  unsigned scattered = 0, reads = 0;
  bool areNear = true;
  for (const Access &access : index.get(from)) {
    if (access.instr == ignored)
      continue;
    reads += access.isRead();
    if (!map(*access.getBuffer())->isScattered() ||
        access.getLayout().isScattered() ||
        access.instr->getOperandInfo(access.operand).isPacked)
      continue;
    // To read or write with a large stride once is what a copy does anyway.
    if (!access.instr->getInfo().has(OpTrait::ElementByElement))
      return false;
    ++scattered;
    areNear &= isNearlyDense(*map(*access.getBuffer()));
  }
  // Two loops that read every other element take less time than a copy and two
  // that read neighbours.
  return scattered == 0 || reads <= (areNear ? 2 : 1);
}

void Relocation::apply(const Instruction *ignored) {
  llvm::DenseMap<Buffer *, Buffer *> moved;
  std::vector<Access> accesses(index.get(from).begin(), index.get(from).end());
  for (const Access &access : accesses) {
    if (access.instr == ignored)
      continue;
    Buffer *buffer = access.getBuffer();
    Buffer *&target = moved[buffer];
    if (!target)
      target = getView(function, buffer->getName(), to, buffer->getType(),
                       *map(*buffer));
    index.setOperand(access.instr, access.operand, target);
  }
}

//===- The end of a pass --------------------------------------------------===//

static bool eraseUnusedBuffers(IRFunction &function) {
  std::vector<Buffer *> candidates;
  for (const auto &buffer : function.getBuffers())
    if (buffer->getKind() != Buffer::Kind::Mutable)
      candidates.push_back(buffer.get());
  bool changed = false;
  // Views come after their roots, so they go first.
  for (Buffer *buffer : llvm::reverse(candidates)) {
    bool isUsed = llvm::any_of(buffer->getUsers(), [](Instruction *instr) {
      return !instr->isLifetimeMarker();
    });
    if (isUsed || !buffer->getViews().empty())
      continue;
    while (!buffer->getUsers().empty())
      function.erase(buffer->getUsers().front());
    function.eraseBuffer(buffer);
    changed = true;
  }
  return changed;
}

bool glowish::finishPass(IRFunction &function, bool changed) {
  changed |= eraseUnusedBuffers(function);
  if (changed)
    llvm::cantFail(insertLifetimes(function, IRPassContext()));
  return changed;
}
