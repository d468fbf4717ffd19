//===- FuseLoops.cpp - Chains of loops become one loop --------------------===//
//
// Fuses element-wise loops into the loops that read their results. The reader
// may access the intermediate through any view that composes with the
// producer's inputs: a slice or a reshape of it.
//
// This is correct if the producer's inputs still have their values when the
// reader runs, and if the reader does not overwrite an element of them that a
// later index reads. It pays if the intermediate is removed and not computed
// more often than before, or if computing it is no more work than loading it.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "JoinedLoop.h"
#include "MissedFusions.h"
#include "glowish/IR/Passes.h"
#include "glowish/Support/Log.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace glowish;

/// More inputs than this leave registers short and the hardware's prefetchers
/// behind.
static constexpr size_t maxInputs = 12;
static constexpr size_t maxSteps = 96;
/// A cheap intermediate is computed again in up to this many readers.
static constexpr size_t maxReaders = 4;

namespace {

class LoopFuser {
public:
  explicit LoopFuser(IRFunction &function)
      : function(function), index(function) {}
  /// Fuses the loops that \p isWanted accepts into their readers.
  bool run(llvm::function_ref<bool(const ElementWiseLoopInstr &)> isWanted);
  /// The reason why the loop that computes \p root cannot be fused into its
  /// readers; null without such a loop.
  std::optional<MissedFusion> findObstacle(const Buffer *root);

private:
  /// Why a loop cannot be fused; empty if it can.
  using Reason = llvm::StringRef;
  using Readers = llvm::SmallVector<ElementWiseLoopInstr *, 4>;

  ElementWiseLoopInstr *findProducer(const Buffer *root) const;
  Reason findReaders(const Buffer *root, Readers &readers) const;
  std::optional<JoinedLoop::Input>
  getThrough(const ElementWiseLoopInstr &producer, unsigned input,
             const Buffer &view);
  Reason checkInputs(const ElementWiseLoopInstr &producer,
                     const ElementWiseLoopInstr &reader, const Buffer &view);
  Reason check(const ElementWiseLoopInstr &producer,
               const ElementWiseLoopInstr &reader);
  Reason check(const ElementWiseLoopInstr &producer, const Buffer *root,
               Readers &readers);
  void fuse(const ElementWiseLoopInstr &producer, ElementWiseLoopInstr &reader);
  bool fuseReaders(const Buffer *root);

  IRFunction &function;
  AccessIndex index;
};

} // namespace

/// Whether the elements that \p loop reads one by one are narrower than those
/// that it makes of them, as where bytes stand for floats.
static bool isWidening(const ElementWiseLoopInstr &loop) {
  unsigned size = getElemSize(loop.getResult()->getType().getKind());
  return llvm::all_of(loop.getInputs(), [&](const Buffer *input) {
    return getElemSize(input->getType().getKind()) < size ||
           !StridedLayout::of(*input).isInjective() ||
           input->getType().getNumElements() == 1;
  });
}

/// Whether an element takes about as long to compute as to load.
static bool isCheap(const ElementWiseLoopInstr &loop) {
  auto isCheapOp = [](const ScalarStep &step) {
    return getScalarOpInfo(step.op).hasFewInstructions;
  };
  unsigned fullInputs = 0; // the others repeat and stay in the cache
  for (Buffer *input : loop.getInputs())
    fullInputs += StridedLayout::of(*input).isInjective();
  size_t most = isWidening(loop) ? 4 : 2;
  return fullInputs <= 1 && loop.getProgram().steps.size() <= most &&
         llvm::all_of(loop.getProgram().steps, isCheapOp);
}

/// The loop that first writes the activation \p root; null if none does.
ElementWiseLoopInstr *LoopFuser::findProducer(const Buffer *root) const {
  if (root->getKind() != Buffer::Kind::Activation || index.get(root).empty())
    return nullptr;
  const Access &first = *index.get(root).begin();
  return first.isWrite() ? llvm::dyn_cast<ElementWiseLoopInstr>(first.instr)
                         : nullptr;
}

