//===- ModuleEmitter.h - From IR instructions to LLVM IR ------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_MODULEEMITTER_H
#define GLOWISH_LIB_BACKENDS_CPU_MODULEEMITTER_H

#include "glowish/Backends/CPU/TargetDescription.h"
#include "glowish/IR/Instrs.h"
#include "glowish/IR/MemoryPlan.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

namespace glowish {

/// What the entry returns; the numbers of GLOWISH_SUCCESS... in a bundle's
/// header.
enum class EntryStatus : unsigned {
  Success = 0,
  Null = 1,
  Alignment = 2,
  Processor = 3
};

/// Makes an LLVM module of an IR function: an internal function a distinct
/// instruction (those with the same shapes and attributes share one) and the
/// entry that calls them in order.
class ModuleEmitter {
public:
  ModuleEmitter(llvm::Module &module, const TargetDescription &target)
      : module(module), target(target) {}

  void emit(const IRFunction &function, const MemoryPlan &plan,
            llvm::StringRef entryName);

private:
  /// The kernel of \p instr: void (ptr, ...), one pointer a present operand,
  /// to its element 0.
  llvm::Function *getKernel(const Instruction &instr);
  llvm::Function *createKernel(const Instruction &instr);
  llvm::Function *createEntry(llvm::StringRef name);
  void emitChecks(llvm::Function *entry, const MemoryPlan &plan);

  llvm::Module &module;
  const TargetDescription &target;
  /// Kernels by everything that their code depends on.
  llvm::StringMap<llvm::Function *> kernels;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_MODULEEMITTER_H
