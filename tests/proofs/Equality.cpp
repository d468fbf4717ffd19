//===- Equality.cpp - Whether two graphs compute the same -----------------===//

#include "Equality.h"
#include "SymbolicGraph.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;
using namespace glowish::proofs;

/// What Z3 may spend on one element, in its own units, which are the same on
/// all machines: about a second.
static constexpr unsigned maxResources = 3000000;

/// A solver that has the facts.
static z3::solver makeSolver(Proof &proof) {
  z3::solver solver(proof.context);
  z3::params params(proof.context);
  params.set("rlimit", maxResources);
  solver.set(params);
  for (const z3::expr &fact : proof.facts)
    solver.add(fact);
  return solver;
}

/// Whether there are inputs for which \p claim is false, given the facts.
static Comparison decide(Proof &proof, const z3::expr &claim,
                         llvm::StringRef what) {
  z3::solver solver = makeSolver(proof);
  solver.add(!claim);
  switch (solver.check()) {
  case z3::unsat:
    return {Verdict::Proved, ""};
  case z3::unknown:
    return {Verdict::Undecided,
            llvm::formatv("{0}: Z3 says {1}", what, solver.reason_unknown())};
  case z3::sat:
    break;
  }
  std::string model = solver.get_model().to_string();
  std::replace(model.begin(), model.end(), '\n', ' ');
  return {proof.hasUnknownFunctions ? Verdict::Undecided : Verdict::Refuted,
          llvm::formatv("{0} differs for {1}", what, model)};
}

static Comparison compareElements(Proof &proof, const Scalar &before,
                                  const Scalar &after, llvm::StringRef what) {
  if (auto *x = std::get_if<Truth>(&before)) {
    z3::expr claim = proof.simplify(x->term == std::get<Truth>(after).term);
    return claim.is_true() ? Comparison() : decide(proof, claim, what);
  }
  const Number &x = std::get<Number>(before), &y = std::get<Number>(after);
  if (x.infinity || y.infinity)
    return {x.infinity == y.infinity ? Verdict::Identical : Verdict::Refuted,
            (what + ": an infinity").str()};
  z3::expr left = x.numerator * y.denominator;
  z3::expr right = y.numerator * x.denominator;
  if (getDigits(proof.simplify(left - right)) == "0")
    return {};
  if (x.mayWrap() || y.mayWrap())
    return {Verdict::Undecided,
            (what + ": integers that may wrap, and are different polynomials")
                .str()};
  return decide(proof, left == right, what);
}

Comparison proofs::compareGraphs(const Module &before, const Module &after) {
  Proof proof;
  auto expected = evaluate(proof, *before.getFunctions().front());
  auto actual = evaluate(proof, *after.getFunctions().front());
  if (!proof.obstacle.empty())
    return {Verdict::Undecided, proof.obstacle};
  Comparison worst;
  for (const auto &[name, tensor] : expected) {
    const SymbolicTensor &other = actual[name];
    if (other.type != tensor.type)
      return {Verdict::Refuted, llvm::formatv("'{0}' is {1}, and was {2}", name,
                                              other.type, tensor.type)};
    for (auto [i, elements] :
         llvm::enumerate(llvm::zip_equal(tensor.elements, other.elements))) {
      auto [x, y] = elements;
      std::string what = llvm::formatv("{0}[{1}]", name, i);
      Comparison comparison = compareElements(proof, x, y, what);
      if (comparison.verdict > worst.verdict)
        worst = std::move(comparison);
      if (worst.verdict >= Verdict::Undecided)
        return worst;
    }
  }
  if (!proof.obstacle.empty())
    return {Verdict::Undecided, proof.obstacle};
  // Everything follows from facts that contradict each other.
  if (worst.verdict == Verdict::Proved &&
      makeSolver(proof).check() == z3::unsat)
    return {Verdict::Undecided, "there are no inputs"};
  return worst;
}
