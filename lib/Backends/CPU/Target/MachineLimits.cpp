//===- MachineLimits.cpp - Rates of caches and memory ---------------------===//

#include "Kernels/KernelBuilder.h"
#include "Target/ProbeProgram.h"
#include "glowish/Backends/CPU/PeakRate.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>
#include <latch>
#include <thread>
#ifdef __linux__
#include <sys/mman.h>
#endif

using namespace glowish;

//===- A program that reads -----------------------------------------------===//

/// Vectors that a step of the loop reads, and sums that they are added to: more
/// than a core adds at the same time.
static constexpr unsigned numLoads = 16, numSums = 8;

static uint64_t getStepBytes(unsigned lanes) {
  return uint64_t(numLoads) * lanes * sizeof(int32_t);
}

/// Fills \p entry (constants, mutables, activations): goes through mutables[0
/// ... constants[0] bytes) again and again, constants[1] steps in all, reads
/// vectors of \p lanes int32, and stores a sum of them to activations.
static void emitReads(llvm::Function &entry, unsigned lanes,
                      const TargetDescription &target) {
  KernelBuilder b(entry, target);
  auto loadCount = [&](int64_t i) {
    return b.loadIndex(ElemKind::Int64,
                       b.getElement(entry.getArg(0), ElemKind::Int64, i));
  };
  llvm::Value *bytes = loadCount(0), *steps = loadCount(1);
  Values start(numSums, b.literal(ElemKind::Int32, 0, lanes));
  start.push_back(b.index(0));
  // One loop for all passes: the end of a short one would be mispredicted.
  Values sums = b.forLoop(
      steps, start, [&](llvm::Value *, llvm::ArrayRef<llvm::Value *> carried) {
        Values next(carried);
        llvm::Value *offset = next.pop_back_val();
        llvm::Value *address =
            b.getElement(entry.getArg(1), ElemKind::Int8, offset);
        // Volatile, or all passes would be found to read the same.
        for (unsigned i = 0; i < numLoads; ++i) {
          llvm::Value *&sum = next[i % numSums];
          sum = b.CreateAdd(
              sum, b.CreateAlignedLoad(sum->getType(),
                                       b.getElement(address, ElemKind::Int32,
                                                    int64_t(i) * lanes),
                                       llvm::Align(4), /*isVolatile=*/true));
        }
        llvm::Value *end =
            b.CreateAdd(offset, b.index(int64_t(getStepBytes(lanes))));
        next.push_back(
            b.CreateSelect(b.CreateICmpULT(end, bytes), end, b.index(0)));
        return next;
      });
  for (unsigned i = 1; i < numSums; ++i)
    sums[0] = b.CreateAdd(sums[0], sums[i]);
  b.store(ElemKind::Int32, sums[0], entry.getArg(2));
  b.CreateRet(b.getInt32(0));
}

static llvm::Expected<std::unique_ptr<Executable>>
compileReads(CPUBackend &backend) {
  return compileProbe(backend, "reads", [&](llvm::Function &entry) {
    const TargetDescription &target = backend.getTarget();
    emitReads(entry, target.getLanes(sizeof(float)), target);
  });
}

//===- Measuring ----------------------------------------------------------===//

namespace {

/// Zeros, in large pages where the system has them: page tables are no part of
/// what a level can do.
class Block {
public:
  explicit Block(size_t size)
      : size(llvm::alignTo(size, pageSize)),
        bytes(
            static_cast<uint8_t *>(std::aligned_alloc(pageSize, this->size))) {
#ifdef __linux__
    madvise(bytes, this->size, MADV_HUGEPAGE);
#endif
    std::fill_n(bytes, this->size, 0);
  }
  ~Block() { std::free(bytes); }
  Block(const Block &) = delete;

  uint8_t *get() const { return bytes; }

private:
  static constexpr size_t pageSize = 2 << 20;
  size_t size;
  uint8_t *bytes;
};

} // namespace

namespace {

/// Threads that read at the same time, each its own memory.
class Readers {
public:
  static llvm::Expected<std::unique_ptr<Readers>> create(CPUBackend &backend,
                                                         uint64_t maxBytes);
  /// Bytes a second that all read together, each \p size bytes again and
  /// again; the best of about \p seconds.
  double measure(uint64_t size, double seconds) const;

private:
  Readers(std::unique_ptr<Executable> program, uint64_t stepBytes)
      : program(std::move(program)), stepBytes(stepBytes) {}
  double measureOnce(const uint64_t (&counts)[2]) const;

  std::unique_ptr<Executable> program;
  uint64_t stepBytes;
  std::vector<std::unique_ptr<Block>> blocks;
};

} // namespace

llvm::Expected<std::unique_ptr<Readers>> Readers::create(CPUBackend &backend,
                                                         uint64_t maxBytes) {
  const TargetDescription &target = backend.getTarget();
  GLOWISH_ASSIGN_OR_RETURN(auto program, compileReads(backend));
  std::unique_ptr<Readers> readers(new Readers(
      std::move(program), getStepBytes(target.getLanes(sizeof(int32_t)))));
  for (int64_t i = 0; i < target.numThreads; ++i)
    readers->blocks.push_back(std::make_unique<Block>(maxBytes));
  return readers;
}

