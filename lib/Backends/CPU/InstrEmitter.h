//===- InstrEmitter.h - The code of one instruction -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_INSTREMITTER_H
#define GLOWISH_LIB_BACKENDS_CPU_INSTREMITTER_H

#include "glowish/Backends/CPU/TargetDescription.h"
#include "glowish/IR/Instrs.h"
#include "llvm/IR/Function.h"

namespace glowish {

/// Returns an error that names the first instruction of \p function, or of a
/// body inside it, that the back end's passes had to replace.
llvm::Error checkReplaced(const IRFunction &function);

/// Fills \p kernel, a void function with one pointer a present operand, and the
/// first task and the end if \p target has threads, with the code of \p instr.
/// Returns the number of tasks. With \p keepsRoundings each step of a scalar
/// program is rounded by itself, so that its arithmetic, and integers that the
/// results are converted to, are the same on all targets; otherwise a * b + c
/// may become one instruction. Float sums depend on the vector width, and
/// functions such as exp on fused multiply-add, either way.
int64_t emitInstruction(const Instruction &instr, llvm::Function &kernel,
                        const TargetDescription &target, bool keepsRoundings);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_INSTREMITTER_H
