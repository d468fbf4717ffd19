//===- PlanProof.h - What is proved of a memory plan ------------*- C++ -*-===//
//
// A proof follows from the instructions of a program alone. It calls no code
// that plans (tests/layering.sh), so that an error of a planner is none of its
// own.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_IR_PLANPROOF_H
#define GLOWISH_IR_PLANPROOF_H

#include "glowish/IR/MemoryPlan.h"

namespace glowish {

/// The memories that offsets of a plan count in.
enum class MemoryKind : uint8_t { Constants, Mutables, Arena };

/// Positions in the order of a program, both ends included. Each instruction
/// but lifetime marks has a position, from 1 on. The bodies of an instruction
/// follow it, and it ends at a position of its own behind them. At position 0
/// the application writes the inputs, at the last one it reads the outputs.
struct PositionRange {
  unsigned first = 0, last = 0;

  bool contains(const PositionRange &other) const {
    return first <= other.first && other.last <= last;
  }
  bool operator==(const PositionRange &) const = default;
};

/// What one instruction, or the application, does to a buffer and its views.
struct ProvedAccess {
  PositionRange range;
  bool reads = false, writes = false;
};

/// A buffer that has a place in the plan.
struct ProvedBuffer {
  const Buffer *buffer = nullptr;
  /// Of a buffer in a body behind the position of the instruction and the name
  /// of the body: "7:body/sum".
  std::string name;
  MemoryKind memory = MemoryKind::Constants;
  uint64_t offset = 0, bytes = 0;
  /// In the arena: when nothing else may use the bytes. Of an activation from
  /// its Alloc to its Dealloc, of a placeholder from its first to its last
  /// access, of what a loop stores itself as long as the loop.
  PositionRange live = {};
  /// In the order of the program; none of constants.
  std::vector<ProvedAccess> accesses = {};

  uint64_t getEnd() const { return offset + bytes; }
};

/// The facts that a proof is about.
struct PlanProof {
  /// Of the function in the order of creation, each body's behind those of the
  /// function that it is in.
  std::vector<ProvedBuffer> buffers;
  /// Without lifetime marks, with those of bodies.
  unsigned numInstrs = 0;
  /// The operands of these.
  uint64_t numAccesses = 0;
  /// The last position.
  unsigned end = 0;
};

/// What is known of a program besides its instructions.
struct ProofOptions {
  /// Outputs that no instruction accesses keep what another program has left
  /// there: as in the part of a training step that only updates variables.
  bool keepsOutputs = false;
  /// The most runs of a view that bytes are followed in. One with more counts
  /// as written from its first byte to its last, and its first ones are checked
  /// when it is read.
  int64_t maxRuns = int64_t(1) << 20;
};

/// Proves that \p plan is right for \p function, which verify() accepts:
/// - each buffer has a place, at a multiple of the alignment, inside of its
///   memory and of one region of the arena;
/// - each operand lies inside of its root, and each activation is accessed
///   between its one Alloc and its one Dealloc only;
/// - of the constants, of the placeholders, and of what is live in the arena
///   at the same time, no two have a byte in common;
/// - each byte that is read was written before, by the buffer that reads it,
///   and by nothing else since, whatever the marks of lifetimes say. Inputs are
///   written before the first instruction, outputs read after the last, and
///   nothing reads what is left in a scratch operand. Loops are replayed with
///   two iterations and with none;
/// - nothing accesses a buffer while processes average it.
/// The error names the buffer, and the instruction that finds it wrong. The
/// time is proportional to the instructions and to the runs of strided views.
llvm::Expected<PlanProof> provePlan(const IRFunction &function,
                                    const MemoryPlan &plan,
                                    const ProofOptions &options = {});

/// One of several programs that run with the same regions.
struct ProvedProgram {
  /// The values that it is for; in errors.
  std::string title;
  const PlanProof *proof = nullptr;
  const MemoryPlan *plan = nullptr;
  /// Programs with the same number find all placeholders in the same places.
  unsigned placeholders = 0;
  /// Programs with the same number find what is input and output at once there,
  /// and keep it.
  unsigned states = 0;
};

/// Proves that \p programs agree: constants of all of them have bytes in common
/// only where they are equal; placeholders of one name, or states, have one
/// place where programs share them; and no program has another placeholder
/// where one keeps a state.
llvm::Error proveAgreement(llvm::ArrayRef<ProvedProgram> programs);

} // namespace glowish

#endif // GLOWISH_IR_PLANPROOF_H
