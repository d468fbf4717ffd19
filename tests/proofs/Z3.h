//===- Z3.h - The theorem prover without exceptions -------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PROOFS_Z3_H
#define GLOWISH_TESTS_PROOFS_Z3_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

// A misuse of Z3 is a mistake of the prover.
#define Z3_THROW(ERROR) llvm::report_fatal_error(ERROR.msg())
#include <z3++.h>

namespace glowish::proofs {

/// The digits of a rational number, "-3/4"; empty of other terms.
inline llvm::StringRef getDigits(const z3::expr &term) {
  return term.is_numeral() ? Z3_get_numeral_string(term.ctx(), term) : "";
}

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_Z3_H
