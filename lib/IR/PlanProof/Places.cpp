//===- Places.cpp - The places of a memory plan ---------------------------===//

#include "Checks.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>

using namespace glowish;

/// The regions follow each other and are as large as the arena together.
static llvm::Error checkArenaRegions(const MemoryPlan &plan) {
  if (plan.arenaRegions.empty())
    return llvm::Error::success();
  uint64_t end = 0;
  std::set<llvm::StringRef> names;
  for (const ArenaRegion &region : plan.arenaRegions) {
    if (region.start != end || region.start % plan.alignment != 0)
      return makeError("internal: region '{0}' begins at {1} in the memory "
                       "plan",
                       region.name, region.start);
    if (!names.insert(region.name).second)
      return makeError("internal: two regions of the memory plan are '{0}'",
                       region.name);
    end = region.getEnd();
  }
  if (end != plan.activationSize)
    return makeError("internal: the regions of the memory plan end at {0}, and "
                     "the arena at {1}",
                     end, plan.activationSize);
  return llvm::Error::success();
}

llvm::Error glowish::checkMemories(const IRFunction &function,
                                   const MemoryPlan &plan) {
  // The largest element has 8 bytes.
  if (!llvm::isPowerOf2_64(plan.alignment) || plan.alignment < 8)
    return makeError("internal: the alignment of the memory plan is {0}",
                     plan.alignment);
  GLOWISH_RETURN_IF_ERROR(checkArenaRegions(plan));
  if (plan.peakLiveBytes > plan.activationSize)
    return makeError("internal: {0} bytes of the memory plan are live in an "
                     "arena of {1}",
                     plan.peakLiveBytes, plan.activationSize);
  size_t numOwn = 0;
  for (const auto &buffer : function.getBuffers()) {
    if (!plan.arenaPlaceholders.contains(buffer.get()))
      continue;
    ++numOwn;
    // Anything else keeps a value between runs.
    if (buffer->getKind() != Buffer::Kind::Mutable ||
        buffer->isInput() == buffer->isOutput())
      return makeError("internal: '{0}', which is not input or output alone, "
                       "is in the arena",
                       buffer->getName());
  }
  if (numOwn != plan.arenaPlaceholders.size())
    return makeError("internal: the arena has a placeholder that the program "
                     "does not have");
  return llvm::Error::success();
}

static llvm::StringRef getName(MemoryKind memory) {
  switch (memory) {
  case MemoryKind::Constants:
    return "constant region";
  case MemoryKind::Mutables:
    return "mutable region";
  case MemoryKind::Arena:
    return "arena";
  }
  llvm_unreachable("all kinds are listed");
}

static uint64_t getSize(MemoryKind memory, const MemoryPlan &plan) {
  switch (memory) {
  case MemoryKind::Constants:
    return plan.constantSize;
  case MemoryKind::Mutables:
    return plan.mutableSize;
  case MemoryKind::Arena:
    return plan.activationSize;
  }
  llvm_unreachable("all kinds are listed");
}

/// Also sets the place.
static llvm::Error checkPlace(ProvedBuffer &buffer, const MemoryPlan &plan) {
  auto place = plan.offsets.find(buffer.buffer);
  if (place == plan.offsets.end())
    return makeError("internal: '{0}' has no place in the memory plan",
                     buffer.name);
  buffer.offset = place->second;
  if (buffer.offset % plan.alignment != 0)
    return makeError("internal: '{0}' lies at {1} in the {2}, no multiple of "
                     "{3}",
                     buffer.name, buffer.offset, getName(buffer.memory),
                     plan.alignment);
  uint64_t size = getSize(buffer.memory, plan);
  if (buffer.offset > size || buffer.bytes > size - buffer.offset)
    return makeError("internal: '{0}' lies from {1} to {2} in the {3}, which "
                     "has {4} bytes",
                     buffer.name, buffer.offset, buffer.getEnd(),
                     getName(buffer.memory), size);
  if (buffer.memory != MemoryKind::Arena || buffer.bytes == 0)
    return llvm::Error::success();
  for (const ArenaRegion &region : plan.arenaRegions)
    if (buffer.offset < region.getEnd() && region.getEnd() < buffer.getEnd())
      return makeError("internal: '{0}' crosses the end of region '{1}' in the "
                       "memory plan",
                       buffer.name, region.name);
  return llvm::Error::success();
}

