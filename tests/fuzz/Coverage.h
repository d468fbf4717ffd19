//===- Coverage.h - Features of random graphs -------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_COVERAGE_H
#define GLOWISH_TESTS_FUZZ_COVERAGE_H

#include "GraphSpec.h"
#include <map>
#include <set>
#include <string>

namespace glowish::fuzz {

/// What \p spec has in it: "Softmax" (a node of the kind), "Softmax/large"
/// (of which a result has several elements), "kind:float16", "rank:0",
/// "zero-elements", "several-outputs", "state", "used-twice", "constant",
/// "bodies:2" (control flow inside control flow).
std::set<std::string> describeFeatures(const GraphSpec &spec);

/// Prints how many graphs had each feature, those of \p kinds first, which are
/// of nodes, and the kinds that none had.
void printCoverage(llvm::raw_ostream &os,
                   const std::map<std::string, uint64_t> &graphsWith,
                   llvm::ArrayRef<std::string> kinds);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_COVERAGE_H
