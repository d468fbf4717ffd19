//===- TaskCheck.cpp - What the tasks of a kernel write -------------------===//

#include "TaskCheck.h"
#include "glowish/IR/StridedLayout.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace glowish;

/// Programs call a function without a context.
static TaskCheck *current = nullptr;

TaskCheck::TaskCheck(const IRFunction &function, const MemoryPlan &plan,
                     uint8_t *mutables, uint8_t *activations,
                     const InstrClock &clock)
    : function(function), plan(plan), mutables(mutables),
      activations(activations), clock(clock) {
  assert(!current && "one at a time");
  current = this;
}

TaskCheck::~TaskCheck() { current = nullptr; }

void TaskCheck::parallelFor(void (*task)(void *, int64_t, int64_t),
                            void *arguments, int64_t count) {
  current->check(
      current->getCurrent(),
      [&](int64_t begin, int64_t end) { task(arguments, begin, end); }, count);
}

const Instruction &TaskCheck::getCurrent() const {
  size_t number = clock.getMarks().size() - 1;
  for (const Instruction &instr : function.getInstrs())
    if (!instr.isLifetimeMarker() && number-- == 0)
      return instr;
  llvm_unreachable("a program of this function runs");
}

TaskCheck::Bytes TaskCheck::read() const {
  Bytes bytes(mutables, mutables + plan.mutableSize);
  bytes.insert(bytes.end(), activations, activations + plan.activationSize);
  return bytes;
}

void TaskCheck::write(const Bytes &bytes) {
  std::copy_n(bytes.begin(), plan.mutableSize, mutables);
  std::copy(bytes.begin() + plan.mutableSize, bytes.end(), activations);
}

void TaskCheck::mark(const Buffer &operand, Bytes &marks) const {
  const Buffer *root = operand.getRoot();
  if (root->getKind() == Buffer::Kind::Constant)
    return;
  uint64_t size = getElemSize(root->getType().getKind());
  uint64_t start =
      plan.getOffset(root) + (plan.isInArena(root) ? plan.mutableSize : 0);
  forEachRun(StridedLayout::of(operand), [&](int64_t first, int64_t elements) {
    std::fill_n(marks.begin() + start + first * size, elements * size, 1);
  });
}

void TaskCheck::markOperands(const Instruction &instr) {
  isWritten.assign(plan.mutableSize + plan.activationSize, 0);
  isRead = isWritten;
  for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
    if (!instr.getOperand(i))
      continue;
    if (instr.writes(i))
      mark(*instr.getOperand(i), isWritten);
    if (instr.reads(i))
      mark(*instr.getOperand(i), isRead);
  }
}

std::string TaskCheck::describe(size_t byte) const {
  bool isMutable = byte < plan.mutableSize;
  return llvm::formatv("byte {0} of the {1}",
                       isMutable ? byte : byte - plan.mutableSize,
                       isMutable ? "mutable region" : "arena");
}

void TaskCheck::takeChanges(const Bytes &start, VisitChange visit) {
  // Most of the memory is as it was.
  constexpr uint64_t block = 1024;
  uint64_t first = 0;
  for (auto [memory, size] : {std::pair(mutables, plan.mutableSize),
                              std::pair(activations, plan.activationSize)}) {
    for (uint64_t i = 0; i < size; i += block) {
      uint64_t length = std::min(block, size - i);
      const uint8_t *own = start.data() + first + i;
      if (std::memcmp(memory + i, own, length) == 0)
        continue;
      for (uint64_t k = 0; k < length; ++k)
        if (memory[i + k] != own[k])
          visit(first + i + k, memory[i + k]);
      std::copy_n(own, length, memory + i);
    }
    first += size;
  }
}

std::string TaskCheck::findFault(const Bytes &start, RunTasks run,
                                 int64_t count) {
  write(start);
  run(0, count);
  Bytes expected = read();
  write(start);
  std::string fault;
  for (int64_t task = 0; task < count && fault.empty(); ++task) {
    run(task, task + 1);
    takeChanges(start, [&](uint64_t byte, uint8_t value) {
      if (!fault.empty())
        return;
      if (!isWritten[byte])
        fault = llvm::formatv("task {0} writes {1}, which is no result", task,
                              describe(byte));
      else if (owners[byte] >= 0 && owners[byte] != task)
        fault = llvm::formatv("tasks {0} and {1} write {2}", owners[byte], task,
                              describe(byte));
      else if (value != expected[byte])
        fault = llvm::formatv("task {0} alone leaves another value in {1}",
                              task, describe(byte));
      owners[byte] = task;
    });
  }
  return fault;
}

void TaskCheck::check(const Instruction &instr, RunTasks run, int64_t count) {
  // What a body accesses are no operands of the instruction that has it.
  if (instr.getInfo().hasBodies())
    return run(0, count);
  kinds.insert(instr.getKindName().str());
  numTasks += count;
  markOperands(instr);
  Bytes before = read();
  owners.assign(before.size(), -1);
  struct Start {
    uint8_t fill, changeInPlace;
  };
  std::string fault;
  for (Start start : {Start{0, 0}, Start{0xFF, 0}, Start{0, 0xA5}}) {
    Bytes memory = before;
    for (size_t i = 0; i < memory.size(); ++i)
      if (isWritten[i])
        memory[i] = isRead[i] ? memory[i] ^ start.changeInPlace : start.fill;
    if (fault.empty())
      fault = findFault(memory, run, count);
  }
  bool isWhole = instr.getLoopBounds().empty();
  for (size_t i = 0; i < owners.size() && fault.empty() && isWhole; ++i)
    if (isWritten[i] && !isRead[i] && owners[i] < 0)
      fault = "no task writes " + describe(i);
  if (!fault.empty())
    faults.push_back(llvm::formatv("{0} '{1}', {2} tasks: {3}",
                                   instr.getKindName(), instr.getName(), count,
                                   fault));
  write(before);
  run(0, count);
}
