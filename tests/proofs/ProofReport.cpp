//===- ProofReport.cpp - What is proved, as a page ------------------------===//

#include "ProofReport.h"
#include "llvm/Support/FormatVariadic.h"
#include <array>

using namespace glowish;
using namespace glowish::proofs;

/// What is known of a rewrite at least, in the words of the page.
static std::string describe(const Evidence &evidence) {
  if (!evidence.reason.empty())
    return evidence.reason;
  if (evidence.applications.empty())
    return "no case";
  switch (evidence.applications.rbegin()->first) {
  case Verdict::Identical:
    return "identical polynomials";
  case Verdict::Proved:
    return "proved by Z3";
  case Verdict::Exhausted:
    return "all inputs interpreted";
  case Verdict::Undecided:
    return "interpreted";
  case Verdict::Refuted:
    return "REFUTED";
  }
  llvm_unreachable("not a verdict");
}

static unsigned count(const Evidence &evidence, Verdict verdict) {
  auto found = evidence.applications.find(verdict);
  return found == evidence.applications.end() ? 0 : found->second;
}

static bool isProved(const Evidence &evidence) {
  return !evidence.applications.empty() &&
         evidence.applications.rbegin()->first <= Verdict::Exhausted;
}

namespace {

struct Totals {
  unsigned rewrites = 0, proved = 0, interpreted = 0, without = 0;
  /// Of which nothing is to be proved, for a reason.
  unsigned excepted = 0;
};

} // namespace

/// Of rewrites, and of the passes that are no sets of rewrites, as all over the
/// IR.
static Totals addUp(const Proofs &proofs) {
  Totals totals;
  for (const auto &[name, evidence] : proofs.programs) {
    ++totals.rewrites;
    bool isDone = evidence.getNumPrograms() && evidence.refutation.empty();
    ++(isDone ? totals.proved : totals.without);
  }
  for (const ProvedPass &pass : proofs.graph)
    for (const auto &[rule, evidence] : pass.evidence) {
      if (rule.empty() && pass.evidence.size() > 1)
        continue;
      ++totals.rewrites;
      if (!evidence.reason.empty())
        ++totals.excepted;
      else if (isProved(evidence))
        ++totals.proved;
      else if (!evidence.applications.empty())
        ++totals.interpreted;
      else
        ++totals.without;
    }
  return totals;
}

static void printIntroduction(llvm::raw_ostream &os, const Totals &totals) {
  os << llvm::formatv(R"(# Proofs

`glowish-prove -doc=docs/proofs.md` has written this page, and the test `proofs` fails where it
is out of date.

The passes over the graph are sets of rewrites, each a function of `lib/Optimizer`. The cases in
`tests/proofs/rules` are small graphs with choices of kinds, shapes, attributes and constants,
those included for which a rewrite must not apply. `glowish-prove` runs the passes on all
combinations and, whenever a rewrite has changed something, compares the graphs before and
after it:

- **identical polynomials**: each output is a quotient of polynomials of the inputs over the
  real numbers, or a polynomial of integers that wrap, and the difference of the two sides is 0.
- **proved by Z3**: Z3 knows that there are no inputs for which the two sides differ, for
  conditions, maxima and functions of which rules are known.
- **all inputs interpreted**: element-wise functions of one byte, which the interpreter computes
  of all 256 on both sides.
- **interpreted**: none of these, but the interpreter computes the same on both sides.
- **identical terms**: of passes over the IR, [below](#passes-over-the-ir).

In every case the interpreter runs both sides on numbers of IEEE 754, too: of exact passes on
zeros of both signs, infinities, NaN, subnormal numbers, the ends of integers and all bytes; of
those that round otherwise on moderate numbers. Element-wise nodes are computed by the formulas
of their records, on terms of Z3 in place of numbers; nodes that move elements by what the
interpreter does to their numbers; sums, windows, normalizations and softmax as their records
say, in `tests/proofs`. exp(a + b) = exp(a) exp(b), log(exp(a)) = a, roots
and tanh by exp are known; of erf, rounding and the like that equal arguments have equal results.
A proof is of the cases' shapes, not of all; denominators are taken not to be 0, and what roots
are taken of to be positive. Cases have constants with which the arithmetic of the compiler is
exact, as 0.5, since numbers that it computes are rounded.

That wrong rewrites are found is tested: `glowish-prove -planted` runs twelve rewrites and five
passes over the IR with a side condition that is too weak, and each must be refuted by the
cases or programs of the right one.

Of {0} rewrites, and passes that are none, {1} are proved or all inputs interpreted, {2} are
interpreted, {3} change the result on purpose or do something else than rewriting, as said
below, and {4} have no case yet.

)",
                      totals.rewrites, totals.proved, totals.interpreted,
                      totals.excepted, totals.without);
}

static void printPrograms(llvm::raw_ostream &os,
                          const ProgramEvidences &evidences) {
  os << R"(
## Passes over the IR

They do not know what is computed: they move, join and remove instructions and memory. So the
elements of all outputs, states and inputs are terms before and after a pass: which operations,
with which attributes and element kinds, are applied to which elements. Nothing is known of the
operations but that some commute, and the terms must be the same. This holds for all inputs,
with infinities, NaN and roundings, of programs with the shapes that are tried: those of
`tests/lit/ir`, written to trip passes; random ones (`tests/common/RandomProgram.h`), with and
without leave to write over inputs; and what the cases above are lowered to, through the
pipeline. Counted are the programs that a pass has changed.

| Pass | Evidence | Written | Random | Of the cases above |
|---|---|---|---|---|
)";
  for (const auto &[name, evidence] : evidences)
    os << llvm::formatv("| `{0}` | {1} | {2} | {3} | {4} |\n", name,
                        !evidence.refutation.empty() ? "REFUTED"
                        : evidence.getNumPrograms()  ? "identical terms"
                                                     : "no program",
                        evidence.written, evidence.random, evidence.generated);
}

void proofs::printReport(llvm::raw_ostream &os, const Proofs &proofs) {
  printIntroduction(os, addUp(proofs));
  os << "| Pass | Rewrite | Evidence | Applications | Identical | Z3 | "
        "All inputs | Interpreted only |\n|---|---|---|---|---|---|---|---|\n";
  for (const ProvedPass &pass : proofs.graph)
    for (const auto &[rule, evidence] : pass.evidence)
      os << llvm::formatv(
          "| `{0}` | {1} | {2} | {3} | {4} | {5} | {6} | {7} |\n",
          pass.pass->name,
          rule.empty() ? std::string("the pass as a whole") : "`" + rule + "`",
          describe(evidence), evidence.getNumApplications(),
          count(evidence, Verdict::Identical), count(evidence, Verdict::Proved),
          count(evidence, Verdict::Exhausted),
          count(evidence, Verdict::Undecided));
  printPrograms(os, proofs.programs);
}

void proofs::printSummary(llvm::raw_ostream &os, const Proofs &proofs) {
  Totals totals = addUp(proofs);
  os << llvm::formatv("{0} rewrites: {1} proved, {2} interpreted, {3} with "
                      "reasons, {4} without cases\n",
                      totals.rewrites, totals.proved, totals.interpreted,
                      totals.excepted, totals.without);
}
