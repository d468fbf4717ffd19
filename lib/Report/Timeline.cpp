//===- Timeline.cpp - Instructions in order, and live ranges --------------===//

#include "Timeline.h"
#include "glowish/IR/PlaceholderLiveness.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

Timeline::Timeline(const IRFunction &function, const MemoryPlan &plan)
    : plan(plan) {
  visitProgram(function);
  sumLiveBytes();
}

uint64_t Timeline::getPeak() const {
  uint64_t peak = 0;
  for (const TimelineStep &step : steps)
    peak = std::max(peak, step.liveBytes);
  return peak;
}

void Timeline::begin(const Buffer *buffer) {
  rangeOf[buffer] = liveRanges.size();
  liveRanges.push_back({buffer, plan.getOffset(buffer),
                        uint64_t(buffer->getType().getSizeInBytes()),
                        unsigned(steps.size()),
                        /*end=*/0,
                        /*writer=*/{},
                        /*reader=*/{}});
}

void Timeline::end(const Buffer *buffer) {
  liveRanges[rangeOf.lookup(buffer)].end = steps.size();
}

void Timeline::begin(llvm::ArrayRef<const Buffer *> placeholders) {
  for (const Buffer *buffer : placeholders)
    if (plan.isInArena(buffer))
      begin(buffer);
}

void Timeline::end(llvm::ArrayRef<const Buffer *> placeholders) {
  for (const Buffer *buffer : placeholders)
    if (plan.isInArena(buffer))
      end(buffer);
}

void Timeline::recordAccesses(const Instruction &instr) {
  unsigned number = steps.size();
  for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
    const Buffer *buffer = instr.getOperand(i);
    auto found = buffer ? rangeOf.find(buffer->getRoot()) : rangeOf.end();
    if (found == rangeOf.end())
      continue;
    LiveRange &range = liveRanges[found->second];
    if (instr.writes(i) && !range.writer)
      range.writer = number;
    if (instr.reads(i))
      range.reader = number;
  }
}

void Timeline::visitProgram(const IRFunction &function) {
  PlaceholderLiveness placeholders(function);
  begin(placeholders.inputs);
  end(placeholders.unusedInputs);
  for (const Instruction &instr : function.getInstrs()) {
    begin(placeholders.getBeginning(instr));
    visit(instr, /*depth=*/0);
    end(placeholders.getEnding(instr));
  }
  begin(placeholders.untouchedOutputs);
  // The application reads the outputs.
  for (LiveRange &range : liveRanges)
    if (range.buffer->isOutput() && plan.isInArena(range.buffer))
      range.end = steps.size();
}

void Timeline::visit(const IRFunction &body, unsigned depth) {
  for (const Instruction &instr : body.getInstrs())
    visit(instr, depth);
}

void Timeline::visit(const Instruction &instr, unsigned depth) {
  if (auto *alloc = llvm::dyn_cast<AllocInstr>(&instr))
    begin(alloc->getBuffer());
  else if (auto *dealloc = llvm::dyn_cast<DeallocInstr>(&instr))
    end(dealloc->getBuffer());
  else
    visitCode(instr, depth);
}

void Timeline::visitCode(const Instruction &instr, unsigned depth) {
  recordAccesses(instr);
  numbers[&instr] = steps.size();
  llvm::SmallVector<const Buffer *, 8> storage;
  if (auto *loop = llvm::dyn_cast<LoopInstr>(&instr))
    storage = getLoopStorage(*loop);
  for (const Buffer *buffer : storage)
    begin(buffer);
  steps.push_back({&instr, depth});
  for (const IRFunction *body : getBodies(instr))
    visit(*body, depth + 1);
  for (const Buffer *buffer : storage)
    end(buffer);
}

void Timeline::sumLiveBytes() {
  std::vector<uint64_t> born(steps.size() + 1), died(steps.size() + 1);
  for (const LiveRange &range : liveRanges) {
    uint64_t bytes = llvm::alignTo(range.bytes, plan.alignment);
    born[range.begin] += bytes;
    died[range.end] += bytes;
  }
  uint64_t live = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    live += born[i] - died[i];
    steps[i].liveBytes = live;
  }
}

std::string glowish::describeStep(unsigned number, const Instruction &instr) {
  return llvm::formatv("{0}: {1} \"{2}\"", number, instr.getKindName(),
                       instr.getName())
      .str();
}
