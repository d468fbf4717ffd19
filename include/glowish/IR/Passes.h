//===- Passes.h - Passes over the IR --------------------------*- C++ -*-===//

#ifndef GLOWISH_IR_PASSES_H
#define GLOWISH_IR_PASSES_H

#include "glowish/IR/Instrs.h"
#include "glowish/Support/Pass.h"

namespace glowish {

/// IR passes need to know nothing but the program.
struct IRPassContext {};

using IRPass = PassInfo<IRFunction, IRPassContext>;
using IRPassHooks = PassHooks<IRFunction>;

/// All IR passes, from Passes.def, sorted by name.
llvm::ArrayRef<IRPass> getIRPasses();

/// What every back end wants before its own work.
const Pipeline &getIRPipeline();

#define IR_PASS(FUNCTION, NAME, EXACTNESS, DOC)                          \
  llvm::Expected<bool> FUNCTION(IRFunction &function,                          \
                                const IRPassContext &context);
#include "glowish/IR/Passes.def"

} // namespace glowish

#endif // GLOWISH_IR_PASSES_H
