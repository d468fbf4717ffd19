//===- GlogTest.cpp - The tools' log through glog -------------------------===//

#include "common/Glog.h"
#include "ChildProcess.h"
#include "TestFolder.h"
#include "glowish/Support/Progress.h"
#include "gmock/gmock.h"
#include <csignal>
#include <cstdlib>
#include <glog/logging.h>

using namespace glowish;

namespace {

class GlogTest : public TestFolder {};

/// The handlers of the signals that glog could install some for.
std::vector<void *> getHandlers() {
  std::vector<void *> handlers;
  for (int signal : {SIGSEGV, SIGILL, SIGFPE, SIGABRT, SIGBUS, SIGTERM}) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    handlers.push_back(reinterpret_cast<void *>(action.sa_sigaction));
  }
  return handlers;
}

TEST_F(GlogTest, WritesToStderrAlone) {
  ChildResult child = runChild([&] {
    // What the environment could say.
    FLAGS_log_dir = folder.str().str();
    FLAGS_logtostderr = false;
    FLAGS_logtostdout = true;
    FLAGS_minloglevel = google::GLOG_ERROR;
    std::vector<void *> before = getHandlers();
    startGlog("program", {.verbosity = 1});
    GLOWISH_VLOG(1, "one");
    GLOWISH_VLOG(2, "two");
    GLOWISH_WARN("of a warning");
    setLogProcess("rank 3");
    GLOWISH_VLOG(1, "of a rank");
    return before == getHandlers() ? 0 : 1;
  });
  EXPECT_EQ(child.exitCode, 0);
  const char *time = "20[0-9]{6} [0-9:]{8}\\.[0-9]{6} ";
  EXPECT_THAT(child.text,
              testing::ContainsRegex(
                  std::string("^I") + time + "GlogTest.cpp:[0-9]+] one\nW" +
                  time + "GlogTest.cpp:[0-9]+] of a warning\nI" + time +
                  "rank 3 GlogTest.cpp:[0-9]+] of a "
                  "rank\n$"));
  EXPECT_THAT(list(), testing::IsEmpty());
}

TEST_F(GlogTest, LinesTakeThePlaceOfProgress) {
  ChildResult child = runChild(
      [] {
        setenv("TERM", "xterm", 1);
        setenv("COLUMNS", "40", 1);
        FLAGS_log_prefix = false;
        startGlog("program", {.verbosity = 1});
        Progress progress;
        progress.show("lower");
        GLOWISH_VLOG(1, "one");
        GLOWISH_VLOG(1, "two");
        progress.show("plan");
        return 0;
      },
      ChildOutput::Terminal);
  EXPECT_EQ(child.text, "\r\x1b[Klower ...\r\x1b[Kone\ntwo\n\r\x1b[Kplan ...\r"
                        "\x1b[K");
}

} // namespace
