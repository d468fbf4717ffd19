//===- FitMemory.cpp - Enforces the limit of activation memory ------------===//

#include "FitMemory.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "patches"

using namespace glowish;

/// Parts of one function that are computed in patches, at most.
static constexpr unsigned maxParts = 4;

namespace {

/// A patch plan with its costs; the bytes are those of the best schedule.
struct Attempt {
  PatchPlan plan;
  uint64_t bytes = 0;
};

} // namespace

/// Calls \p look with a clone of \p function that is rewritten by \p plan.
static llvm::Expected<uint64_t>
tryPlan(Function &function, const PatchPlan &plan, MeasureArena look) {
  Function *clone = function.clone("patches");
  computeInPatches(*clone, plan);
  llvm::Expected<uint64_t> result = look(*clone);
  function.getModule().eraseFunction(clone);
  return result;
}

static llvm::Expected<uint64_t> measureSchedule(Function &function) {
  return findSchedulePeak(scheduleNodes(function), /*isFused=*/true).bytes;
}

/// The plan with the least work of those that fit, as measured; of none, the
/// one whose schedule needs least. Null without any plan.
static llvm::Expected<std::optional<Attempt>>
findPlan(Function &function, uint64_t limit, MeasureArena measure) {
  const Node *peak =
      findSchedulePeak(scheduleNodes(function), /*isFused=*/true).node;
  std::optional<Attempt> least;
  for (const PatchPlan &plan : findPatchPlans(function, *peak)) {
    GLOWISH_ASSIGN_OR_RETURN(uint64_t bytes,
                             tryPlan(function, plan, measureSchedule));
    if (!least || bytes < least->bytes)
      least = {plan, bytes};
    if (bytes > limit)
      continue;
    GLOWISH_ASSIGN_OR_RETURN(uint64_t arena, tryPlan(function, plan, measure));
    if (arena <= limit)
      return Attempt{plan, bytes};
  }
  return least;
}

llvm::Error glowish::fitMemory(Function &function, uint64_t limit,
                               MeasureArena measure, ComputeInPatches compute) {
  GLOWISH_ASSIGN_OR_RETURN(uint64_t arena, measure(function));
  for (unsigned part = 0; part < maxParts && arena > limit; ++part) {
    GLOWISH_ASSIGN_OR_RETURN(std::optional<Attempt> attempt,
                             findPlan(function, limit, measure));
    if (!attempt)
      break;
    GLOWISH_ASSIGN_OR_RETURN(uint64_t next,
                             tryPlan(function, attempt->plan, measure));
    if (next >= arena)
      break;
    LLVM_DEBUG(llvm::dbgs()
               << attempt->plan.count << " patches, " << next << " of " << arena
               << " bytes of activations, work " << attempt->plan.work << "\n");
    GLOWISH_RETURN_IF_ERROR(compute(attempt->plan));
    arena = next;
  }
  if (arena <= limit)
    return llvm::Error::success();
  return makeError("the activations need {0} bytes, also in patches; accepted: "
                   "-max-activation-bytes={0} or more",
                   arena);
}
