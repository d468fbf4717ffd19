//===- FuseEpilogues.cpp - Loops that run on an anchor's elements ---------===//
//
// A loop that alone reads the result of a convolution or a matrix product,
// under any shape, becomes part of its epilogue. The graph's passes have done
// that where the loop was next to the anchor; this is for those that were
// behind a reshape.
//
// The anchor moves to where the loop was, so its inputs must still have their
// values there. It reads and writes whole buffers in an order of its own, so
// what the loop writes must be apart from all that the anchor reads.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "glowish/IR/Passes.h"

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

private:
  Instruction *findAnchor(const Buffer &input, const Instruction &loop) const;
  bool inputsSurvive(const Instruction &anchor, const Instruction &loop) const;
  bool collect(const Instruction &anchor, const ElementWiseLoopInstr &loop);
  Buffer *makeBuffer(const Buffer &buffer, const Region &region);

  IRFunction &function;
  AccessIndex index;

  /// \name What the new anchor has, filled by collect
  /// @{
  Region result;
  /// Further inputs and their regions under the anchor's shape.
  std::vector<std::pair<Buffer *, Region>> fused;
  /// Of each input of the loop, the input of the epilogue.
  std::vector<unsigned> values;
  /// @}
};

} // namespace

static unsigned getEpilogueAttr(const Instruction &instr) {
  return instr.getInfo().findAttr("epilogue");
}

static bool isAnchor(const Instruction &instr) {
  return getEpilogueAttr(instr) != instr.getInfo().attrs.size();
}

/// The anchor that alone writes the root of \p input, all of it, if only
/// \p loop reads it.
Instruction *EpilogueFuser::findAnchor(const Buffer &input,
                                       const Instruction &loop) const {
  const Buffer *root = input.getRoot();
  if (root->getKind() != Buffer::Kind::Activation || !isWholeRoot(input))
    return nullptr;
  const Access &first = *index.get(root).begin();
  if (!first.isWrite() || !isAnchor(*first.instr) ||
      !isWholeRoot(*first.getBuffer()))
    return nullptr;
  for (const Access &access : llvm::drop_begin(index.get(root)))
    if (access.instr != &loop || access.isWrite() ||
        !isWholeRoot(*access.getBuffer()))
      return nullptr;
  return first.instr;
}

/// Whether nobody writes what \p anchor reads until \p loop has run.
bool EpilogueFuser::inputsSurvive(const Instruction &anchor,
                                  const Instruction &loop) const {
  for (unsigned i = 0; i < anchor.getNumOperands(); ++i) {
    const Buffer *buffer = anchor.getOperand(i);
    if (!buffer || !anchor.reads(i))
      continue;
    Region region = Region::of(*buffer);
    for (const Access &access :
         index.getBetween(buffer->getRoot(), index.getTime(&anchor) + 1,
                          index.getTime(&loop)))
      if (access.isWrite() && !areDisjoint(access.getRegion(), region))
        return false;
  }
  return true;
}

/// Whether the operands of \p loop have regions under the anchor's shape that
/// the anchor can work with.
bool EpilogueFuser::collect(const Instruction &anchor,
                            const ElementWiseLoopInstr &loop) {
  const Buffer *element = anchor.getOperand(0);
  Region shape = Region::dense(element->getShape());
  fused.clear();
  values.clear();
  auto target = compose(Region::of(*loop.getResult()), shape);
  if (!target || target->isScattered() ||
      !(anchor.getOperandInfo(0).isStrided || target->isDense()) ||
      loop.getResult()->getType().getKind() != element->getType().getKind())
    return false;
  result = *target;
  unsigned numOld = anchor.getNumProgramInputs();
  for (Buffer *input : loop.getInputs()) {
    if (input->getRoot() == element->getRoot()) {
      values.push_back(0);
      continue;
    }
    auto region = compose(Region::of(*input), shape);
    if (!region || region->isScattered() ||
        !(anchor.getInfo().operands.back().isStrided || region->isDense()) ||
        input->getType().getKind() != element->getType().getKind() ||
        (input->getRoot() == loop.getResult()->getRoot() &&
         !areDisjoint(*region, result)))
      return false;
    values.push_back(numOld + fused.size());
    fused.push_back({input, *region});
  }
  const auto &epilogue = anchor.getAttr<ScalarProgram>(getEpilogueAttr(anchor));
  return numOld - 1 + fused.size() <= maxFused &&
         epilogue.steps.size() + loop.getProgram().steps.size() <= maxSteps &&
         llvm::all_of(loop.getProgram().steps, [&](const ScalarStep &step) {
           return step.kind == element->getType().getKind();
         });
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

/// \p buffer under the shape of \p region.
Buffer *EpilogueFuser::makeBuffer(const Buffer &buffer, const Region &region) {
  Buffer *root = const_cast<Buffer &>(buffer).getRoot();
  return getView(function, buffer.getName(), root,
                 buffer.getType().withShape(region.shape), region);
}

bool EpilogueFuser::fuse(ElementWiseLoopInstr &loop) {
  for (Buffer *input : loop.getInputs()) {
    Instruction *anchor = findAnchor(*input, loop);
    if (!anchor || !inputsSurvive(*anchor, loop) || !collect(*anchor, loop))
      continue;
    // An empty loop passes its first input on.
    if (loop.getProgram().empty() && values.front() != 0)
      continue;
    InstrDraft draft = anchor->getDraft();
    unsigned numOld = anchor->getNumProgramInputs();
    draft.operands[0] = makeBuffer(*loop.getResult(), result);
    for (const auto &[buffer, region] : fused)
      draft.operands.push_back(makeBuffer(*buffer, region));
    appendProgram(
        std::get<ScalarProgram>(draft.attrs[getEpilogueAttr(*anchor)]),
        loop.getProgram(), numOld, numOld + fused.size(), values);
    index.replace(&loop, std::move(draft));
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