llvm::Error glowish::checkPlaces(PlanProof &proof, const MemoryPlan &plan) {
  for (ProvedBuffer &buffer : proof.buffers)
    GLOWISH_RETURN_IF_ERROR(checkPlace(buffer, plan));
  return llvm::Error::success();
}

namespace {

/// Buffers that are there at the same time, no two with a byte in common.
class DisjointPlaces {
public:
  /// Returns one that has a byte in common with \p buffer; else adds it and
  /// returns null.
  const ProvedBuffer *add(const ProvedBuffer &buffer) {
    if (buffer.bytes == 0)
      return nullptr;
    auto next = byOffset.lower_bound(buffer.offset);
    if (next != byOffset.end() && next->first < buffer.getEnd())
      return next->second;
    if (next != byOffset.begin() &&
        std::prev(next)->second->getEnd() > buffer.offset)
      return std::prev(next)->second;
    byOffset[buffer.offset] = &buffer;
    return nullptr;
  }
  void remove(const ProvedBuffer &buffer) {
    if (buffer.bytes)
      byOffset.erase(buffer.offset);
  }

private:
  std::map<uint64_t, const ProvedBuffer *> byOffset;
};

} // namespace

/// Whether both are the same constant at the same place.
static bool isSameConstant(const ProvedBuffer &a, const ProvedBuffer &b) {
  if (a.memory != MemoryKind::Constants || b.memory != MemoryKind::Constants ||
      a.offset != b.offset || a.bytes != b.bytes)
    return false;
  const Tensor &own = a.buffer->getTensor(), &other = b.buffer->getTensor();
  return &own == &other || own.isBitwiseEqual(other);
}

static llvm::Error makeOverlapError(const ProvedBuffer &a,
                                    const ProvedBuffer &b,
                                    llvm::StringRef more = "") {
  return makeError("internal: '{0}' lies from {1} to {2} in the {3}, and '{4}' "
                   "from {5} to {6}{7}",
                   a.name, a.offset, a.getEnd(), getName(a.memory), b.name,
                   b.offset, b.getEnd(), more);
}

llvm::Error glowish::checkFixedPlaces(const PlanProof &proof) {
  DisjointPlaces constants, mutables;
  for (const ProvedBuffer &buffer : proof.buffers) {
    if (buffer.memory == MemoryKind::Arena)
      continue;
    bool isConstant = buffer.memory == MemoryKind::Constants;
    const ProvedBuffer *other = (isConstant ? constants : mutables).add(buffer);
    if (other && !isSameConstant(buffer, *other))
      return makeOverlapError(buffer, *other);
  }
  return llvm::Error::success();
}

llvm::Error glowish::checkLiveRanges(const PlanProof &proof) {
  std::vector<const ProvedBuffer *> byBegin;
  for (const ProvedBuffer &buffer : proof.buffers) {
    if (buffer.memory != MemoryKind::Arena)
      continue;
    for (const ProvedAccess &access : buffer.accesses)
      if (!buffer.live.contains(access.range))
        return makeError("internal: '{0}' is accessed outside of its lifetime",
                         buffer.name);
    // None where no instruction is between the marks.
    if (buffer.live.first <= buffer.live.last)
      byBegin.push_back(&buffer);
  }
  llvm::sort(byBegin, [](const ProvedBuffer *a, const ProvedBuffer *b) {
    return std::tuple(a->live.first, a) < std::tuple(b->live.first, b);
  });
  DisjointPlaces live;
  std::multimap<unsigned, const ProvedBuffer *> byEnd;
  for (const ProvedBuffer *buffer : byBegin) {
    while (!byEnd.empty() && byEnd.begin()->first < buffer->live.first) {
      live.remove(*byEnd.begin()->second);
      byEnd.erase(byEnd.begin());
    }
    if (const ProvedBuffer *other = live.add(*buffer))
      return makeOverlapError(*buffer, *other,
                              ", which is live at the same time");
    byEnd.insert({buffer->live.last, buffer});
  }
  return llvm::Error::success();
}

