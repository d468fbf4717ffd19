//===- FuseEpilogues.cpp - Loops become epilogues of anchors --------------===//
//
// A loop that is the only reader of the result of an anchor, under any shape,
// becomes part of its epilogue. Anchors are the instructions with an epilogue:
// convolutions, matmuls, normalizations.
//
// The anchor moves to where the loop was, so its inputs must still have their
// values there. It reads and writes whole buffers in an order of its own, so
// what the loop writes must be apart from all that the anchor reads.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "MissedFusions.h"
#include "glowish/IR/LoopBounds.h"
#include "glowish/IR/Passes.h"
#include "glowish/Support/Log.h"

using namespace glowish;

/// More than this leaves registers short next to the accumulators.
static constexpr size_t maxFused = 6;
static constexpr size_t maxSteps = 32;

namespace {

class EpilogueFuser {
public:
  explicit EpilogueFuser(IRFunction &function)
      : function(function), index(function) {}
  bool fuse(ElementWiseLoopInstr &loop);
  /// The reason why \p loop cannot be fused into the anchor that computes
  /// \p input; null without an anchor.
  std::optional<MissedFusion> findObstacle(const ElementWiseLoopInstr &loop,
                                           const Buffer &input);

private:
  /// Why a loop cannot be fused; empty if it can.
  using Reason = llvm::StringRef;
  Instruction *findAnchor(const Buffer &input) const;
  Reason checkReaders(const Buffer &input, const Instruction &loop) const;
  Reason checkInputs(const Instruction &anchor, const Instruction &loop) const;
  Reason collectInputs(const Instruction &anchor,
                       const ElementWiseLoopInstr &loop);
  Reason collect(const Instruction &anchor, const ElementWiseLoopInstr &loop);
  Reason check(const Instruction &anchor, const ElementWiseLoopInstr &loop,
               const Buffer &input);
  Buffer *makeBuffer(const Buffer &buffer, const StridedLayout &layout);

  IRFunction &function;
  AccessIndex index;

  /// \name What the new anchor has, filled by collect
  /// @{
  StridedLayout result;
  /// Further inputs and their layouts under the anchor's shape.
  std::vector<std::pair<Buffer *, StridedLayout>> fused;
  /// Maps inputs of the loop to inputs of the epilogue.
  std::vector<unsigned> values;
  /// @}
};

} // namespace

/// The anchor that first writes the root of \p input; null if none does.
Instruction *EpilogueFuser::findAnchor(const Buffer &input) const {
  const Buffer *root = input.getRoot();
  if (root->getKind() != Buffer::Kind::Activation)
    return nullptr;
  const Access &first = *index.get(root).begin();
  return first.isWrite() && first.instr->getInfo().hasEpilogue() ? first.instr
                                                                 : nullptr;
}

/// The anchor alone has to write the root of \p input, all of it, and only
/// \p loop may read it.
EpilogueFuser::Reason
EpilogueFuser::checkReaders(const Buffer &input,
                            const Instruction &loop) const {
  const auto &accesses = index.get(input.getRoot());
  if (!isWholeRoot(*accesses.begin()->getBuffer()))
    return "its result is a part of a larger buffer";
  for (const Access &access : llvm::drop_begin(accesses)) {
    if (access.isWrite())
      return "its result is written over later";
    if (access.isPredicate())
      return "its result is a predicate";
    if (access.instr != &loop)
      return "another instruction reads its result, too";
    if (!isWholeRoot(*access.getBuffer()))
      return "the loop reads a part of its result";
  }
  return {};
}

/// Nothing may write what \p anchor reads until \p loop has run.
EpilogueFuser::Reason
EpilogueFuser::checkInputs(const Instruction &anchor,
                           const Instruction &loop) const {
  for (unsigned i = 0; i < anchor.getNumOperands(); ++i) {
    const Buffer *buffer = anchor.getOperand(i);
    if (!buffer || !anchor.reads(i))
      continue;
    StridedLayout layout = StridedLayout::of(*buffer);
    for (const Access &access :
         index.getBetween(buffer->getRoot(), index.getTime(&anchor) + 1,
                          index.getTime(&loop)))
      if (access.isWrite() && !areDisjoint(access.getLayout(), layout))
        return "what it reads is written over before the loop runs";
  }
  return {};
}

