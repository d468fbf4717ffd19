//===- InstrEmitter.cpp - The code of one instruction ---------------------===//

#include "InstrEmitter.h"
#include "Kernels/KernelOperands.h"
#include "glowish/IR/FindInstr.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Escape.h"

using namespace glowish;

template <typename InstrT>
using Emitter = void (*)(KernelBuilder &b, const InstrT &instr,
                         const KernelOperands &operands);

using AnyEmitter = void (*)(KernelBuilder &b, const Instruction &instr,
                            const KernelOperands &operands);

/// Calls \p emitter for an instruction that is known to be of its kind.
template <typename InstrT, Emitter<InstrT> emitter>
static void emitAs(KernelBuilder &b, const Instruction &instr,
                   const KernelOperands &operands) {
  emitter(b, llvm::cast<InstrT>(instr), operands);
}

/// The emitters of all instructions with kernels, by kind.
static const llvm::DenseMap<unsigned, AnyEmitter> &getEmitters() {
  static const llvm::DenseMap<unsigned, AnyEmitter> emitters = [] {
    llvm::DenseMap<unsigned, AnyEmitter> map;
#define EMITTER(NAME, KIND)                                                    \
  map[unsigned(KIND)] = emitAs<NAME##Instr, emit##NAME>;
#define GET_EMITTER_LIST
#include "glowish/Backends/CPU/supports.inc"
    return map;
  }();
  return emitters;
}

/// Whether passes of the back end replace all instructions of \p kind.
static bool isReplaced(InstrKind kind) {
  switch (kind) {
#define REPLACED(NAME) case InstrKind::NAME:
#define GET_REPLACED_LIST
#include "glowish/Backends/CPU/supports.inc"
    return true;
  default:
    return false;
  }
}

llvm::Error glowish::checkReplaced(const IRFunction &function) {
  const Instruction *found = findInstr(function, [](const Instruction &instr) {
    return isReplaced(instr.getKind());
  });
  if (!found)
    return llvm::Error::success();
  return makeError("instruction {0} ({1}) has no kernel: the back end's passes "
                   "replace it before code is generated",
                   quote(found->getName()), found->getKindName());
}

int64_t glowish::emitInstruction(const Instruction &instr,
                                 llvm::Function &kernel,
                                 const TargetDescription &target,
                                 bool keepsRoundings) {
  KernelBuilder b(kernel, target);
  b.setKeepsRoundings(keepsRoundings);
  KernelOperands operands(instr, kernel);
  if (target.numThreads > 1) {
    unsigned next = operands.getNumArgs();
    b.setTasks(kernel.getArg(next), kernel.getArg(next + 1));
  }
  // Without results there is nothing to compute.
  if (instr.getOperand(0)->getType().getNumElements() != 0)
    getEmitters().at(unsigned(instr.getKind()))(b, instr, operands);
  b.CreateRetVoid();
  return b.getNumTasks();
}
