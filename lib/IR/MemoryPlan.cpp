//===- MemoryPlan.cpp - The memory of every buffer ------------------------===//

#include "glowish/IR/MemoryPlan.h"
#include "ArenaPlanner.h"
#include "LeastUse.h"
#include "RegionPlanner.h"
#include "glowish/IR/PlaceholderLiveness.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace glowish;

double MemoryPlan::getEfficiency() const {
  return activationSize ? double(peakLiveBytes) / double(activationSize) : 1.0;
}

ArenaPlace MemoryPlan::getArenaPlace(const Buffer *root) const {
  uint64_t offset = getOffset(root);
  for (auto [number, region] : llvm::enumerate(arenaRegions))
    if (offset < region.getEnd())
      return {unsigned(number), offset - region.start};
  // One memory, or a buffer without bytes in an arena without bytes.
  return {0, offset};
}

double MemoryPlan::getAccessShare(unsigned number) const {
  double sum = 0;
  for (const ArenaRegion &region : arenaRegions)
    sum += region.accesses;
  return sum > 0 ? arenaRegions[number].accesses / sum : 0;
}

llvm::SmallVector<const Buffer *, 8>
glowish::getLoopStorage(const LoopInstr &loop) {
  const IRFunction &body = getIRFunction(loop.getBody());
  auto inputs = body.getInputs(), outputs = body.getOutputs();
  llvm::SmallVector<const Buffer *, 8> storage(inputs.begin(),
                                               inputs.begin() + 2);
  storage.append(outputs.begin(), outputs.begin() + 1 + loop.getNumStates());
  return storage;
}

//===- Activations --------------------------------------------------------===//

namespace {

/// The arena bytes of a function: with gaps, and the peak of live bytes.
struct ArenaNeed {
  uint64_t size = 0;
  uint64_t peak = 0;
};

} // namespace

static ArenaNeed placeBody(const IRFunction &body, MemoryPlan &plan);

/// Moves the arena buffers of \p instr, which were placed from 0 on, to
/// \p start.
static void moveBodies(const Instruction &instr, uint64_t start,
                       MemoryPlan &plan) {
  for (const IRFunction *body : getBodies(instr)) {
    for (const auto &buffer : body->getBuffers())
      if (buffer->getKind() == Buffer::Kind::Activation)
        plan.offsets[buffer.get()] += start;
    for (const Instruction &inner : body->getInstrs())
      moveBodies(inner, start, plan);
  }
  if (auto *loop = llvm::dyn_cast<LoopInstr>(&instr))
    for (const Buffer *buffer : getLoopStorage(*loop))
      plan.offsets[buffer] += start;
}

/// Places the arena buffers of \p instr from 0 on. Of two bodies only one runs,
/// so that they overlap.
static ArenaNeed placeBodies(const Instruction &instr, MemoryPlan &plan) {
  ArenaNeed need;
  for (const IRFunction *body : getBodies(instr)) {
    ArenaNeed own = placeBody(*body, plan);
    need.size = std::max(need.size, own.size);
    need.peak = std::max(need.peak, own.peak);
  }
  if (auto *loop = llvm::dyn_cast<LoopInstr>(&instr))
    for (const Buffer *buffer : getLoopStorage(*loop)) {
      uint64_t bytes =
          llvm::alignTo(buffer->getType().getSizeInBytes(), plan.alignment);
      plan.offsets[buffer] = need.size;
      need.size += bytes;
      need.peak += bytes;
    }
  return need;
}

namespace {

/// Places the arena buffers of one function.
class ArenaPlacer {
public:
  explicit ArenaPlacer(MemoryPlan &plan) : plan(plan) {}

