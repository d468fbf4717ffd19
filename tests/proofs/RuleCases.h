//===- RuleCases.h - Graphs to which rewrites apply -------------*- C++ -*-===//
//
// tests/proofs/rules/PASS.cases has graphs in their text form, with choices:
//
//   === foldOperation<Mul>
//   placeholder %x : $kind(float|double)<2x3> input "x"
//   constant %a : $kind<3> = [$a(1.0|2.0), 0.5, 4.0]
//   ...
//
// `$NAME(A|B)` stands for A and for B, and `$NAME` for the same one again. All
// combinations that are valid graphs are cases of the rewrite that the line
// with `===` names. `===` alone: cases of the pass as a whole.
// A line `!NAME: REASON` says why there is nothing to prove of a rewrite.
// Inputs that are called "finite..." have no infinities and NaN.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_PROOFS_RULECASES_H
#define GLOWISH_TESTS_PROOFS_RULECASES_H

#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace glowish::proofs {

struct RuleCase {
  /// Empty: of no rewrite but of the pass.
  std::string rule;
  std::string text;
  /// Of the file.
  unsigned line = 0;
};

struct RuleCases {
  std::vector<RuleCase> cases;
  /// Why nothing is proved, by the names of rewrites.
  std::map<std::string, std::string> reasons;
};

/// The combinations of choices in \p text, the contents of \p path. An error
/// names the line.
llvm::Expected<RuleCases> readRuleCases(llvm::StringRef text,
                                        llvm::StringRef path);

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_RULECASES_H
