//===- CodeGeneration.h - From LLVM IR to machine code ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_CODEGENERATION_H
#define GLOWISH_LIB_BACKENDS_CPU_CODEGENERATION_H

#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace glowish {

/// Runs LLVM's passes on \p module. Both functions end early where this
/// thread's task is cancelled, and leave what is not to be used.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

/// Appends the code of \p module, which this changes, as \p kind of file to
/// \p code. An error if the task is cancelled.
llvm::Error emitCode(llvm::Module &module, llvm::TargetMachine &machine,
                     llvm::CodeGenFileType kind,
                     llvm::SmallVectorImpl<char> &code);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_CODEGENERATION_H
