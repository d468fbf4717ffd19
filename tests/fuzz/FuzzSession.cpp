//===- FuzzSession.cpp - Many random graphs -------------------------------===//

#include "FuzzSession.h"
#include "common/Workers.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace glowish;
using namespace glowish::fuzz;

/// Checks one graph: "same" or "wrong", the numbers of elements of its outputs
/// and of those that were compared, of its operators and of those that were
/// refused, and its features; then a line for each reason to leave programs
/// out, with how many have it.
static std::string checkSeed(uint64_t seed, const FuzzSession &session) {
  GeneratedCase made = session.generate(seed);
  Finding finding = check(*made.test, pickConfigs(seed, session.options));
  bool isSame = finding.verdict == Verdict::Same && made.complaint.empty();
  std::string text =
      llvm::formatv("{0} {1} {2} {3} {4} {5} {6}", isSame ? "same" : "wrong",
                    finding.elements.all, finding.elements.compared,
                    made.numOperators, made.numRefused,
                    finding.omissions.programs, llvm::join(made.features, " "));
  for (const auto &[reason, count] : finding.omissions.reasons)
    text += llvm::formatv("\n{0} {1}", count, reason);
  return text;
}

/// Adds what checkSeed says; returns whether nothing is wrong.
static bool addReport(FuzzSessionResult &result, llvm::StringRef text) {
  auto [head, reasons] = text.split('\n');
  llvm::SmallVector<llvm::StringRef> words(llvm::split(head, ' '));
  uint64_t counts[5];
  for (auto [i, count] : llvm::enumerate(counts))
    words[i + 1].getAsInteger(10, count);
  result.elements += {counts[0], counts[1]};
  result.numOperators += counts[2];
  result.numRefused += counts[3];
  result.omissions.programs += counts[4];
  for (llvm::StringRef feature : llvm::drop_begin(words, 6))
    if (!feature.empty())
      ++result.graphsWith[feature.str()];
  while (!reasons.empty()) {
    auto [line, rest] = reasons.split('\n');
    auto [number, reason] = line.split(' ');
    uint64_t count = 0;
    number.getAsInteger(10, count);
    result.omissions.reasons[reason.str()] += count;
    reasons = rest;
  }
  return words[0] == "same";
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
    if (found.passed && addReport(result, found.text))
      return;
    // Told at once: a session may be ended before its end.
    llvm::errs() << "seed " << session.firstSeed + i << " is wrong";
    if (!found.passed)
      llvm::errs() << ": " << llvm::StringRef(found.text).split('\n').first;
    llvm::errs() << "\n";
    result.wrongSeeds.push_back(session.firstSeed + i);
  };
  GLOWISH_RETURN_IF_ERROR(runJobs(session.count, options, job, done));
  std::sort(result.wrongSeeds.begin(), result.wrongSeeds.end());
  return result;
}