/// \p counts: the bytes, and the steps.
double Readers::measureOnce(const uint64_t (&counts)[2]) const {
  using Clock = std::chrono::steady_clock;
  std::latch start(ptrdiff_t(blocks.size()));
  std::vector<double> times(blocks.size());
  auto read = [&](size_t i) {
    alignas(64) uint8_t sum[256];
    start.arrive_and_wait();
    Clock::time_point begin = Clock::now();
    llvm::cantFail(program->run(reinterpret_cast<const uint8_t *>(counts),
                                blocks[i]->get(), sum));
    times[i] = std::chrono::duration<double>(Clock::now() - begin).count();
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < blocks.size(); ++i)
    threads.emplace_back(read, i);
  read(0);
  for (std::thread &thread : threads)
    thread.join();
  return double(blocks.size()) * double(counts[1] * stepBytes) /
         *std::max_element(times.begin(), times.end());
}

double Readers::measure(uint64_t size, double seconds) const {
  using Clock = std::chrono::steady_clock;
  constexpr uint64_t bytesPerRun = 128 << 20;
  uint64_t bytes = std::max<uint64_t>(1, size / stepBytes) * stepBytes;
  const uint64_t counts[] = {bytes, std::max(bytes, bytesPerRun) / stepBytes};
  double best = 0;
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  do
    best = std::max(best, measureOnce(counts));
  while (Clock::now() < end);
  return best;
}

//===- Caches -------------------------------------------------------------===//

namespace {

/// The data caches of one level.
struct Cache {
  uint64_t bytes;   // of one of them
  uint64_t sharers; // processors that have one of them in common
};

} // namespace

/// The text of a file of the system without the line's end; empty if there is
/// no such file.
static std::string readLine(const llvm::Twine &path) {
  auto file = llvm::MemoryBuffer::getFileAsStream(path);
  return file ? (*file)->getBuffer().trim().str() : "";
}

/// The processors of a list such as 0-3,8.
static uint64_t countProcessors(llvm::StringRef list) {
  uint64_t count = 0;
  llvm::SmallVector<llvm::StringRef> parts;
  list.split(parts, ',');
  for (llvm::StringRef part : parts) {
    auto [first, last] = part.split('-');
    uint64_t low = 0, high = 0;
    if (first.getAsInteger(10, low))
      continue;
    if (last.getAsInteger(10, high))
      high = low;
    count += high - low + 1;
  }
  return std::max<uint64_t>(1, count);
}

/// What Linux says of processor 0; empty on other systems.
static llvm::SmallVector<Cache, 4> findCaches() {
  llvm::SmallVector<Cache, 4> caches;
  for (unsigned index = 0;; ++index) {
    std::string folder =
        llvm::formatv("/sys/devices/system/cpu/cpu0/cache/index{0}/", index);
    std::string type = readLine(folder + "type");
    if (type.empty())
      break;
    uint64_t kilobytes = 0;
    std::string size = readLine(folder + "size");
    if (type == "Instruction" ||
        llvm::StringRef(size).rtrim('K').getAsInteger(10, kilobytes))
      continue;
    caches.push_back(
        {.bytes = kilobytes << 10,
         .sharers = countProcessors(readLine(folder + "shared_cpu_list"))});
  }
  llvm::sort(caches,
             [](const Cache &a, const Cache &b) { return a.bytes < b.bytes; });
  return caches;
}

llvm::Expected<MachineLimits> glowish::measureMachineLimits(CPUBackend &backend,
                                                            double seconds) {
  const uint64_t numThreads = uint64_t(backend.getTarget().numThreads);
  const uint64_t processors = std::max(1u, std::thread::hardware_concurrency());
  MachineLimits limits;
  GLOWISH_ASSIGN_OR_RETURN(limits.peakRate, measurePeakRate(backend, seconds));
  limits.peakRate *= double(numThreads);
  llvm::SmallVector<Cache, 4> caches = findCaches();
  for (const Cache &cache : caches)
    limits.levels.push_back(
        {.bytes = cache.bytes *
                  std::min(numThreads,
                           std::max<uint64_t>(1, processors / cache.sharers))});
  // What is read from memory is more than any cache holds.
  const uint64_t least = 64 << 20, most = 512 << 20;
  uint64_t far = caches.empty() ? most : 8 * limits.levels.back().bytes;
  far = std::clamp(far, least, most) / numThreads;
  GLOWISH_ASSIGN_OR_RETURN(auto readers, Readers::create(backend, far));
  // Half of a cache, so that all of that stays there.
  for (MemoryLevel &level : limits.levels)
    level.readRate =
        readers->measure(std::min(far, level.bytes / 2 / numThreads), seconds);
  limits.levels.push_back({.readRate = readers->measure(far, seconds)});
  return limits;
}
