//===- Campaign.cpp - Many random graphs ----------------------------------===//

#include "Campaign.h"
#include "Check.h"
#include "Generator.h"
#include "common/Workers.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <set>

using namespace glowish;
using namespace glowish::fuzz;

/// Checks one graph: "same" or "wrong", and the kinds of its nodes.
static std::string checkSeed(uint64_t seed, unsigned maxNodes) {
  Plan plan = makePlan(seed, maxNodes);
  bool isSame =
      check(plan.print(), pickSettings(seed)).verdict == Verdict::Same;
  std::set<std::string> kinds;
  for (const Entry &entry : plan.entries)
    if (!entry.isStorage())
      kinds.insert(getNodeInfo(entry.kind).name.str());
  return (isSame ? "same " : "wrong ") + llvm::join(kinds, " ");
}

llvm::Expected<CampaignResult> fuzz::runCampaign(const Campaign &campaign) {
  CampaignResult result;
  // What a process's memory holds after many graphs goes with it.
  JobOptions options{campaign.numJobs, /*seconds=*/60, /*jobsPerProcess=*/100};
  auto job = [&](uint64_t i) -> llvm::Expected<std::string> {
    return checkSeed(campaign.firstSeed + i, campaign.maxNodes);
  };
  auto done = [&](uint64_t i, JobResult found) {
    auto [verdict, kinds] = llvm::StringRef(found.text).split(' ');
    if (found.passed)
      for (llvm::StringRef kind : llvm::split(kinds, ' '))
        ++result.graphsOfKind[kind.str()];
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
