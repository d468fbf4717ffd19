//===- Z3.h - The theorem prover without exceptions -------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PROOFS_Z3_H
#define GLOWISH_TESTS_PROOFS_Z3_H

#include "llvm/Support/ErrorHandling.h"

// A misuse of Z3 is a mistake of the prover.
#define Z3_THROW(ERROR) llvm::report_fatal_error(ERROR.msg())
#include <z3++.h>

#endif // GLOWISH_TESTS_PROOFS_Z3_H