  /// \p liveness: of the inputs and outputs, if they are in the arena; null
  /// otherwise.
  ArenaNeed run(const IRFunction &function,
                const PlaceholderLiveness *liveness) {
    visit(function, liveness);
    return place();
  }
  /// The same in regions of the arena, and sets these in the plan.
  ArenaNeed runInRegions(const IRFunction &function,
                         const PlaceholderLiveness *liveness,
                         const PlanOptions &options) {
    visit(function, liveness);
    return placeInRegions(AccessEstimate(function, options.countAccesses),
                          options.arenaRegions);
  }

private:
  void visit(const IRFunction &function, const PlaceholderLiveness *liveness);
  void visit(const Instruction &instr);
  /// At the current time.
  void begin(const Buffer *buffer);
  void end(const Buffer *buffer, unsigned at) {
    intervals[numbers.lookup(buffer)].end = at;
  }
  /// The owner of an interval: a buffer, or an instruction with bodies.
  using Owner = std::pair<const Buffer *, const Instruction *>;
  void setOffset(const Owner &owner, uint64_t offset);
  ArenaNeed place();
  ArenaNeed placeInRegions(const AccessEstimate &estimate,
                           llvm::ArrayRef<RegionLimit> limits);

  MemoryPlan &plan;
  unsigned time = 0;
  std::vector<ArenaInterval> intervals;
  std::vector<Owner> owners; // of the intervals
  llvm::DenseMap<const Buffer *, unsigned> numbers;
  /// By how much the arenas of bodies exceed their peaks of live bytes.
  uint64_t slack = 0;
};

} // namespace

void ArenaPlacer::begin(const Buffer *buffer) {
  numbers[buffer] = intervals.size();
  owners.push_back({buffer, nullptr});
  intervals.push_back(
      {llvm::alignTo(buffer->getType().getSizeInBytes(), plan.alignment), time,
       time});
}

void ArenaPlacer::visit(const Instruction &instr) {
  if (auto *alloc = llvm::dyn_cast<AllocInstr>(&instr)) {
    begin(alloc->getBuffer());
  } else if (auto *dealloc = llvm::dyn_cast<DeallocInstr>(&instr)) {
    end(dealloc->getBuffer(), time);
  } else if (instr.getInfo().hasBodies()) {
    ArenaNeed need = placeBodies(instr, plan);
    slack = std::max(slack, need.size - need.peak);
    owners.push_back({nullptr, &instr});
    intervals.push_back({need.size, time, time + 1});
  }
}

void ArenaPlacer::setOffset(const Owner &owner, uint64_t offset) {
  if (owner.first)
    plan.offsets[owner.first] = offset;
  else
    moveBodies(*owner.second, offset, plan);
}

ArenaNeed ArenaPlacer::place() {
  ArenaPlanner planner(intervals);
  for (auto [owner, offset] : llvm::zip_equal(owners, planner.getOffsets()))
    setOffset(owner, offset);
  return {planner.getArenaSize(), planner.getPeak() - slack};
}

ArenaNeed ArenaPlacer::placeInRegions(const AccessEstimate &estimate,
                                      llvm::ArrayRef<RegionLimit> limits) {
  std::vector<double> accesses;
  for (auto [buffer, instr] : owners)
    accesses.push_back(buffer ? estimate.get(buffer)
                              : estimate.getInside(*instr));
  auto bytes = llvm::map_to_vector(
      limits, [](const RegionLimit &limit) { return limit.bytes; });
  RegionPlanner planner(intervals, accesses, bytes);
  uint64_t end = 0;
  for (auto [limit, region] : llvm::zip_equal(limits, planner.getRegions())) {
    plan.arenaRegions.push_back(
        {limit.name, end, region.size, region.accesses});
    end += region.size;
  }
  for (auto [owner, place] : llvm::zip_equal(owners, planner.getPlaces()))
    setOffset(owner, plan.arenaRegions[place.region].start + place.offset);
  return {end, planner.getPeak() - slack};
}

