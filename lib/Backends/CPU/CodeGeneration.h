//===- CodeGeneration.h - From LLVM IR to machine code ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_CODEGENERATION_H
#define GLOWISH_LIB_BACKENDS_CPU_CODEGENERATION_H

#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace glowish {

/// Names what this thread makes code for, as long as it is there, in messages
/// of LLVM's fatal errors.
class CodeScope {
public:
  explicit CodeScope(llvm::StringRef target);
  CodeScope(const CodeScope &) = delete;
  ~CodeScope();
};

/// Runs LLVM's passes on \p module. Both functions end early where this
/// thread's task is cancelled, and leave what is not to be used. The error
/// names the target and the function that LLVM cannot make code of.
llvm::Error optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

/// Appends the code of \p module, which this changes, as \p kind of file to
/// \p code. An error if the task is cancelled, or as of optimizeModule().
llvm::Error emitCode(llvm::Module &module, llvm::TargetMachine &machine,
                     llvm::CodeGenFileType kind,
                     llvm::SmallVectorImpl<char> &code);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_CODEGENERATION_H
