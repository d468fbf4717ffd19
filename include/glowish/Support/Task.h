//===- Task.h - Work that can be watched and cancelled ----------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_TASK_H
#define GLOWISH_SUPPORT_TASK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <functional>

namespace glowish {

/// Work of some duration: it tells how far it is, and any thread may cancel it.
/// A thread has at most one current task (TaskScope), which what it calls finds
/// without being handed it; work without a task is neither watched nor
/// cancelled.
class Task {
public:
  /// Called by the thread that works, with what it does now, "optimize", and an
  /// estimate of the share of the work that is done, 0 to 1, which never gets
  /// smaller.
  using ProgressFunction =
      std::function<void(llvm::StringRef step, double done)>;

  explicit Task(ProgressFunction progress = nullptr)
      : progress(std::move(progress)) {}

  /// Any thread may call it, also a handler of signals. The work ends with an
  /// error when it next looks.
  void cancel() { cancelled.store(true, std::memory_order_relaxed); }
  bool isCancelled() const { return cancelled.load(std::memory_order_relaxed); }

private:
  friend class TaskScope;
  friend void reportProgress(llvm::StringRef step, double done);

  std::atomic<bool> cancelled = false;
  ProgressFunction progress;
  double reported = 0;
};

/// Makes a task that of this thread, until the end of the scope. Null: none.
class TaskScope {
public:
  explicit TaskScope(Task *task);
  TaskScope(const TaskScope &) = delete;
  TaskScope &operator=(const TaskScope &) = delete;
  ~TaskScope();

private:
  Task *outer;
};

/// Whether this thread has a task.
bool hasTask();
/// Whether this thread's task is cancelled: what can't return an error may stop
/// early, where checkCancelled() is called before its result is used.
bool isCancelled();
/// An error if this thread's task is cancelled. To be called at least every
/// tenth of a second.
llvm::Error checkCancelled();
/// Tells this thread's task what is being done, and the share of the work that
/// is done before it.
void reportProgress(llvm::StringRef step, double done);

} // namespace glowish

#endif // GLOWISH_SUPPORT_TASK_H
