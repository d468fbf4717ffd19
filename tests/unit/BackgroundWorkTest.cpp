//===- BackgroundWorkTest.cpp - Work that its caller can leave ------------===//

#include "glowish/Support/BackgroundWork.h"
#include "Messages.h"
#include "TestFolder.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Task.h"
#include "gtest/gtest.h"
#include <future>
#include <thread>

using namespace glowish;

namespace {

TEST(BackgroundWork, IsDoneHereWithoutATask) {
  std::thread::id worker;
  EXPECT_EQ(getMessage(runCancellable([&]() -> llvm::Error {
              worker = std::this_thread::get_id();
              EXPECT_TRUE(callInWaitingThread([] {}));
              return makeError("refused");
            })),
            "refused");
  EXPECT_EQ(worker, std::this_thread::get_id());
}

TEST(BackgroundWork, LetsTheWaitingThreadCall) {
  std::vector<std::pair<std::string, std::thread::id>> calls;
  auto record = [&](llvm::StringRef what) {
    calls.emplace_back(what.str(), std::this_thread::get_id());
  };
  Task task([&](llvm::StringRef step, double) { record(step); });
  TaskScope scope(&task);
  std::thread::id worker;
  EXPECT_EQ(getMessage(runCancellable([&] {
              worker = std::this_thread::get_id();
              reportProgress("first", 0.5);
              EXPECT_TRUE(callInWaitingThread([&] { record("second"); }));
              return llvm::Error::success();
            })),
            "");
  auto here = std::this_thread::get_id();
  EXPECT_NE(worker, here);
  EXPECT_EQ(calls, (decltype(calls){{"first", here}, {"second", here}}));
  EXPECT_EQ(getMessage(
                runCancellable([] { return makeError("refused {0}", "{1}"); })),
            "refused {1}");
}

class LeftWork : public TestFolder {};

/// It ends after the caller has returned, and then changes no files.
TEST_F(LeftWork, ChangesNoFiles) {
  std::promise<void> begun, returned;
  auto messages = std::make_shared<std::promise<std::vector<std::string>>>();
  auto work = [&, messages, path = in("file"), made = in("made")] {
    OutputFiles files;
    *files.add(path) << "text";
    begun.set_value();
    returned.get_future().wait();
    EXPECT_TRUE(isCancelled());
    EXPECT_FALSE(callInWaitingThread([] { FAIL(); }));
    reportProgress("later", 1);
    std::string committed = getMessage(files.commit());
    messages->set_value({committed, getMessage(createDirectories(made))});
    return makeError("not seen");
  };
  Task task;
  std::thread canceller([&] {
    begun.get_future().wait();
    task.cancel();
  });
  {
    TaskScope scope(&task);
    EXPECT_EQ(getMessage(runCancellable(work)), "cancelled");
  }
  canceller.join();
  returned.set_value();
  EXPECT_EQ(messages->get_future().get(),
            std::vector<std::string>(2, "cancelled"));
  EXPECT_EQ(list(), std::vector<std::string>());
}

/// What is asked for before the cancellation is done, and nothing after it.
TEST(BackgroundWork, IsCancelledInACall) {
  Task task;
  TaskScope scope(&task);
  auto work = [&] {
    EXPECT_TRUE(callInWaitingThread([&] { task.cancel(); }));
    EXPECT_FALSE(callInWaitingThread([] { FAIL(); }));
    return llvm::Error::success();
  };
  EXPECT_EQ(getMessage(runCancellable(work)), "cancelled");
  auto never = []() -> llvm::Error {
    ADD_FAILURE() << "begins although the task is cancelled";
    return llvm::Error::success();
  };
  EXPECT_EQ(getMessage(runCancellable(never)), "cancelled");
}

} // namespace
