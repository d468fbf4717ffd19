//===- LogTest.cpp - The log, and programs that use glog ------------------===//

#include "glowish/Support/Log.h"
#include "ChildProcess.h"
#include "Messages.h"
#include "TestFolder.h"
#include "glowish/Support/Timing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <atomic>
#include <fstream>
#include <glog/logging.h>
#include <thread>

using namespace glowish;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

namespace {

/// Logs a line of each level, and a warning.
void logAll() {
  GLOWISH_VLOG(1, "one {0}", 1);
  GLOWISH_VLOG(2, "two {0}", 2);
  GLOWISH_VLOG(3, "three {0}", 3);
  GLOWISH_WARN("of {0}", "a warning");
}

/// Ends the log after each test.
class LogTest : public TestFolder {
protected:
  void TearDown() override {
    setLog(nullptr);
    TestFolder::TearDown();
  }
  /// Lets the lines of \p levels go to `texts`.
  void keep(LogLevels levels = {}) {
    setLog(
        [this](const LogLine &line) {
          lines.push_back(line);
          texts.push_back(line.text.str());
        },
        std::move(levels));
  }
  std::vector<LogLine> lines;
  std::vector<std::string> texts;
};

//===- Levels -------------------------------------------------------------===//

TEST_F(LogTest, NothingIsEvaluatedThatIsNotLogged) {
  int evaluated = 0;
  GLOWISH_VLOG(1, "{0}", ++evaluated);
  GLOWISH_WARN("{0}", ++evaluated);
  EXPECT_EQ(evaluated, 0);
  keep();
  GLOWISH_VLOG(1, "{0}", ++evaluated);
  EXPECT_EQ(evaluated, 0);
  GLOWISH_WARN("{0}", ++evaluated);
  EXPECT_EQ(evaluated, 1);
  setLog(nullptr);
  GLOWISH_WARN("{0}", ++evaluated);
  EXPECT_EQ(evaluated, 1);
}

TEST_F(LogTest, UpToItsLevel) {
  keep();
  logAll();
  EXPECT_THAT(texts, ElementsAre("of a warning"));
  keep({.verbosity = 2});
  texts.clear();
  logAll();
  EXPECT_THAT(texts, ElementsAre("one 1", "two 2", "of a warning"));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[2].severity, LogSeverity::Info);
  EXPECT_EQ(lines[2].verbosity, 2);
  EXPECT_STREQ(lines[2].file, "LogTest.cpp");
  EXPECT_EQ(lines[2].number, lines[1].number + 1);
  EXPECT_EQ(lines[3].severity, LogSeverity::Warning);
  EXPECT_EQ(lines[3].verbosity, 0);
}

TEST_F(LogTest, ModulesHaveLevelsOfTheirOwn) {
  auto getTexts = [&](int verbosity, llvm::StringRef modules) {
    auto parsed = parseLogModules(modules);
    EXPECT_TRUE(bool(parsed));
    texts.clear();
    keep({.verbosity = verbosity, .modules = std::move(*parsed)});
    logAll();
    return texts;
  };
  EXPECT_THAT(getTexts(0, "LogTest=1"), ElementsAre("one 1", "of a warning"));
  EXPECT_THAT(getTexts(0, "Log*=1"), ElementsAre("one 1", "of a warning"));
  // A pattern that is no short string.
  EXPECT_THAT(getTexts(0, "Compilation*=2,PassHooks=2,[KLM][mno]g[STU]est*=1"),
              ElementsAre("one 1", "of a warning"));
  EXPECT_THAT(getTexts(3, "Log?est=0"), ElementsAre("of a warning"));
  EXPECT_THAT(getTexts(1, "Log=3,Test=3"),
              ElementsAre("one 1", "of a warning"));
  // The first that fits.
  EXPECT_THAT(getTexts(3, "L*=1,LogTest=3"),
              ElementsAre("one 1", "of a warning"));
}

