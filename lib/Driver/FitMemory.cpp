//===- FitMemory.cpp - Enforces the limit of activation memory ------------===//

#include "FitMemory.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Numbers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

//===- Limits -------------------------------------------------------------===//

/// What the last region of \p plan, the only one that may be too large, has
/// more than its limit.
static uint64_t countLackingBytes(const MemoryPlan &plan,
                                  llvm::ArrayRef<RegionLimit> regions) {
  if (regions.empty())
    return 0;
  uint64_t size = plan.arenaRegions.back().size;
  return size - std::min(size, regions.back().bytes);
}

uint64_t glowish::getTotal(const ActivationLimits &limits) {
  uint64_t regions = 0;
  for (const RegionLimit &region : limits.regions)
    regions = llvm::SaturatingAdd(regions, region.bytes);
  uint64_t bytes = limits.bytes.value_or(UINT64_MAX);
  return limits.regions.empty() ? bytes : std::min(bytes, regions);
}

uint64_t glowish::measureNeed(const MemoryPlan &plan,
                              const ActivationLimits &limits) {
  uint64_t lacking = countLackingBytes(plan, limits.regions);
  return lacking ? std::max(plan.activationSize, getTotal(limits) + lacking)
                 : plan.activationSize;
}

/// "dtcm:65536,sram:262144"
static std::string formatRegions(llvm::ArrayRef<RegionLimit> regions) {
  return llvm::join(llvm::map_range(regions,
                                    [](const RegionLimit &region) {
                                      return region.name + ":" +
                                             std::to_string(region.bytes);
                                    }),
                    ",");
}

llvm::Error glowish::checkLimits(const MemoryPlan &plan,
                                 const ActivationLimits &limits) {
  if (limits.bytes && plan.activationSize > *limits.bytes)
    return makeError("the activations need {0} bytes; accepted: "
                     "«max-activation-bytes={0}» or more",
                     plan.activationSize);
  if (!countLackingBytes(plan, limits.regions))
    return llvm::Error::success();
  std::vector<RegionLimit> enough = limits.regions.vec();
  enough.back().bytes = plan.arenaRegions.back().size;
  return makeError("region '{0}' of the activations needs {1} bytes, and has "
                   "{2}; accepted: «memory-regions={3}» or more",
                   enough.back().name, enough.back().bytes,
                   limits.regions.back().bytes, formatRegions(enough));
}

//===- Patches ------------------------------------------------------------===//

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
    GLOWISH_VLOG(3,
                 "fit-memory: {0} patches need {1}, work {2:F2} times as much",
                 plan.count, formatExactBytes(bytes), plan.work);
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

llvm::Error glowish::fitMemory(Function &function,
                               const ActivationLimits &limits,
                               MeasureArena measure, ComputeInPatches compute) {
  uint64_t limit = getTotal(limits);
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
    GLOWISH_VLOG(
        1,
        "fit-memory: {0} patches make the arena of {1} one of {2}, and "
        "the work {3:F2} times as much",
        attempt->plan.count, formatExactBytes(arena), formatExactBytes(next),
        attempt->plan.work);
    GLOWISH_RETURN_IF_ERROR(compute(attempt->plan));
    arena = next;
  }
  if (arena <= limit || !limits.regions.empty())
    return llvm::Error::success();
  return makeError("the activations need {0} bytes, also in patches; accepted: "
                   "«max-activation-bytes={0}» or more",
                   arena);
}
