//===- FuseLoops.cpp - Chains of loops become one loop --------------------===//
//
// A loop that reads what another loop writes computes it itself instead. The
// reader may see the intermediate through any view that composes with the
// producer's inputs: a slice or a reshape of it.
//
// This is right if the producer's inputs still have their values when the
// reader runs, and if the reader does not write over an element of them that a
// later index reads. It pays if the intermediate goes away without being
// computed more often than before, unless computing it is no more work than
// loading it.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "JoinedLoop.h"
#include "glowish/IR/Passes.h"
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
  bool run();

private:
  struct Producer {
    ElementWiseLoopInstr *loop;
    llvm::SmallVector<ElementWiseLoopInstr *, 4> readers;
  };

  std::optional<Producer> findProducer(const Buffer *root);
  std::optional<JoinedLoop::Input>
  getThrough(const ElementWiseLoopInstr &producer, unsigned input,
             const Buffer &view);
  bool canFuse(const ElementWiseLoopInstr &producer,
               const ElementWiseLoopInstr &reader);
  void fuse(const ElementWiseLoopInstr &producer, ElementWiseLoopInstr &reader);
  bool fuseReaders(const Buffer *root);

  IRFunction &function;
  AccessIndex index;
};

} // namespace

/// Whether an element takes about as long to compute as to load.
static bool isCheap(const ElementWiseLoopInstr &loop) {
  auto isCheapOp = [](const ScalarStep &step) {
    switch (step.op) {
    case ScalarOp::Add:
    case ScalarOp::Sub:
    case ScalarOp::Mul:
    case ScalarOp::Max:
    case ScalarOp::Min:
    case ScalarOp::Clip:
    case ScalarOp::Relu:
    case ScalarOp::Neg:
    case ScalarOp::Abs:
    case ScalarOp::Cast:
      return true;
    default:
      return false;
    }
  };
  unsigned fullInputs = 0; // the others repeat and stay in the cache
  for (Buffer *input : loop.getInputs())
    fullInputs += Region::of(*input).isInjective();
  return fullInputs <= 1 && loop.getProgram().steps.size() <= 2 &&
         llvm::all_of(loop.getProgram().steps, isCheapOp);
}

/// The loop that alone writes the activation \p root, all of it, and the loops
/// that read it; null if others read it too.
std::optional<LoopFuser::Producer> LoopFuser::findProducer(const Buffer *root) {
  if (root->getKind() != Buffer::Kind::Activation || index.get(root).empty())
    return std::nullopt;
  Producer producer;
  const Access &first = *index.get(root).begin();
  producer.loop = llvm::dyn_cast<ElementWiseLoopInstr>(first.instr);
  if (!producer.loop || !first.isWrite() || !isWholeRoot(*first.getBuffer()))
    return std::nullopt;
  for (const Access &access : llvm::drop_begin(index.get(root))) {
    auto *reader = llvm::dyn_cast<ElementWiseLoopInstr>(access.instr);
    if (access.isWrite() || !reader || reader == producer.loop)
      return std::nullopt;
    if (producer.readers.empty() || producer.readers.back() != reader)
      producer.readers.push_back(reader);
    if (producer.readers.size() > maxReaders)
      return std::nullopt;
  }
  if (producer.readers.empty())
    return std::nullopt;
  return producer;
}

/// Input \p input of \p producer, at the indices of \p view, through which a
/// reader sees the producer's result.
std::optional<JoinedLoop::Input>
LoopFuser::getThrough(const ElementWiseLoopInstr &producer, unsigned input,
                      const Buffer &view) {
  Buffer *buffer = producer.getInputs()[input];
  std::optional<Region> region = compose(Region::of(*buffer), Region::of(view));
  if (!region)
    return std::nullopt;
  bool isUnchanged = isSame(*region, Region::of(*buffer));
  return JoinedLoop::Input{buffer->getRoot(), *region,
                           buffer->getType().withShape(region->shape),
                           isUnchanged ? buffer : nullptr};
}

bool LoopFuser::canFuse(const ElementWiseLoopInstr &producer,
                        const ElementWiseLoopInstr &reader) {
  const Buffer *root = producer.getResult()->getRoot();
  unsigned begin = index.getTime(&producer), end = index.getTime(&reader);
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
    for (unsigned i = 0; i < producer.getInputs().size(); ++i) {
      std::optional<JoinedLoop::Input> input = getThrough(producer, i, *view);
      if (!input)
        return false;
      for (const Access &write :
           index.getBetween(input->root, begin + 1, end)) {
        Region written = write.getRegion();
        if (!write.isWrite() || areDisjoint(written, input->region))
          continue;
        if (write.time != end || !isSame(written, input->region))
          return false;
      }
    }
  }
  return numInputs <= maxInputs && numSteps <= maxSteps &&
         computed <= root->getType().getNumElements();
}

void LoopFuser::fuse(const ElementWiseLoopInstr &producer,
                     ElementWiseLoopInstr &reader) {
  const Buffer *root = producer.getResult()->getRoot();
  JoinedLoop joined;
  std::vector<JoinedLoop::Value> values;
  llvm::DenseMap<const Buffer *, std::vector<JoinedLoop::Value>> through;
  for (Buffer *view : reader.getInputs()) {
    if (view->getRoot() != root) {
      values.push_back(joined.addInput(
          {view->getRoot(), Region::of(*view), view->getType(), view}));
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
  index.replace(&reader, joined.makeDraft(function, reader.getName(),
                                          reader.getResult(), result));
}

/// Makes the readers of the intermediate \p root compute it, all or none.
bool LoopFuser::fuseReaders(const Buffer *root) {
  std::optional<Producer> producer = findProducer(root);
  if (!producer)
    return false;
  if (producer->readers.size() > 1 && !isCheap(*producer->loop))
    return false;
  for (const ElementWiseLoopInstr *reader : producer->readers)
    if (!canFuse(*producer->loop, *reader))
      return false;
  for (ElementWiseLoopInstr *reader : producer->readers)
    fuse(*producer->loop, *reader);
  index.erase(producer->loop);
  return true;
}

bool LoopFuser::run() {
  // In the order of the program: when a loop's turn comes, its producers have
  // taken in theirs, so that one round fuses a chain of any length.
  std::vector<const Buffer *> roots;
  for (Instruction &instr : function.getInstrs())
    if (auto *loop = llvm::dyn_cast<ElementWiseLoopInstr>(&instr))
      roots.push_back(loop->getResult()->getRoot());
  bool changed = false;
  for (const Buffer *root : roots)
    changed |= fuseReaders(root);
  return changed;
}

llvm::Expected<bool> glowish::fuseLoops(IRFunction &function,
                                        const IRPassContext &) {
  return finishPass(function, LoopFuser(function).run());
}