//===- Several programs ---------------------------------------------------===//

using Placeholders = std::vector<const ProvedBuffer *>;

static Placeholders getPlaceholders(const ProvedProgram &program) {
  Placeholders result;
  for (const ProvedBuffer &buffer : program.proof->buffers)
    if (buffer.memory == MemoryKind::Mutables)
      result.push_back(&buffer);
  return result;
}

static bool isState(const Buffer &placeholder) {
  return placeholder.isInput() && placeholder.isOutput();
}

/// \p sharesAll: whether the programs have all placeholders in one place, and
/// not only states. \p title: of the program of \p second.
static llvm::Error checkPlaceholders(const Placeholders &first,
                                     const Placeholders &second, bool sharesAll,
                                     llvm::StringRef title) {
  for (const ProvedBuffer *own : second)
    for (const ProvedBuffer *other : first) {
      bool isSame =
          own->buffer->getModelName() == other->buffer->getModelName();
      bool meets =
          own->offset < other->getEnd() && other->offset < own->getEnd();
      bool isKept = isState(*own->buffer) || isState(*other->buffer);
      bool hasOnePlace = isSame && (sharesAll || isKept);
      if (hasOnePlace ? own->offset != other->offset
                      : !isSame && meets && isKept)
        return addContext(makeOverlapError(*own, *other, " in another program"),
                          "with " + title + ": ");
    }
  return llvm::Error::success();
}

static llvm::Error checkConstants(llvm::ArrayRef<ProvedProgram> programs) {
  DisjointPlaces constants;
  for (const ProvedProgram &program : programs)
    for (const ProvedBuffer &buffer : program.proof->buffers) {
      if (buffer.memory != MemoryKind::Constants)
        continue;
      const ProvedBuffer *other = constants.add(buffer);
      if (other && !isSameConstant(buffer, *other))
        return addContext(
            makeOverlapError(buffer, *other, " in another program"),
            "with " + program.title + ": ");
    }
  return llvm::Error::success();
}

llvm::Error glowish::proveAgreement(llvm::ArrayRef<ProvedProgram> programs) {
  for (const ProvedProgram &program : programs)
    if (program.plan->alignment != programs.front().plan->alignment)
      return makeError("internal: with {0}: the alignment is {1}, and {2} in "
                       "another program",
                       program.title, program.plan->alignment,
                       programs.front().plan->alignment);
  GLOWISH_RETURN_IF_ERROR(checkConstants(programs));
  std::vector<Placeholders> placeholders;
  for (const ProvedProgram &program : programs)
    placeholders.push_back(getPlaceholders(program));
  for (size_t i = 0; i < programs.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (programs[j].states == programs[i].states)
        GLOWISH_RETURN_IF_ERROR(checkPlaceholders(
            placeholders[j], placeholders[i],
            programs[j].placeholders == programs[i].placeholders,
            programs[i].title));
  return llvm::Error::success();
}

//===- The proof ----------------------------------------------------------===//

llvm::Expected<PlanProof> glowish::provePlan(const IRFunction &function,
                                             const MemoryPlan &plan,
                                             const ProofOptions &options) {
  GLOWISH_RETURN_IF_ERROR(checkMemories(function, plan));
  GLOWISH_ASSIGN_OR_RETURN(PlanProof proof,
                           recordAccesses(function, plan, options));
  GLOWISH_RETURN_IF_ERROR(checkPlaces(proof, plan));
  GLOWISH_RETURN_IF_ERROR(checkFixedPlaces(proof));
  GLOWISH_RETURN_IF_ERROR(checkLiveRanges(proof));
  GLOWISH_RETURN_IF_ERROR(checkBytes(function, plan, options));
  return proof;
}
