//===- Passes.h - Passes over the IR ----------------------------*- C++ -*-===//

#ifndef GLOWISH_IR_PASSES_H
#define GLOWISH_IR_PASSES_H

#include "glowish/IR/Instrs.h"
#include "glowish/Support/Pass.h"

namespace glowish {

/// Inputs of IR passes beside the program.
struct IRPassContext {
  /// The program of which the memory of an input is its own after the last
  /// instruction that reads it (PlanOptions::placesIOInArena); may be null. No
  /// body's is.
  const IRFunction *overwritesInputs = nullptr;
};

using IRPass = PassInfo<IRFunction, IRPassContext>;
using IRPassHooks = PassHooks<IRFunction>;

/// All IR passes, from Passes.def, sorted by name.
llvm::ArrayRef<IRPass> getIRPasses();

/// The target-independent pipeline, which runs before a back end's own passes.
const Pipeline &getIRPipeline();

#define IR_PASS(FUNCTION, NAME, EXACTNESS, DOC)                                \
  llvm::Expected<bool> FUNCTION(IRFunction &function,                          \
                                const IRPassContext &context);
#include "glowish/IR/Passes.def"

} // namespace glowish

#endif // GLOWISH_IR_PASSES_H