/// The inputs of \p loop under the anchor's shape, for collect.
EpilogueFuser::Reason
EpilogueFuser::collectInputs(const Instruction &anchor,
                             const ElementWiseLoopInstr &loop) {
  const Buffer *element = anchor.getOperand(0);
  StridedLayout shape = StridedLayout::dense(element->getShape());
  unsigned numOld = anchor.getNumProgramInputs();
  unsigned first = anchor.getInfo().fusedOperand;
  auto find = [&](const Buffer *root, const Type &type,
                  const StridedLayout &layout) -> std::optional<unsigned> {
    for (unsigned i = 1; i < numOld; ++i) {
      const Buffer *other = anchor.getOperand(first + i - 1);
      if (other->getRoot() == root && other->getType() == type &&
          isSame(StridedLayout::of(*other), layout))
        return i;
    }
    for (auto [i, other] : llvm::enumerate(fused))
      if (other.first->getRoot() == root && isSame(other.second, layout))
        return numOld + i;
    return std::nullopt;
  };
  for (Buffer *input : loop.getInputs()) {
    if (input->getRoot() == element->getRoot()) {
      values.push_back(0);
      continue;
    }
    auto layout = compose(StridedLayout::of(*input), shape);
    if (!layout || layout->isScattered() ||
        !(anchor.getInfo().operands.back().isStrided || layout->isDense()))
      return "it can't read another input as that lies in memory";
    if (input->getRoot() == loop.getResult()->getRoot() &&
        !areDisjoint(*layout, result))
      return "the loop writes over another input";
    Type type = input->getType().withShape(layout->shape);
    if (auto found = find(input->getRoot(), type, *layout)) {
      values.push_back(*found);
      continue;
    }
    values.push_back(numOld + fused.size());
    fused.push_back({input, *layout});
  }
  // A single element is an operand of the instruction that uses it.
  auto isSingle = [](const Buffer *buffer) {
    return buffer->getRoot()->getType().getNumElements() == 1;
  };
  size_t count = 0;
  for (unsigned i = 1; i < numOld; ++i)
    count += !isSingle(anchor.getOperand(first + i - 1));
  for (const auto &[buffer, layout] : fused)
    count += !isSingle(buffer);
  return count <= maxFused ? Reason()
                           : "the epilogue would have too many inputs";
}

/// The operands of \p loop must have layouts under the anchor's shape that the
/// anchor can work with.
EpilogueFuser::Reason EpilogueFuser::collect(const Instruction &anchor,
                                             const ElementWiseLoopInstr &loop) {
  const Buffer *element = anchor.getOperand(0);
  fused.clear();
  values.clear();
  auto target = compose(StridedLayout::of(*loop.getResult()),
                        StridedLayout::dense(element->getShape()));
  if (!target || target->isScattered() ||
      !(anchor.getOperandInfo(0).isStrided || target->isDense()))
    return "it can't write the loop's result as that lies in memory";
  result = *target;
  if (Reason reason = collectInputs(anchor, loop); !reason.empty())
    return reason;
  const ScalarProgram &epilogue = anchor.getEpilogueProgram();
  llvm::ArrayRef<ScalarStep> steps = loop.getProgram().steps;
  if (epilogue.steps.size() + steps.size() > maxSteps)
    return "the epilogue would have too many steps";
  // An empty loop passes its first input on.
  if (steps.empty() && values.front() != 0)
    return "the loop passes another input on";
  return {};
}

EpilogueFuser::Reason EpilogueFuser::check(const Instruction &anchor,
                                           const ElementWiseLoopInstr &loop,
                                           const Buffer &input) {
  if (!isWholeRoot(input))
    return "the loop reads a part of its result";
  if (Reason reason = checkReaders(input, loop); !reason.empty())
    return reason;
  if (Reason reason = checkInputs(anchor, loop); !reason.empty())
    return reason;
  DimsRef shape = anchor.getOperand(0)->getShape();
  std::vector<LoopBound> bounds = getResultBounds(anchor, shape);
  if (!bounds.empty() && bounds != getResultBounds(loop, shape))
    return "the loop needs elements that nothing else does";
  // The anchor gets the loop's predicate, if that fits.
  if (anchor.getPredicate() && !haveSamePredicate(anchor, loop))
    return "the loop needs rows that its predicate leaves out";
  return collect(anchor, loop);
}

std::optional<MissedFusion>
EpilogueFuser::findObstacle(const ElementWiseLoopInstr &loop,
                            const Buffer &input) {
  const Instruction *anchor = findAnchor(input);
  if (!anchor)
    return std::nullopt;
  return MissedFusion{anchor, check(*anchor, loop, input)};
}