void ArenaPlacer::visit(const IRFunction &function,
                        const PlaceholderLiveness *liveness) {
  if (liveness) {
    llvm::for_each(liveness->inputs,
                   [&](const Buffer *input) { begin(input); });
    for (const Buffer *input : liveness->unusedInputs)
      end(input, time + 1);
  }
  for (const Instruction &instr : function.getInstrs()) {
    ++time;
    if (liveness)
      for (const Buffer *output : liveness->getBeginning(instr))
        begin(output);
    visit(instr);
    if (liveness)
      for (const Buffer *input : liveness->getEnding(instr))
        end(input, time + 1);
  }
  if (liveness) {
    ++time;
    for (const Buffer *output : liveness->untouchedOutputs)
      begin(output);
    for (auto [owner, interval] : llvm::zip_equal(owners, intervals))
      if (owner.first && owner.first->isOutput())
        interval.end = time + 1;
  }
  LeastUse leastUse(function);
  for (auto [owner, interval] : llvm::zip_equal(owners, intervals))
    if (owner.first)
      interval.leastSize =
          std::min(interval.size, llvm::alignTo(leastUse.getBytes(owner.first),
                                                plan.alignment));
}

static ArenaNeed placeBody(const IRFunction &body, MemoryPlan &plan) {
  return ArenaPlacer(plan).run(body, /*liveness=*/nullptr);
}

//===- The plan -----------------------------------------------------------===//

/// Places \p buffer at \p end of a region, which moves behind it.
static void append(const Buffer *buffer, uint64_t &end, MemoryPlan &plan) {
  plan.offsets[buffer] = end;
  end = llvm::alignTo(end + buffer->getType().getSizeInBytes(), plan.alignment);
}

static void placeConstants(const IRFunction &function, MemoryPlan &plan) {
  llvm::DenseMap<const Tensor *, uint64_t> payloads;
  forEachFunction(function, [&](const IRFunction &each) {
    for (const auto &buffer : each.getBuffers()) {
      if (buffer->getKind() != Buffer::Kind::Constant)
        continue;
      auto [known, isNew] =
          payloads.try_emplace(&buffer->getTensor(), plan.constantSize);
      if (isNew)
        append(buffer.get(), plan.constantSize, plan);
      else
        plan.offsets[buffer.get()] = known->second;
    }
  });
}

/// Places the mutable buffers that are not to be in the arena.
static void placeMutables(const IRFunction &function,
                          const PlanOptions &options, MemoryPlan &plan) {
  for (const auto &buffer : function.getBuffers()) {
    if (buffer->getKind() != Buffer::Kind::Mutable)
      continue;
    if (options.placesIOInArena && PlaceholderLiveness::hasLifetime(*buffer))
      plan.arenaPlaceholders.insert(buffer.get());
    else
      append(buffer.get(), plan.mutableSize, plan);
  }
}

MemoryPlan glowish::planMemory(const IRFunction &function,
                               const PlanOptions &options) {
  MemoryPlan plan;
  plan.alignment = options.alignment;
  placeConstants(function, plan);
  placeMutables(function, options, plan);
  std::optional<PlaceholderLiveness> liveness;
  if (options.placesIOInArena)
    liveness.emplace(function);
  const PlaceholderLiveness *inArena = liveness ? &*liveness : nullptr;
  ArenaPlacer placer(plan);
  ArenaNeed need = options.arenaRegions.empty()
                       ? placer.run(function, inArena)
                       : placer.runInRegions(function, inArena, options);
  plan.activationSize = need.size;
  plan.peakLiveBytes = need.peak;
  return plan;
}

void glowish::placeConstant(const Tensor &constant, Tensor &region,
                            uint64_t offset) {
  constant.writeTo(region.data<uint8_t>().begin() + offset);
  // A model's file is not in memory beside the region.
  constant.releasePages();
}

Tensor glowish::makeConstantRegion(const IRFunction &function,
                                   const MemoryPlan &plan) {
  Tensor region(Type(ElemKind::UInt8, {int64_t(plan.constantSize)}));
  forEachFunction(function, [&](const IRFunction &each) {
    for (const auto &buffer : each.getBuffers())
      if (buffer->getKind() == Buffer::Kind::Constant)
        placeConstant(buffer->getTensor(), region,
                      plan.getOffset(buffer.get()));
  });
  return region;
}