TEST(Log, RefusesBadModules) {
  auto getMessage = [](llvm::StringRef text) {
    return llvm::toString(parseLogModules(text).takeError());
  };
  for (llvm::StringRef bad : {"", "Fuse", "Fuse=", "=1", "Fuse=4", "Fuse=-1",
                              "Fuse=x", "[a=1", "Fuse=1,", ",Fuse=1"})
    EXPECT_THAT(getMessage(bad), HasSubstr("accepted: MODULE=LEVEL,..."))
        << bad.str();
  EXPECT_THAT(getMessage("A=1,Fuse=4"), testing::StartsWith("'Fuse=4': "));
  EXPECT_EQ(getMessage("Fuse*=3, A = 0"), "");
}

TEST_F(LogTest, LinesHaveNoControlCharacters) {
  keep();
  GLOWISH_WARN("{0}", "a\x1b[31mb\nc");
  EXPECT_THAT(texts, ElementsAre("a\\x1B[31mb c"));
}

TEST_F(LogTest, TrialsAreLeftOut) {
  keep({.verbosity = 3});
  {
    LogPause pause, inner;
    logAll();
    // Of this thread alone.
    std::thread([] { GLOWISH_VLOG(1, "other"); }).join();
  }
  logAll();
  EXPECT_THAT(texts, ElementsAre("of a warning", "other", "one 1", "two 2",
                                 "three 3", "of a warning"));
}

TEST_F(LogTest, NamesTheProcess) {
  std::vector<std::string> processes;
  setLog([&](const LogLine &line) { processes.push_back(line.process.str()); });
  logAll();
  setLogProcess("rank 1");
  logAll();
  setLogProcess("");
  EXPECT_THAT(processes, ElementsAre("", "rank 1"));
}

TEST_F(LogTest, PhasesAreLogged) {
  keep({.verbosity = 1});
  PhaseTimer *timer = nullptr;
  {
    std::unique_ptr<PhaseTimer> own = makeTimerForLog(timer);
    ASSERT_EQ(timer, own.get());
    EXPECT_EQ(makeTimerForLog(timer), nullptr);
    timer->begin("import");
    timer->begin("import");
    timer->begin("plan");
  }
  EXPECT_THAT(texts, ElementsAre(MatchesRegex("phase import took [0-9.]+ ms"),
                                 MatchesRegex("phase plan took [0-9.]+ ms")));
  setLog(nullptr);
  timer = nullptr;
  EXPECT_EQ(makeTimerForLog(timer), nullptr);
  EXPECT_EQ(timer, nullptr);
}

//===- Threads ------------------------------------------------------------===//

TEST_F(LogTest, TheFunctionMayEndTheLog) {
  setLog([&](const LogLine &line) {
    texts.push_back(line.text.str());
    // One more line before the end, and none after it.
    if (texts.size() == 1)
      GLOWISH_WARN("inner");
    setLog(nullptr);
    GLOWISH_WARN("after the end");
    texts.push_back("ended");
  });
  logAll();
  logAll();
  EXPECT_THAT(texts, ElementsAre("of a warning", "inner", "ended", "ended"));
}

TEST_F(LogTest, NoCallAfterTheEnd) {
  std::atomic<bool> ends = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!ends)
        logAll();
    });
  std::atomic<size_t> numCalls = 0;
  for (int round = 0; round < 200; ++round) {
    auto isThere = std::make_unique<std::atomic<bool>>(true);
    std::atomic<unsigned> inside = 0;
    setLog(
        [&](const LogLine &) {
          EXPECT_EQ(inside++, 0u);
          EXPECT_TRUE(*isThere);
          ++numCalls;
          --inside;
        },
        {.verbosity = 3});
    while (numCalls == 0)
      std::this_thread::yield();
    setLog(nullptr);
    *isThere = false;
  }
  ends = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_GT(numCalls, 0u);
}