/// Makes \p ofResult the bounds of operand 0.
static void replaceResultBounds(std::vector<LoopBound> &bounds,
                                std::vector<LoopBound> ofResult) {
  for (const LoopBound &bound : bounds)
    if (bound.operand != 0)
      ofResult.push_back(bound);
  bounds = std::move(ofResult);
}

/// Appends \p next to \p program, which has \p numOld inputs and gets
/// \p numNew; the inputs of \p next become \p values, value 0 being the result
/// of \p program.
static void appendProgram(ScalarProgram &program, const ScalarProgram &next,
                          unsigned numOld, unsigned numNew,
                          llvm::ArrayRef<unsigned> values) {
  for (ScalarStep &step : program.steps)
    for (unsigned &arg : step.args)
      if (arg >= numOld)
        arg += numNew - numOld;
  unsigned numSteps = program.steps.size();
  unsigned element = numSteps ? numNew + numSteps - 1 : 0;
  for (ScalarStep step : next.steps) {
    for (unsigned &arg : step.args) {
      if (arg >= values.size())
        arg = arg - values.size() + numNew + numSteps;
      else
        arg = values[arg] == 0 ? element : values[arg];
    }
    program.steps.push_back(std::move(step));
  }
}

/// \p buffer under the shape of \p layout.
Buffer *EpilogueFuser::makeBuffer(const Buffer &buffer,
                                  const StridedLayout &layout) {
  Buffer *root = const_cast<Buffer &>(buffer).getRoot();
  return getView(function, buffer.getName(), root,
                 buffer.getType().withShape(layout.shape), layout);
}

bool EpilogueFuser::fuse(ElementWiseLoopInstr &loop) {
  // Fuses into the last of several anchors, such as the later convolution of a
  // residual sum: the other results are available when it runs.
  std::vector<std::pair<Instruction *, Buffer *>> anchors;
  for (Buffer *input : loop.getInputs())
    if (Instruction *anchor = findAnchor(*input))
      anchors.push_back({anchor, input});
  llvm::sort(anchors, [&](const auto &a, const auto &b) {
    return index.getTime(a.first) > index.getTime(b.first);
  });
  for (auto [anchor, input] : anchors) {
    if (!check(*anchor, loop, *input).empty())
      continue;
    GLOWISH_VLOG(1, "fused: loop '{0}' ({1}) into {2} '{3}'", loop.getName(),
                 listOps(loop.getProgram()), anchor->getKindName(),
                 anchor->getName());
    InstrDraft draft = anchor->getDraft();
    replaceResultBounds(draft.bounds,
                        getResultBounds(loop, draft.operands[0]->getShape()));
    draft.predicate = getPredicateFor(loop, draft.operands[0]->getShape());
    unsigned numOld = anchor->getNumProgramInputs();
    draft.operands[0] = makeBuffer(*loop.getResult(), result);
    for (const auto &[buffer, layout] : fused)
      draft.operands.push_back(makeBuffer(*buffer, layout));
    appendProgram(
        std::get<ScalarProgram>(draft.attrs[anchor->getInfo().epilogueAttr]),
        loop.getProgram(), numOld, numOld + fused.size(), values);
    index.replace(&loop, std::move(draft), anchor->getName());
    index.erase(anchor);
    return true;
  }
  return false;
}

llvm::Expected<bool> glowish::fuseEpilogues(IRFunction &function,
                                            const IRPassContext &) {
  EpilogueFuser fuser(function);
  std::vector<ElementWiseLoopInstr *> loops;
  for (Instruction &instr : function.getInstrs())
    if (auto *loop = llvm::dyn_cast<ElementWiseLoopInstr>(&instr))
      loops.push_back(loop);
  bool changed = false;
  for (ElementWiseLoopInstr *loop : loops)
    changed |= fuser.fuse(*loop);
  return finishPass(function, changed);
}

void glowish::addMissedEpilogueFusions(IRFunction &function,
                                       std::vector<UnfusedLoop> &loops) {
  EpilogueFuser fuser(function);
  for (UnfusedLoop &lone : loops)
    for (const Buffer *input : lone.loop->getInputs())
      if (auto missedFusion = fuser.findObstacle(*lone.loop, *input))
        lone.missedFusions.push_back(*missedFusion);
}
