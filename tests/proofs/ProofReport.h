//===- ProofReport.h - What is proved, as a page ----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PROOFS_PROOFREPORT_H
#define GLOWISH_TESTS_PROOFS_PROOFREPORT_H

#include "RuleProver.h"

namespace glowish::proofs {

struct ProvedPass {
  const GraphPass *pass;
  PassEvidence evidence;
};

/// Prints docs/proofs.md.
void printReport(llvm::raw_ostream &os, llvm::ArrayRef<ProvedPass> passes);
/// Prints a line.
void printSummary(llvm::raw_ostream &os, llvm::ArrayRef<ProvedPass> passes);

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_PROOFREPORT_H
