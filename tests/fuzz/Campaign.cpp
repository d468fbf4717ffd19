//===- Campaign.cpp - Many random graphs ----------------------------------===//

#include "Campaign.h"
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
static std::string checkSeed(uint64_t seed, const Campaign &campaign) {
  Plan plan = makePlan(seed, campaign.maxNodes);
  Finding finding = check(plan.print(), pickSettings(seed, campaign.numCompiled,
                                                     campaign.checksPasses));
  return (finding.verdict == Verdict::Same ? "same " : "wrong ") +
         llvm::join(describeFeatures(plan), " ");
}

llvm::Expected<CampaignResult> fuzz::runCampaign(const Campaign &campaign) {
  CampaignResult result;
  // What a process's memory holds after many graphs goes with it. A busy
  // machine takes its time.
  JobOptions options{campaign.numJobs, /*seconds=*/600,
                     /*jobsPerProcess=*/100};
  auto job = [&](uint64_t i) -> llvm::Expected<std::string> {
    limitMemory();
    return checkSeed(campaign.firstSeed + i, campaign);
  };
  auto done = [&](uint64_t i, JobResult found) {
    auto [verdict, features] = llvm::StringRef(found.text).split(' ');
    if (found.passed)
      for (llvm::StringRef feature : llvm::split(features, ' '))
        ++result.graphsWith[feature.str()];
    if (found.passed && verdict == "same")
      return;
    // Told at once: a campaign may be ended before its end.
    llvm::errs() << "seed " << campaign.firstSeed + i << " is wrong\n";
    result.wrongSeeds.push_back(campaign.firstSeed + i);
  };
  GLOWISH_CHECK(runJobs(campaign.count, options, job, done));
  std::sort(result.wrongSeeds.begin(), result.wrongSeeds.end());
  return result;
}
