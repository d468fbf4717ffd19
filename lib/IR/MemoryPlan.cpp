//===- MemoryPlan.cpp - Where every buffer lives --------------------------===//

#include "glowish/IR/MemoryPlan.h"
#include "ArenaPlanner.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace glowish;

double MemoryPlan::getEfficiency() const {
  return activationSize ? double(peakLiveBytes) / double(activationSize) : 1.0;
}

static void placeActivations(const IRFunction &function, MemoryPlan &plan) {
  std::vector<Interval> intervals;
  std::vector<const Buffer *> buffers;
  llvm::DenseMap<const Buffer *, unsigned> numbers;
  unsigned time = 0;
  for (const Instruction &instr : function.getInstrs()) {
    ++time;
    if (auto *alloc = llvm::dyn_cast<AllocInstr>(&instr)) {
      const Buffer *buffer = alloc->getBuffer();
      numbers[buffer] = intervals.size();
      buffers.push_back(buffer);
      intervals.push_back(
          {llvm::alignTo(buffer->getType().getSizeInBytes(), plan.alignment),
           time, time});
    } else if (auto *dealloc = llvm::dyn_cast<DeallocInstr>(&instr)) {
      intervals[numbers.lookup(dealloc->getBuffer())].end = time;
    }
  }
  ArenaPlanner planner(intervals);
  plan.peakLiveBytes = planner.getPeak();
  plan.activationSize = planner.getArenaSize();
  for (auto [buffer, offset] : llvm::zip_equal(buffers, planner.getOffsets()))
    plan.offsets[buffer] = offset;
}

MemoryPlan glowish::planMemory(const IRFunction &function, uint64_t alignment) {
  MemoryPlan plan;
  plan.alignment = alignment;
  auto append = [&](const Buffer *buffer, uint64_t &end) {
    plan.offsets[buffer] = end;
    end = llvm::alignTo(end + buffer->getType().getSizeInBytes(), alignment);
  };
  for (const auto &buffer : function.getBuffers()) {
    if (buffer->getKind() == Buffer::Kind::Constant)
      append(buffer.get(), plan.constantSize);
    else if (buffer->getKind() == Buffer::Kind::Mutable)
      append(buffer.get(), plan.mutableSize);
  }
  placeActivations(function, plan);
  return plan;
}

Tensor glowish::makeConstantRegion(const IRFunction &function,
                                   const MemoryPlan &plan) {
  Tensor region(Type(ElemKind::UInt8, {int64_t(plan.constantSize)}));
  for (const auto &buffer : function.getBuffers())
    if (buffer->getKind() == Buffer::Kind::Constant)
      llvm::copy(buffer->getTensor().getByteRange(),
                 region.data<uint8_t>().begin() + plan.getOffset(buffer.get()));
  return region;
}

llvm::Error glowish::verifyPlan(const IRFunction &function,
                                const MemoryPlan &plan) {
  std::map<uint64_t, const Buffer *> live; // by offset
  for (const Instruction &instr : function.getInstrs()) {
    if (auto *dealloc = llvm::dyn_cast<DeallocInstr>(&instr)) {
      auto found = live.find(plan.getOffset(dealloc->getBuffer()));
      if (found != live.end() && found->second == dealloc->getBuffer())
        live.erase(found);
      continue;
    }
    auto *alloc = llvm::dyn_cast<AllocInstr>(&instr);
    if (!alloc || alloc->getBuffer()->getType().getSizeInBytes() == 0)
      continue;
    const Buffer *buffer = alloc->getBuffer();
    auto getEnd = [&](const Buffer *b) {
      return plan.getOffset(b) + b->getType().getSizeInBytes();
    };
    auto next = live.lower_bound(plan.getOffset(buffer));
    bool clash = next != live.end() && next->first < getEnd(buffer);
    if (next != live.begin())
      clash |= getEnd(std::prev(next)->second) > plan.getOffset(buffer);
    if (clash || getEnd(buffer) > plan.activationSize)
      return makeError("internal: activation '{0}' overlaps another in the "
                       "memory plan",
                       buffer->getName());
    live[plan.getOffset(buffer)] = buffer;
  }
  return llvm::Error::success();
}
