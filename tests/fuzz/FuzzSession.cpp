//===- FuzzSession.cpp - Many random graphs -------------------------------===//

#include "FuzzSession.h"
#include "Check.h"
#include "Coverage.h"
#include "Generator.h"
#include "common/Workers.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace glowish;
using namespace glowish::fuzz;

/// Checks one graph: "same" or "wrong", and its features.
static std::string checkSeed(uint64_t seed, const FuzzSession &session) {
  GraphSpec spec = makePlan(seed, session.maxNodes);
  Finding finding = check(spec.print(), pickConfigs(seed, session.numCompiled,
                                                    session.checksPasses));
  return (finding.verdict == Verdict::Same ? "same " : "wrong ") +
         llvm::join(describeFeatures(spec), " ");
}

llvm::Expected<FuzzSessionResult>
fuzz::runFuzzSession(const FuzzSession &session) {
  FuzzSessionResult result;
  // What a process's memory holds after many graphs goes with it. A busy
  // machine takes its time.
  JobOptions options{session.numJobs, /*seconds=*/600,
                     /*jobsPerProcess=*/100};
  auto job = [&](uint64_t i) -> llvm::Expected<std::string> {
    limitMemory();
    return checkSeed(session.firstSeed + i, session);
  };
  auto done = [&](uint64_t i, JobResult found) {
    auto [verdict, features] = llvm::StringRef(found.text).split(' ');
    if (found.passed)
      for (llvm::StringRef feature : llvm::split(features, ' '))
        ++result.graphsWith[feature.str()];
    if (found.passed && verdict == "same")
      return;
    // Told at once: a session may be ended before its end.
    llvm::errs() << "seed " << session.firstSeed + i << " is wrong\n";
    result.wrongSeeds.push_back(session.firstSeed + i);
  };
  GLOWISH_RETURN_IF_ERROR(runJobs(session.count, options, job, done));
  std::sort(result.wrongSeeds.begin(), result.wrongSeeds.end());
  return result;
}
