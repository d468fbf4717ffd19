//===- Timeline.h - Instructions in order, and live ranges ------*- C++ -*-===//

#ifndef GLOWISH_LIB_REPORT_TIMELINE_H
#define GLOWISH_LIB_REPORT_TIMELINE_H

#include "glowish/IR/Instrs.h"
#include "glowish/IR/MemoryPlan.h"
#include <optional>

namespace glowish {

/// An instruction that is no lifetime mark.
struct TimelineStep {
  const Instruction *instr;
  /// The number of bodies around it.
  unsigned depth;
  /// The live bytes of the arena, each buffer rounded up to the plan's
  /// alignment.
  uint64_t liveBytes = 0;
};

/// The bytes of the arena that an activation, input or output takes, from step
/// `begin` to before `end`.
struct LiveRange {
  const Buffer *buffer;
  uint64_t offset, bytes;
  unsigned begin, end = 0;
  /// The steps that first write and last read it.
  std::optional<unsigned> writer, reader;
};

/// The steps of a program and the live ranges in its arena, both in order. The
/// steps of bodies follow the instruction that has them, each once: of both
/// branches, and of one iteration of a loop. The storage of a loop
/// (getLoopStorage) is live from the loop to the end of its body.
class Timeline {
public:
  /// \p function and \p plan outlive this.
  Timeline(const IRFunction &function, const MemoryPlan &plan);

  llvm::ArrayRef<TimelineStep> getSteps() const { return steps; }
  llvm::ArrayRef<LiveRange> getLiveRanges() const { return liveRanges; }
  /// The most bytes that are live at one step.
  uint64_t getPeak() const;
  /// The step of an instruction of the program.
  unsigned getNumber(const Instruction *instr) const {
    return numbers.lookup(instr);
  }

private:
  void visitProgram(const IRFunction &function);
  void visit(const IRFunction &body, unsigned depth);
  void visit(const Instruction &instr, unsigned depth);
  void visitCode(const Instruction &instr, unsigned depth);
  void begin(llvm::ArrayRef<const Buffer *> placeholders);
  void end(llvm::ArrayRef<const Buffer *> placeholders);
  void begin(const Buffer *buffer);
  void end(const Buffer *buffer);
  void recordAccesses(const Instruction &instr);
  void sumLiveBytes();

  const MemoryPlan &plan;
  std::vector<TimelineStep> steps;
  std::vector<LiveRange> liveRanges;
  llvm::DenseMap<const Instruction *, unsigned> numbers;
  llvm::DenseMap<const Buffer *, unsigned> rangeOf;
};

/// `3: CPUConvolution "conv1"`, as images and tables call a step.
std::string describeStep(unsigned number, const Instruction &instr);

} // namespace glowish

#endif // GLOWISH_LIB_REPORT_TIMELINE_H
