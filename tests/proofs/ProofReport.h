//===- ProofReport.h - What is proved, as a page ----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PROOFS_PROOFREPORT_H
#define GLOWISH_TESTS_PROOFS_PROOFREPORT_H

#include "ProgramProver.h"
#include "RuleProver.h"

namespace glowish::proofs {

struct ProvedPass {
  const GraphPass *pass;
  PassEvidence evidence;
};

/// What is proved of the passes over the graph, and of those over the IR.
struct Proofs {
  std::vector<ProvedPass> graph;
  ProgramEvidences programs;
};

/// Prints docs/proofs.md.
void printReport(llvm::raw_ostream &os, const Proofs &proofs);
/// Prints a line.
void printSummary(llvm::raw_ostream &os, const Proofs &proofs);

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_PROOFREPORT_H
