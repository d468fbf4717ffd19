//===- WorkersTest.cpp - Many jobs in child processes ---------------------===//

#include "common/Workers.h"
#include "glowish/Support/Error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <csignal>
#include <map>
#include <unistd.h>

using namespace glowish;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

using Results = std::map<uint64_t, JobResult>;

/// Each job's result; that there is one only is checked.
Results runAll(uint64_t numJobs, const JobOptions &options,
               std::function<llvm::Expected<std::string>(uint64_t)> job) {
  Results results;
  llvm::Error error =
      runJobs(numJobs, options, job, [&](uint64_t i, JobResult result) {
        EXPECT_TRUE(results.emplace(i, std::move(result)).second) << i;
      });
  EXPECT_EQ(llvm::toString(std::move(error)), "");
  return results;
}

/// Every third job fails, every seventh crashes.
llvm::Expected<std::string> doJob(uint64_t i) {
  fprintf(stderr, "noise of %d", int(i));
  if (i % 7 == 5)
    std::raise(SIGSEGV);
  if (i % 3 == 1)
    return makeError("wrong {0}", i);
  return std::string(i * 1000, 'x') + "\n";
}

class Workers : public testing::TestWithParam<uint64_t> {};

} // namespace

TEST_P(Workers, TellWhatBecomesOfEachJob) {
  JobOptions options{/*numWorkers=*/3, /*seconds=*/60,
                     /*jobsPerProcess=*/GetParam()};
  Results results = runAll(33, options, doJob);
  ASSERT_EQ(results.size(), 33u);
  for (const auto &[i, result] : results) {
    bool crashes = i % 7 == 5, fails = i % 3 == 1;
    EXPECT_EQ(result.passed, !crashes && !fails) << i;
    if (crashes) {
      EXPECT_THAT(result.text, StartsWith("crashes ("));
      EXPECT_THAT(result.text, HasSubstr("noise of " + std::to_string(i)));
    } else {
      EXPECT_EQ(result.text, fails ? "wrong " + std::to_string(i)
                                   : std::string(i * 1000, 'x') + "\n");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(JobsPerProcess, Workers,
                         testing::Values(1, 2, 10, 33, 100));

TEST(Workers, EndAJobThatTakesTooLong) {
  JobOptions options{/*numWorkers=*/2, /*seconds=*/1, /*jobsPerProcess=*/3};
  Results results =
      runAll(3, options, [](uint64_t i) -> llvm::Expected<std::string> {
        while (i == 1)
          pause();
        return "done";
      });
  ASSERT_EQ(results.size(), 3u);
  EXPECT_TRUE(results[0].passed);
  EXPECT_FALSE(results[1].passed);
  EXPECT_THAT(results[1].text, StartsWith("takes longer than 1 s"));
  EXPECT_TRUE(results[2].passed);
}

TEST(Workers, TellOfAProcessThatExits) {
  Results results =
      runAll(2, {}, [](uint64_t i) -> llvm::Expected<std::string> {
        if (i == 0)
          _exit(3);
        return "";
      });
  EXPECT_THAT(results[0].text, StartsWith("exits (3)"));
  EXPECT_TRUE(results[1].passed);
}

TEST(Workers, HaveNothingToDo) { EXPECT_TRUE(runAll(0, {}, doJob).empty()); }