//===- glog ---------------------------------------------------------------===//

/// What docs/library.md has a program with glog do.
void logToGlog(const LogLine &line) {
  google::LogMessage(line.file, line.number,
                     line.severity == LogSeverity::Warning
                         ? google::GLOG_WARNING
                         : google::GLOG_INFO)
          .stream()
      << line.text.str();
}

/// What a program with glog of its own has set, which is not for us to change.
auto getGlogState() {
  return std::tuple(FLAGS_v, FLAGS_vmodule, FLAGS_logtostderr,
                    FLAGS_alsologtostderr, FLAGS_logtostdout, FLAGS_minloglevel,
                    FLAGS_stderrthreshold, FLAGS_log_prefix, FLAGS_log_dir,
                    google::IsGoogleLoggingInitialized());
}

/// Runs \p body as a program that has initialized glog to write files here.
ChildResult runHost(llvm::StringRef folder, llvm::function_ref<void()> body) {
  return runChild([&] {
    FLAGS_v = 3;
    FLAGS_log_dir = folder.str();
    FLAGS_stderrthreshold = google::GLOG_FATAL;
    google::InitGoogleLogging("host");
    auto state = getGlogState();
    body();
    google::FlushLogFiles(google::GLOG_INFO);
    return state == getGlogState() ? 0 : 1;
  });
}

std::string readInfo(llvm::StringRef folder) {
  std::ifstream file((folder + "/host.INFO").str());
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(LogTest, AProgramWithGlogGetsNothingUnasked) {
  ChildResult child = runHost(folder, [] {
    logAll();
    VLOG(3) << "its own";
    // Also while a function gets the log.
    setLog([](const LogLine &) {}, {.verbosity = 3});
    logAll();
  });
  EXPECT_EQ(child.exitCode, 0);
  EXPECT_EQ(child.text, "");
  EXPECT_THAT(readInfo(folder), HasSubstr("LogTest.cpp"));
  EXPECT_THAT(readInfo(folder), HasSubstr("its own"));
  EXPECT_THAT(readInfo(folder), Not(HasSubstr("one 1")));
  EXPECT_THAT(readInfo(folder), Not(HasSubstr("of a warning")));
}

TEST_F(LogTest, AProgramWithGlogMayHaveTheLogThere) {
  ChildResult child = runHost(folder, [] {
    setLog(logToGlog, {.verbosity = 2});
    logAll();
    VLOG(3) << "its own";
    setLog(nullptr);
    logAll();
  });
  EXPECT_EQ(child.exitCode, 0);
  EXPECT_EQ(child.text, "");
  std::string info = readInfo(folder);
  for (const char *text :
       {"LogTest.cpp:", "] one 1\n", "] two 2\n", "] its own\n"})
    EXPECT_THAT(info, HasSubstr(text));
  EXPECT_THAT(info, Not(HasSubstr("three 3")));
  // Once: the log has ended.
  EXPECT_EQ(info.find("of a warning"), info.rfind("of a warning"));
}

TEST_F(LogTest, AFunctionMayUseGlog) {
  // glog holds a lock while it hands a line to a sink of a program, where LOG
  // would wait for itself; the log does not.
  ChildResult child = runHost(folder, [] {
    setLog([](const LogLine &line) {
      LOG(WARNING) << "glowish: " << line.text.str();
    });
    logAll();
  });
  EXPECT_EQ(child.exitCode, 0);
  EXPECT_THAT(readInfo(folder), HasSubstr("glowish: of a warning"));
}

TEST_F(LogTest, ThresholdsOfGlogHoldForFunctionsNot) {
  keep({.verbosity = 1});
  int before = FLAGS_minloglevel;
  FLAGS_minloglevel = google::GLOG_FATAL;
  logAll();
  FLAGS_minloglevel = before;
  EXPECT_THAT(texts, ElementsAre("one 1", "of a warning"));
}

} // namespace
