//===- Checks.h - The parts of the proof of a memory plan -------*- C++ -*-===//

#ifndef GLOWISH_LIB_IR_PLANPROOF_CHECKS_H
#define GLOWISH_LIB_IR_PLANPROOF_CHECKS_H

#include "glowish/IR/PlanProof.h"

namespace glowish {

/// Calls \p visit with the parameters and results of the body of \p loop that
/// the loop stores itself: number and condition; the next condition and the
/// next states.
void forEachStored(const LoopInstr &loop,
                   llvm::function_ref<void(const Buffer &)> visit);

/// The outputs of \p function that no instruction accesses.
std::vector<const Buffer *> getUntouchedOutputs(const IRFunction &function);

/// Follows the order of \p function: all buffers with their accesses and live
/// ranges, without their places. An error is one of the program.
llvm::Expected<PlanProof> recordAccesses(const IRFunction &function,
                                         const MemoryPlan &plan,
                                         const ProofOptions &options);

/// Whether the memories of \p plan are what they are to be.
llvm::Error checkMemories(const IRFunction &function, const MemoryPlan &plan);

/// Sets the places of all buffers of \p proof and checks each by itself.
llvm::Error checkPlaces(PlanProof &proof, const MemoryPlan &plan);

/// Checks those of constants and placeholders, which are there all the time,
/// against each other.
llvm::Error checkFixedPlaces(const PlanProof &proof);

/// Checks what is in the arena at the same time against each other.
llvm::Error checkLiveRanges(const PlanProof &proof);

/// Replays all reads and writes of \p function on a shadow of its memory, byte
/// by byte, and ignores the marks of lifetimes. The error names the first
/// operand that reads bytes which were never written, or were overwritten by
/// another buffer.
llvm::Error checkBytes(const IRFunction &function, const MemoryPlan &plan,
                       const ProofOptions &options);

} // namespace glowish

#endif // GLOWISH_LIB_IR_PLANPROOF_CHECKS_H
