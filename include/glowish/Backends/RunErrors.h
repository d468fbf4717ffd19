//===- RunErrors.h - Errors of running programs -----------------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_RUNERRORS_H
#define GLOWISH_BACKENDS_RUNERRORS_H

#include "glowish/IR/Instrs.h"
#include "glowish/Support/Error.h"
#include <string>

namespace glowish {

/// Returns what messages call \p loop: the node of the model, with the line of
/// its source if that is known.
std::string describeOrigin(const LoopInstr &loop);

/// Returns the message of a run in which \p loop would have gone on after
/// maxTripCount iterations.
std::string describeFailure(const LoopInstr &loop);

/// Returns the message of a run in which the function that \p call calls
/// returned a number other than 0.
std::string describeFailure(const ExternalCallInstr &call);

/// An error if \p function, or a body inside it, calls a function that no
/// plug-in of this process has: only bundles, whose application has it, can.
llvm::Error checkExternalFunctions(const IRFunction &function);

} // namespace glowish

#endif // GLOWISH_BACKENDS_RUNERRORS_H
