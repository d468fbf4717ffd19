//===- PlanChecks.h - Checks of memory plans beside the proof ---*- C++ -*-===//
//
// provePlan (glowish/IR/PlanProof.h) is what the compiler checks plans with.
// These see single properties: programs of lifetime marks alone, and bytes
// whatever the marks say.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_UNIT_PLANCHECKS_H
#define GLOWISH_TESTS_UNIT_PLANCHECKS_H

#include "PlanProof/Checks.h"
#include "glowish/IR/PlaceholderLiveness.h"
#include "glowish/Support/Error.h"
#include <map>

namespace glowish::test {

/// Replays the lifetimes in a function and its bodies over the arena.
class LifetimeReplay {
public:
  explicit LifetimeReplay(const MemoryPlan &plan) : plan(plan) {}

  llvm::Error run(const IRFunction &function) {
    GLOWISH_RETURN_IF_ERROR(checkRegions());
    PlaceholderLiveness liveness(function);
    GLOWISH_RETURN_IF_ERROR(beginPlaceholders(liveness.inputs));
    endPlaceholders(liveness.unusedInputs);
    for (const Instruction &instr : function.getInstrs()) {
      GLOWISH_RETURN_IF_ERROR(beginPlaceholders(liveness.getBeginning(instr)));
      GLOWISH_RETURN_IF_ERROR(visit(instr));
      endPlaceholders(liveness.getEnding(instr));
    }
    return beginPlaceholders(liveness.untouchedOutputs);
  }

private:
  /// Whether the regions are as large as the arena, without gaps.
  llvm::Error checkRegions() const {
    uint64_t end = plan.arenaRegions.empty() ? plan.activationSize : 0;
    for (const ArenaRegion &region : plan.arenaRegions) {
      if (region.start != end || end % plan.alignment != 0)
        return makeError("internal: region '{0}' begins at {1} in the memory "
                         "plan",
                         region.name, region.start);
      end = region.getEnd();
    }
    if (end != plan.activationSize)
      return makeError("internal: the regions of the memory plan end at {0}, "
                       "and the arena at {1}",
                       end, plan.activationSize);
    return llvm::Error::success();
  }

  llvm::Error visit(const Instruction &instr) {
    if (auto *alloc = llvm::dyn_cast<AllocInstr>(&instr))
      return begin(alloc->getBuffer());
    if (auto *dealloc = llvm::dyn_cast<DeallocInstr>(&instr))
      end(dealloc->getBuffer());
    else if (instr.getInfo().hasBodies())
      return visitBodies(instr);
    return llvm::Error::success();
  }

  llvm::Error beginPlaceholders(llvm::ArrayRef<const Buffer *> buffers) {
    for (const Buffer *buffer : buffers)
      if (plan.isInArena(buffer))
        GLOWISH_RETURN_IF_ERROR(begin(buffer));
    return llvm::Error::success();
  }
  void endPlaceholders(llvm::ArrayRef<const Buffer *> buffers) {
    for (const Buffer *buffer : buffers)
      if (plan.isInArena(buffer))
        end(buffer);
  }

  llvm::Error visitBodies(const Instruction &instr) {
    llvm::SmallVector<const Buffer *, 8> storage;
    if (auto *loop = llvm::dyn_cast<LoopInstr>(&instr))
      storage = getLoopStorage(*loop);
    for (const Buffer *buffer : storage)
      GLOWISH_RETURN_IF_ERROR(begin(buffer));
    for (const IRFunction *body : getBodies(instr))
      for (const Instruction &inner : body->getInstrs())
        GLOWISH_RETURN_IF_ERROR(visit(inner));
    for (const Buffer *buffer : storage)
      end(buffer);
    return llvm::Error::success();
  }

  uint64_t getEnd(const Buffer *buffer) const {
    return plan.getOffset(buffer) + buffer->getType().getSizeInBytes();
  }

  bool crossesBorder(const Buffer *buffer) const {
    return llvm::any_of(plan.arenaRegions, [&](const ArenaRegion &region) {
      return plan.getOffset(buffer) < region.start &&
             region.start < getEnd(buffer);
    });
  }

  llvm::Error begin(const Buffer *buffer) {
    if (buffer->getType().getSizeInBytes() == 0)
      return llvm::Error::success();
    auto next = live.lower_bound(plan.getOffset(buffer));
    bool clash = next != live.end() && next->first < getEnd(buffer);
    if (next != live.begin())
      clash |= getEnd(std::prev(next)->second) > plan.getOffset(buffer);
    llvm::StringRef kind = buffer->getKind() == Buffer::Kind::Mutable
                               ? "placeholder"
                               : "activation";
    if (clash || getEnd(buffer) > plan.activationSize)
      return makeError("internal: {0} '{1}' overlaps another in the memory "
                       "plan",
                       kind, buffer->getName());
    if (crossesBorder(buffer))
      return makeError("internal: {0} '{1}' crosses the border of a region in "
                       "the memory plan",
                       kind, buffer->getName());
    live[plan.getOffset(buffer)] = buffer;
    return llvm::Error::success();
  }

  void end(const Buffer *buffer) {
    auto found = live.find(plan.getOffset(buffer));
    if (found != live.end() && found->second == buffer)
      live.erase(found);
  }

  const MemoryPlan &plan;
  std::map<uint64_t, const Buffer *> live; // by offset
};

/// Returns an error for two buffers in the arena that overlap in time and
/// place, and for one that crosses the border of a region.
inline llvm::Error verifyPlan(const IRFunction &function,
                              const MemoryPlan &plan) {
  return LifetimeReplay(plan).run(function);
}

/// Returns the error of the part of the proof that replays reads and writes.
inline llvm::Error verifyPlanWithShadow(const IRFunction &function,
                                        const MemoryPlan &plan) {
  return checkBytes(function, plan, ProofOptions());
}

} // namespace glowish::test

#endif // GLOWISH_TESTS_UNIT_PLANCHECKS_H
