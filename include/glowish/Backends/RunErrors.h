//===- RunErrors.h - Errors of running programs -----------------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_RUNERRORS_H
#define GLOWISH_BACKENDS_RUNERRORS_H

#include "glowish/IR/IR.h"
#include "glowish/Support/Error.h"

namespace glowish {

/// The error of a run in which a loop would have gone on after maxTripCount
/// iterations.
inline llvm::Error makeTripCountError() {
  return makeError("a loop has more iterations than it was compiled for; state "
                   "a larger bound with -max-trip-count=N");
}

/// The error of a run in which the function of the external operator
/// \p operatorName, empty if that is not known, returned a number other than 0.
llvm::Error makeFunctionError(llvm::StringRef operatorName = "");

/// An error if \p function, or a body inside it, calls a function that no
/// plug-in of this process has: only bundles, whose application has it, can.
llvm::Error checkExternalFunctions(const IRFunction &function);

} // namespace glowish

#endif // GLOWISH_BACKENDS_RUNERRORS_H