/// The readers of what one loop alone has to write, all of it: other loops.
LoopFuser::Reason LoopFuser::findReaders(const Buffer *root,
                                         Readers &readers) const {
  const Access &first = *index.get(root).begin();
  if (!isWholeRoot(*first.getBuffer()))
    return "its result is a part of a larger buffer";
  for (const Access &access : llvm::drop_begin(index.get(root))) {
    if (access.isWrite() || access.instr == first.instr)
      return "its result is written over later";
    auto *reader = llvm::dyn_cast<ElementWiseLoopInstr>(access.instr);
    if (access.isPredicate())
      return "its result is a predicate";
    if (!reader)
      return "an instruction that is no loop reads its result, too";
    if (readers.empty() || readers.back() != reader)
      readers.push_back(reader);
    if (readers.size() > maxReaders)
      return "too many loops read its result";
  }
  return readers.empty() ? Reason("no loop reads its result") : Reason();
}

/// Input \p input of \p producer, at the indices of \p view, the view through
/// which a reader accesses the producer's result.
std::optional<JoinedLoop::Input>
LoopFuser::getThrough(const ElementWiseLoopInstr &producer, unsigned input,
                      const Buffer &view) {
  Buffer *buffer = producer.getInputs()[input];
  std::optional<StridedLayout> layout =
      compose(StridedLayout::of(*buffer), StridedLayout::of(view));
  if (!layout)
    return std::nullopt;
  bool isUnchanged = isSame(*layout, StridedLayout::of(*buffer));
  return JoinedLoop::Input{buffer->getRoot(), *layout,
                           buffer->getType().withShape(layout->shape),
                           isUnchanged ? buffer : nullptr};
}

/// Checks that the elements that \p producer reads for \p view of its result
/// still have their values when \p reader runs, and that no later index reads
/// elements that \p reader writes.
LoopFuser::Reason LoopFuser::checkInputs(const ElementWiseLoopInstr &producer,
                                         const ElementWiseLoopInstr &reader,
                                         const Buffer &view) {
  unsigned begin = index.getTime(&producer), end = index.getTime(&reader);
  for (unsigned i = 0; i < producer.getInputs().size(); ++i) {
    std::optional<JoinedLoop::Input> input = getThrough(producer, i, view);
    if (!input)
      return "an input of it can't be read as the loop reads its result";
    for (const Access &write : index.getBetween(input->root, begin + 1, end)) {
      StridedLayout written = write.getLayout();
      if (!write.isWrite() || areDisjoint(written, input->layout))
        continue;
      if (write.time != end || !isSame(written, input->layout))
        return "what it reads is written over before the loop has run";
    }
  }
  return {};
}

LoopFuser::Reason LoopFuser::check(const ElementWiseLoopInstr &producer,
                                   const ElementWiseLoopInstr &reader) {
  // The joined loop has the reader's predicate.
  if (producer.getPredicate() && !haveSamePredicate(producer, reader))
    return "the loop needs rows that its predicate leaves out";
  const Buffer *root = producer.getResult()->getRoot();
  int64_t computed = 0;
  size_t numInputs = 0, numSteps = reader.getProgram().steps.size();
  llvm::SmallPtrSet<const Buffer *, 4> seen;
  for (const Buffer *view : reader.getInputs()) {
    if (view->getRoot() != root || !seen.insert(view).second) {
      numInputs += view->getRoot() != root;
      continue;
    }
    computed += view->getType().getNumElements();
    numInputs += producer.getInputs().size();
    numSteps += producer.getProgram().steps.size();
    if (Reason reason = checkInputs(producer, reader, *view); !reason.empty())
      return reason;
  }
  if (numInputs > maxInputs)
    return "the loop would have too many inputs";
  if (numSteps > maxSteps)
    return "the loop would have too many steps";
  return computed <= root->getType().getNumElements()
             ? Reason()
             : "its elements would be computed more than once";
}

/// Fills \p readers.
LoopFuser::Reason LoopFuser::check(const ElementWiseLoopInstr &producer,
                                   const Buffer *root, Readers &readers) {
  if (Reason reason = findReaders(root, readers); !reason.empty())
    return reason;
  if (readers.size() > 1 && !isCheap(producer))
    return "several loops read its result, and computing it again is more work "
           "than loading it";
  for (const ElementWiseLoopInstr *reader : readers)
    if (Reason reason = check(producer, *reader); !reason.empty())
      return reason;
  return {};
}

