//===- Assembly.h - Parts of kernels in assembly ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_ASSEMBLY_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_ASSEMBLY_H

#include "Kernels/KernelBuilder.h"
#include "llvm/IR/InlineAsm.h"

namespace glowish {

/// Calls the assembly \p text with \p values, which makes a struct of
/// \p results. It reads memory and has no other effect, so that what is loaded
/// beside it may move in front of loops.
inline llvm::CallInst *emitAssembly(KernelBuilder &b, llvm::StringRef text,
                                    llvm::StringRef constraints,
                                    llvm::ArrayRef<llvm::Type *> results,
                                    llvm::ArrayRef<llvm::Value *> values) {
  llvm::SmallVector<llvm::Type *, 16> arguments;
  for (llvm::Value *value : values)
    arguments.push_back(value->getType());
  auto *type = llvm::FunctionType::get(
      llvm::StructType::get(b.getContext(), results), arguments,
      /*isVarArg=*/false);
  llvm::CallInst *call = b.CreateCall(
      llvm::InlineAsm::get(type, text, constraints, /*hasSideEffects=*/false),
      values);
  call->setOnlyReadsMemory();
  call->setDoesNotThrow();
  call->addFnAttr(llvm::Attribute::WillReturn);
  return call;
}

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_DUAL_ASSEMBLY_H
