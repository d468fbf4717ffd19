//===- ProgramProver.h - Proves what passes over the IR do ------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PROOFS_PROGRAMPROVER_H
#define GLOWISH_TESTS_PROOFS_PROGRAMPROVER_H

#include "RuleCases.h"
#include "glowish/IR/Passes.h"

namespace glowish::proofs {

/// What is known of a pass over the IR.
struct ProgramEvidence {
  /// The programs that the pass has changed and that compute the same: written
  /// ones, random ones, and those of the cases of the graph's rewrites.
  unsigned written = 0, random = 0, generated = 0;
  /// The first program that computes something else; empty where none does.
  std::string refutation;

  unsigned getNumPrograms() const { return written + random + generated; }
};

/// By the names of the passes.
using ProgramEvidences = std::map<std::string, ProgramEvidence>;

/// Runs each of \p passes on each program in the files "*.test" of \p folder:
/// what begins with `ir "` and ends before a line that begins with "//---".
/// Those that are malformed on purpose are left out.
llvm::Error proveWritten(llvm::ArrayRef<IRPass> passes, llvm::StringRef folder,
                         ProgramEvidences &evidences);

/// Runs each of \p passes on \p count random programs.
llvm::Error proveRandom(llvm::ArrayRef<IRPass> passes, unsigned count,
                        ProgramEvidences &evidences);

/// Lowers some of \p cases, and runs the pipeline of the IR on their programs.
llvm::Error proveGenerated(llvm::ArrayRef<RuleCase> cases,
                           ProgramEvidences &evidences);

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_PROGRAMPROVER_H
