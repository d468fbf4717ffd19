//===- Passes.h - Passes over the IR ----------------------------*- C++ -*-===//

#ifndef GLOWISH_IR_PASSES_H
#define GLOWISH_IR_PASSES_H

#include "glowish/IR/Instrs.h"
#include "glowish/Support/Pass.h"
#include "llvm/ADT/Any.h"

namespace glowish {

/// Inputs of IR passes beside the program.
struct IRPassContext {
  /// The program of which the memory of an input is its own after the last
  /// instruction that reads it (PlanOptions::placesIOInArena); may be null. No
  /// body's is.
  const IRFunction *overwritesInputs = nullptr;
  /// The input of a back end's own passes, of a type of its own
  /// (Backend::getPassInput); empty in other pipelines.
  llvm::Any backend = {};
};

using IRPass = PassInfo<IRFunction, IRPassContext>;
using IRPassHooks = PassHooks<IRFunction>;

/// Returns all IR passes, sorted by name: those of Passes.def, and those that
/// back ends have registered so far. The list stays as it is when others are
/// registered.
llvm::ArrayRef<IRPass> getIRPasses();

/// Returns whether \p pass is of Passes.def; else it needs a back end's input
/// (IRPassContext::backend).
bool isCommonPass(const IRPass &pass);

/// Registers an IR pass of a back end, as a static object, or in a plug-in's
/// glowish_register_plugin(), while other threads may run passes. Its strings
/// live as long as the process. A pass of a name that is taken already is not
/// registered; names begin with that of the back end ("cpu-select-kernels").
class IRPassRegistration {
public:
  explicit IRPassRegistration(const IRPass &pass);
};

/// The target-independent pipeline, which runs before a back end's own passes.
const Pipeline &getIRPipeline();

#define IR_PASS(FUNCTION, NAME, EXACTNESS, DOC)                                \
  llvm::Expected<bool> FUNCTION(IRFunction &function,                          \
                                const IRPassContext &context);
#include "glowish/IR/Passes.def"

} // namespace glowish

#endif // GLOWISH_IR_PASSES_H
