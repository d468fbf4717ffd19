//===- TaskCheck.h - What the tasks of a kernel write -----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_TASKCHECK_H
#define GLOWISH_TESTS_UNIT_TASKCHECK_H

#include "glowish/Backends/InstrClock.h"
#include "glowish/IR/MemoryPlan.h"
#include <set>

namespace glowish {

/// Takes the place of glowish_parallel_for in one run of a program, and runs
/// each task of each kernel alone, from the memory that the kernel begins with.
/// It knows from the instruction, and not from the kernel, what may be written.
/// For all tasks of a kernel, these are faults:
/// - a byte that is written and is no result's;
/// - a byte that two tasks write;
/// - a byte of a result that no task writes, unless a run may leave it out;
/// - a byte that is not what a run of all tasks leaves there, as where a task
///   reads what another one writes.
/// A byte that is written is found by its change: each task runs with results
/// full of 0 and of 0xFF before. What is read and written in place is found
/// where it changes, for two values of each byte.
class TaskCheck {
public:
  /// The memory of a run of \p function, and the clock that counts its
  /// instructions. All outlive this.
  TaskCheck(const IRFunction &function, const MemoryPlan &plan,
            uint8_t *mutables, uint8_t *activations, const InstrClock &clock);
  ~TaskCheck();

  /// What the program calls.
  static void parallelFor(void (*task)(void *arguments, int64_t begin,
                                       int64_t end),
                          void *arguments, int64_t count);

  /// One line for each kernel with a fault.
  llvm::ArrayRef<std::string> getFaults() const { return faults; }
  /// The kinds of the instructions whose tasks were checked.
  const std::set<std::string> &getKinds() const { return kinds; }
  /// How many tasks these had.
  uint64_t getNumTasks() const { return numTasks; }

private:
  using Bytes = std::vector<uint8_t>;
  using RunTasks = llvm::function_ref<void(int64_t begin, int64_t end)>;

  const Instruction &getCurrent() const;
  using VisitChange = llvm::function_ref<void(uint64_t byte, uint8_t value)>;
  /// Calls \p visit with each byte that is not as in \p start, and makes it
  /// that.
  void takeChanges(const Bytes &start, VisitChange visit);
  Bytes read() const;
  void write(const Bytes &bytes);
  void markOperands(const Instruction &instr);
  void mark(const Buffer &operand, Bytes &marks) const;
  void check(const Instruction &instr, RunTasks run, int64_t count);
  /// "" if nothing is wrong.
  std::string findFault(const Bytes &start, RunTasks run, int64_t count);
  std::string describe(size_t byte) const;

  const IRFunction &function;
  const MemoryPlan &plan;
  uint8_t *mutables, *activations;
  const InstrClock &clock;
  /// Whether each byte of both memories is written, or read, by operands of the
  /// instruction; the mutable region first.
  Bytes isWritten, isRead;
  /// The task that wrote each byte; -1 if none has.
  std::vector<int64_t> owners;
  std::vector<std::string> faults;
  std::set<std::string> kinds;
  uint64_t numTasks = 0;
};

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_TASKCHECK_H
