//===- Job.h - Compilations in a thread of their own ------------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_JOB_H
#define GLOWISH_PYTHON_CORE_JOB_H

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace glowish::python {

/// Runs \p work in another thread, so that this one can look for signals:
/// Python handles them in the thread that calls it, and nowhere inside of the
/// compiler.
class Job {
public:
  struct Progress {
    std::string step;
    /// The share of the work that is done, 0 to 1.
    double done = 0;
    bool operator==(const Progress &) const = default;
  };

  explicit Job(std::function<void()> work);
  Job(const Job &) = delete;
  /// Cancels the work if it is under way, and waits for its end.
  ~Job();

  /// Whether the work has ended, after at most \p time.
  bool wait(std::chrono::milliseconds time);
  Progress getProgress();
  /// Lets the work fail soon.
  void cancel();
  /// Throws what the work has thrown. It has ended.
  void check();

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_JOB_H