std::optional<MissedFusion> LoopFuser::findObstacle(const Buffer *root) {
  const ElementWiseLoopInstr *producer = findProducer(root);
  if (!producer)
    return std::nullopt;
  Readers readers;
  return MissedFusion{producer, check(*producer, root, readers)};
}

void LoopFuser::fuse(const ElementWiseLoopInstr &producer,
                     ElementWiseLoopInstr &reader) {
  GLOWISH_VLOG(1, "fused: loop '{0}' ({1}) into loop '{2}' ({3})",
               producer.getName(), listOps(producer.getProgram()),
               reader.getName(), listOps(reader.getProgram()));
  const Buffer *root = producer.getResult()->getRoot();
  JoinedLoop joined;
  std::vector<JoinedLoop::Value> values;
  llvm::DenseMap<const Buffer *, std::vector<JoinedLoop::Value>> through;
  for (Buffer *view : reader.getInputs()) {
    if (view->getRoot() != root) {
      values.push_back(joined.addInput(
          {view->getRoot(), StridedLayout::of(*view), view->getType(), view}));
      continue;
    }
    values.emplace_back();
    std::vector<JoinedLoop::Value> &inputs = through[view];
    for (unsigned i = 0; inputs.size() < producer.getInputs().size(); ++i)
      inputs.push_back(joined.addInput(*getThrough(producer, i, *view)));
  }
  for (auto [view, value] : llvm::zip_equal(reader.getInputs(), values))
    if (view->getRoot() == root)
      value = joined.addProgram(producer.getProgram(), through[view]);
  JoinedLoop::Value result = joined.addProgram(reader.getProgram(), values);
  InstrDraft draft =
      joined.makeDraft(function, reader.getName(), reader.getResult(), result);
  draft.bounds = reader.getLoopBounds();
  draft.predicate = reader.getPredicate();
  index.replace(&reader, std::move(draft), reader.getName());
}

/// Makes the readers of the intermediate \p root compute it, all or none.
bool LoopFuser::fuseReaders(const Buffer *root) {
  ElementWiseLoopInstr *producer = findProducer(root);
  Readers readers;
  if (!producer || !check(*producer, root, readers).empty())
    return false;
  for (ElementWiseLoopInstr *reader : readers)
    fuse(*producer, *reader);
  index.erase(producer);
  return true;
}

bool LoopFuser::run(
    llvm::function_ref<bool(const ElementWiseLoopInstr &)> isWanted) {
  // In the order of the program: when a loop's turn comes, its producers have
  // taken in theirs, so that one round fuses a chain of any length.
  std::vector<const Buffer *> roots;
  for (Instruction &instr : function.getInstrs())
    if (auto *loop = llvm::dyn_cast<ElementWiseLoopInstr>(&instr))
      roots.push_back(loop->getResult()->getRoot());
  bool changed = false;
  for (const Buffer *root : roots) {
    const ElementWiseLoopInstr *producer = findProducer(root);
    if (producer && isWanted(*producer))
      changed |= fuseReaders(root);
  }
  return changed;
}

llvm::Expected<bool> glowish::fuseLoops(IRFunction &function,
                                        const IRPassContext &) {
  auto isAny = [](const ElementWiseLoopInstr &) { return true; };
  return finishPass(function, LoopFuser(function).run(isAny));
}

llvm::Expected<bool> glowish::fuseWideningLoops(IRFunction &function,
                                                const IRPassContext &) {
  return finishPass(function, LoopFuser(function).run(isWidening));
}

void glowish::addMissedLoopFusions(IRFunction &function,
                                   std::vector<UnfusedLoop> &loops) {
  LoopFuser fuser(function);
  for (UnfusedLoop &lone : loops) {
    llvm::SmallPtrSet<const Buffer *, 4> seen;
    for (const Buffer *input : lone.loop->getInputs())
      if (seen.insert(input->getRoot()).second)
        if (auto missedFusion = fuser.findObstacle(input->getRoot()))
          if (missedFusion->producer != lone.loop)
            lone.missedFusions.push_back(*missedFusion);
  }
}
