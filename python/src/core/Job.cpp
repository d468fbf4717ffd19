//===- Job.cpp - Compilations in a thread of their own --------------------===//

#include "core/Job.h"
#include "core/Failure.h"
#include "glowish/Support/Task.h"
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

using namespace glowish;
using namespace glowish::python;

struct Job::Parts {
  std::mutex mutex;
  std::condition_variable condition;
  bool hasEnded = false;
  Progress progress;
  std::exception_ptr failure;
  Task task{[this](llvm::StringRef step, double done) {
    std::lock_guard lock(mutex);
    progress = {step.str(), done};
  }};
  std::thread thread;
};

Job::Job(std::function<void()> work) : parts(std::make_unique<Parts>()) {
  parts->thread = std::thread([own = parts.get(), work = std::move(work)] {
    std::exception_ptr failure;
    try {
      TaskScope scope(&own->task);
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    std::lock_guard lock(own->mutex);
    own->failure = failure;
    own->hasEnded = true;
    own->condition.notify_all();
  });
}

Job::~Job() {
  parts->task.cancel();
  parts->thread.join();
}

bool Job::wait(std::chrono::milliseconds time) {
  std::unique_lock lock(parts->mutex);
  return parts->condition.wait_for(lock, time, [&] { return parts->hasEnded; });
}

Job::Progress Job::getProgress() {
  std::lock_guard lock(parts->mutex);
  return parts->progress;
}

void Job::cancel() { parts->task.cancel(); }

void Job::check() {
  if (parts->failure)
    std::rethrow_exception(parts->failure);
}
