//===- BackgroundWork.cpp - Work that its caller can leave ----------------===//

#include "glowish/Support/BackgroundWork.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Task.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

using namespace glowish;

namespace {

/// What the thread that works and the one that waits share.
class BackgroundWork {
public:
  /// By the thread that works.
  /// @{
  bool call(llvm::function_ref<void()> function);
  void end();
  Task &getTask() { return task; }
  /// @}

  /// By the thread that waits: makes the calls until the work ends, and returns
  /// true; or until this thread's task is cancelled.
  bool wait();
  /// Whether the thread that works is about to end.
  bool hasEnded();

private:
  /// Of the thread that works: the task of the other one may be gone.
  Task task{[this](llvm::StringRef step, double done) {
    call([&] { reportProgress(step, done); });
  }};
  std::mutex mutex;
  std::condition_variable condition;
  /// Guarded by the mutex.
  /// @{
  bool isAtEnd = false, isLeft = false;
  const llvm::function_ref<void()> *called = nullptr;
  /// @}
};

/// Threads that were left behind. The end of the process waits for them: they
/// use what it destroys.
class LeftThreads {
public:
  ~LeftThreads() {
    for (Left &left : threads)
      left.thread.join();
  }

  void add(std::thread thread, std::shared_ptr<BackgroundWork> work) {
    std::lock_guard lock(mutex);
    std::erase_if(threads, [](Left &left) {
      bool hasEnded = left.work->hasEnded();
      if (hasEnded)
        left.thread.join();
      return hasEnded;
    });
    threads.push_back({std::move(thread), std::move(work)});
  }

private:
  struct Left {
    std::thread thread;
    std::shared_ptr<BackgroundWork> work;
  };
  std::mutex mutex;
  std::vector<Left> threads;
};

} // namespace

bool BackgroundWork::call(llvm::function_ref<void()> function) {
  std::unique_lock lock(mutex);
  called = &function;
  condition.notify_all();
  condition.wait(lock, [&] { return !called || isLeft; });
  return !called;
}

void BackgroundWork::end() {
  std::lock_guard lock(mutex);
  isAtEnd = true;
  condition.notify_all();
}

bool BackgroundWork::hasEnded() {
  std::lock_guard lock(mutex);
  return isAtEnd;
}

bool BackgroundWork::wait() {
  // A handler of signals may cancel, which cannot notify.
  constexpr std::chrono::milliseconds interval(10);
  std::unique_lock lock(mutex);
  while (!isAtEnd && !isCancelled()) {
    condition.wait_for(lock, interval, [&] { return isAtEnd || called; });
    if (!called)
      continue;
    const llvm::function_ref<void()> &function = *called;
    lock.unlock();
    function();
    lock.lock();
    called = nullptr;
    condition.notify_all();
  }
  isLeft = !isAtEnd;
  if (isLeft) {
    task.cancel();
    condition.notify_all();
  }
  return isAtEnd;
}

/// What this thread does while another one waits.
static thread_local BackgroundWork *ownWork = nullptr;

/// Made when the first thread is left behind, and so destroyed before what the
/// thread had made.
static LeftThreads &getLeftThreads() {
  static LeftThreads threads;
  return threads;
}

llvm::Error glowish::runCancellable(llvm::unique_function<llvm::Error()> work) {
  if (!hasTask())
    return work();
  GLOWISH_RETURN_IF_ERROR(checkCancelled());
  auto shared = std::make_shared<BackgroundWork>();
  // An error of its own would have to be looked at by a thread that has left.
  auto message = std::make_shared<std::optional<std::string>>();
  std::thread thread([shared, message, work = std::move(work)]() mutable {
    ownWork = shared.get();
    {
      TaskScope scope(&shared->getTask());
      if (llvm::Error error = work())
        *message = llvm::toString(std::move(error));
    }
    // What it owns is freed before others are told that it has ended.
    work = nullptr;
    shared->end();
  });
  if (!shared->wait()) {
    getLeftThreads().add(std::move(thread), std::move(shared));
    return checkCancelled();
  }
  thread.join();
  return *message ? makeError("{0}", **message) : llvm::Error::success();
}

bool glowish::callInWaitingThread(llvm::function_ref<void()> function) {
  if (ownWork)
    return ownWork->call(function);
  function();
  return true;
}
