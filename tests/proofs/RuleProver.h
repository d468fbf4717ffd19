//===- RuleProver.h - Proves what rewrites do -------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PROOFS_RULEPROVER_H
#define GLOWISH_TESTS_PROOFS_RULEPROVER_H

#include "Equality.h"
#include "RuleCases.h"
#include "glowish/Optimizer/Passes.h"
#include <map>

namespace glowish::proofs {

/// What is known of a rewrite, or of a pass as a whole.
struct Evidence {
  /// How often it was applied, by what came of it.
  std::map<Verdict, unsigned> applications;
  /// Of those, how often both sides were interpreted on numbers of IEEE 754,
  /// with zeros of both signs, infinities, NaN and subnormal ones, and differed
  /// by no more than the pass may.
  unsigned interpreted = 0;
  /// Why there is nothing to prove; empty where there is.
  std::string reason;
  /// The first that was refuted, and the first that is undecided.
  std::string refutation, doubt;

  unsigned getNumApplications() const;
};

/// Of a pass, by the names of its rewrites; "": of the pass as a whole.
using PassEvidence = std::map<std::string, Evidence>;

struct PassProof {
  PassEvidence evidence;
  /// What is said of the first case of a rewrite that does not apply in any of
  /// its combinations; empty where there is none.
  std::string idleCase;
};

/// Runs \p pass on each of \p cases, and compares the graphs before and after
/// each rewrite, and before and after a pass that is no set of them. \p path:
/// of the file with the cases.
llvm::Expected<PassProof> provePass(const GraphPass &pass,
                                    llvm::ArrayRef<RuleCase> cases,
                                    llvm::StringRef path);

/// The names of the rewrites of \p pass; none where it is no set of rewrites.
std::vector<std::string> listRewrites(const GraphPass &pass);

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_RULEPROVER_H
