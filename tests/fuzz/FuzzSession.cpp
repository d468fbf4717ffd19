//===- FuzzSession.cpp - Many random graphs -------------------------------===//

#include "FuzzSession.h"
#include "Coverage.h"
#include "Generator.h"
#include "common/Workers.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace glowish;
using namespace glowish::fuzz;

/// Checks one graph: "same" or "wrong", the numbers of elements of its outputs
/// and of those that were compared, and its features.
static std::string checkSeed(uint64_t seed, const FuzzSession &session) {
  GraphSpec spec = makePlan(seed, session.maxNodes);
  Finding finding = check(spec.print(), pickConfigs(seed, session.options));
  return llvm::formatv("{0} {1} {2} {3}",
                       finding.verdict == Verdict::Same ? "same" : "wrong",
                       finding.elements.all, finding.elements.compared,
                       llvm::join(describeFeatures(spec), " "));
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
    bool isSame = false;
    if (found.passed) {
      llvm::SmallVector<llvm::StringRef> words(llvm::split(found.text, ' '));
      isSame = words[0] == "same";
      ElementCounts counts;
      words[1].getAsInteger(10, counts.all);
      words[2].getAsInteger(10, counts.compared);
      result.elements += counts;
      for (llvm::StringRef feature : llvm::drop_begin(words, 3))
        ++result.graphsWith[feature.str()];
    }
    if (isSame)
      return;
    // Told at once: a session may be ended before its end.
    llvm::errs() << "seed " << session.firstSeed + i << " is wrong\n";
    result.wrongSeeds.push_back(session.firstSeed + i);
  };
  GLOWISH_RETURN_IF_ERROR(runJobs(session.count, options, job, done));
  std::sort(result.wrongSeeds.begin(), result.wrongSeeds.end());
  return result;
}
