//===- MutationListener.cpp - What each GoogleTest case reaches -----------===//
//
// Linked into test programs whose coverage is recorded: so the cases of a
// program run in one process.
//
//===----------------------------------------------------------------------===//

#include "gtest/gtest.h"
#include <dlfcn.h>
#include <string>
#include <sys/resource.h>

namespace {

class MutationListener : public testing::EmptyTestEventListener {
  using EndTest = void(const char *name, double seconds);

  static double getSeconds() {
    double seconds = 0;
    for (int owner : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage usage;
      getrusage(owner, &usage);
      for (timeval time : {usage.ru_utime, usage.ru_stime})
        seconds += time.tv_sec + time.tv_usec * 1e-6;
    }
    return seconds;
  }

  void OnTestStart(const testing::TestInfo &) override { begin = getSeconds(); }
  void OnTestEnd(const testing::TestInfo &test) override {
    // Of the library of mutants alone, by which the program's own is replaced.
    auto *endTest = reinterpret_cast<EndTest *>(
        dlsym(RTLD_DEFAULT, "glowish_mutation_end_test"));
    if (!endTest || test.result()->Failed() || test.result()->Skipped())
      return;
    std::string name = std::string(test.test_suite_name()) + "." + test.name();
    endTest(name.c_str(), getSeconds() - begin);
  }

  double begin = 0;
};

[[maybe_unused]] const bool isAdded = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new MutationListener);
  return true;
}();

} // namespace
