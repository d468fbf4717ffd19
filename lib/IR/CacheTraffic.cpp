//===- CacheTraffic.cpp - Where operands lie ------------------------------===//

#include "glowish/IR/CacheTraffic.h"

using namespace glowish;

namespace {

/// The unit of reuse distances: small beside a first cache, and large enough
/// that hundreds of megabytes of weights are few blocks.
constexpr uint64_t blockBytes = 512;

/// Blocks in the order in which they were used last.
class ReuseDistances {
public:
  /// For at most \p maxUses calls of use().
  ReuseDistances(size_t numBlocks, size_t maxUses)
      : lastUses(numBlocks), counts(maxUses + 1) {}

  /// How many blocks were used after \p block was; null if it never was.
  std::optional<size_t> get(size_t block) const {
    if (!lastUses[block])
      return std::nullopt;
    return numUsed - countUpTo(lastUses[block]);
  }

  void use(size_t block) {
    if (lastUses[block])
      add(lastUses[block], -1);
    else
      ++numUsed;
    lastUses[block] = ++now;
    add(now, 1);
  }

private:
  // A Fenwick tree over the times of use, of which those that are the last of a
  // block count one.
  void add(size_t time, int64_t count) {
    for (; time < counts.size(); time += time & -time)
      counts[time] += count;
  }
  size_t countUpTo(size_t time) const {
    int64_t sum = 0;
    for (; time > 0; time &= time - 1)
      sum += counts[time];
    return size_t(sum);
  }

  std::vector<size_t> lastUses; // 0: never
  std::vector<int64_t> counts;
  size_t now = 0;
  size_t numUsed = 0;
};

/// The blocks that an operand lies in, and the bytes that are moved of it.
struct OperandTraffic {
  size_t firstBlock, numBlocks;
  double bytes;
};

/// The regions of the plan one behind the other.
class AddressSpace {
public:
  explicit AddressSpace(const MemoryPlan &plan)
      : plan(plan), mutableStart(alignToBlock(plan.constantSize)),
        arenaStart(mutableStart + alignToBlock(plan.mutableSize)) {}

  size_t countBlocks() const {
    return (arenaStart + alignToBlock(plan.activationSize)) / blockBytes;
  }

  /// \p maxBytes: the most that is moved.
  OperandTraffic locate(const Buffer &buffer, double maxBytes) const;

private:
  static uint64_t alignToBlock(uint64_t size) {
    return (size + blockBytes - 1) / blockBytes * blockBytes;
  }
  uint64_t getStart(const Buffer &root) const {
    if (root.getKind() == Buffer::Kind::Constant)
      return plan.getOffset(&root);
    return (plan.isInArena(&root) ? arenaStart : mutableStart) +
           plan.getOffset(&root);
  }

  const MemoryPlan &plan;
  uint64_t mutableStart, arenaStart;
};

} // namespace

OperandTraffic AddressSpace::locate(const Buffer &buffer,
                                    double maxBytes) const {
  int64_t first = buffer.getOffset(), last = first, count = 1;
  for (unsigned d = 0; d < buffer.getType().getRank(); ++d) {
    int64_t extent = buffer.getShape()[d], stride = buffer.getStrides()[d];
    if (extent == 0)
      return {0, 0, 0};
    (stride < 0 ? first : last) += (extent - 1) * stride;
    if (stride != 0)
      count *= extent;
  }
  uint64_t size = getElemSize(buffer.getType().getKind());
  double bytes = std::min(double(count) * size, maxBytes);
  uint64_t start = getStart(*buffer.getRoot());
  uint64_t begin = start + uint64_t(first) * size;
  uint64_t end = start + uint64_t(last + 1) * size;
  // What is not moved is not used either.
  if (maxBytes < double(count) * size)
    end = std::min(end, begin + std::max<uint64_t>(1, uint64_t(maxBytes)));
  size_t firstBlock = begin / blockBytes;
  return {firstBlock, (end - 1) / blockBytes + 1 - firstBlock, bytes};
}

static double getBytes(const Buffer &buffer) {
  return double(buffer.getType().getNumElements()) *
         getElemSize(buffer.getType().getKind());
}

/// What \p instr accesses, in the order of its operands.
static std::vector<OperandTraffic> findAccesses(const Instruction &instr,
                                                const AddressSpace &space) {
  constexpr double all = std::numeric_limits<double>::infinity();
  auto *gather = llvm::dyn_cast<GatherInstr>(&instr);
  std::vector<OperandTraffic> accesses;
  for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
    const Buffer *buffer = instr.getOperand(i);
    if (!buffer)
      continue;
    bool isTable = gather && buffer == gather->getInput();
    OperandTraffic access =
        space.locate(*buffer, isTable ? getBytes(*gather->getResult()) : all);
    if (access.numBlocks == 0)
      continue;
    accesses.push_back(access);
    if (instr.getOperandInfo(i).role == OperandRole::InOut)
      accesses.push_back(access);
  }
  return accesses;
}

/// The first of \p caches, or memory, that holds what has \p distance.
static size_t findLevel(std::optional<size_t> distance,
                        llvm::ArrayRef<uint64_t> caches) {
  size_t level = 0;
  while (level < caches.size() &&
         (!distance || (*distance + 1) * blockBytes > caches[level]))
    ++level;
  return level;
}

/// Adds to \p bytes what one instruction moves.
static void addTraffic(llvm::ArrayRef<OperandTraffic> accesses,
                       const ReuseDistances &distances,
                       llvm::ArrayRef<uint64_t> caches, BytesByLevel &bytes) {
  llvm::DenseSet<size_t> used;
  for (const OperandTraffic &access : accesses)
    for (size_t i = 0; i < access.numBlocks; ++i) {
      size_t block = access.firstBlock + i;
      bool isFirst = used.insert(block).second;
      size_t level = isFirst ? findLevel(distances.get(block), caches) : 0;
      bytes[level] += access.bytes / double(access.numBlocks);
    }
}

std::vector<BytesByLevel>
glowish::countCacheTraffic(const IRFunction &function, const MemoryPlan &plan,
                           llvm::ArrayRef<uint64_t> caches) {
  AddressSpace space(plan);
  std::vector<std::vector<OperandTraffic>> program;
  size_t numUses = 0;
  for (const Instruction &instr : function.getInstrs())
    if (!instr.isLifetimeMarker()) {
      program.push_back(findAccesses(instr, space));
      for (const OperandTraffic &access : program.back())
        numUses += access.numBlocks;
    }
  std::vector<BytesByLevel> traffic(program.size(),
                                    BytesByLevel(caches.size() + 1));
  ReuseDistances distances(space.countBlocks(), 2 * numUses);
  for (bool isCounted : {false, true})
    for (size_t i = 0; i < program.size(); ++i) {
      if (isCounted)
        addTraffic(program[i], distances, caches, traffic[i]);
      for (const OperandTraffic &access : program[i])
        for (size_t block = 0; block < access.numBlocks; ++block)
          distances.use(access.firstBlock + block);
    }
  return traffic;
}
