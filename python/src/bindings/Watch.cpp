//===- Watch.cpp - Progress and Ctrl-C ------------------------------------===//

#include "bindings/Watch.h"
#include "core/Job.h"
#include <optional>

namespace py = pybind11;
using namespace glowish::python;

/// A user that presses Ctrl-C waits for as long.
static constexpr std::chrono::milliseconds interval(50);

void glowish::python::watch(const py::object &progress,
                            std::function<void()> work) {
  Job job(std::move(work));
  Job::Progress last;
  std::optional<py::error_already_set> error;
  auto show = [&](const Job::Progress &present) {
    if (progress.is_none() || error || present == last)
      return;
    last = present;
    try {
      progress(present.step, present.done);
    } catch (py::error_already_set &own) {
      error.emplace(std::move(own));
      job.cancel();
    }
  };
  for (bool hasEnded = false; !hasEnded;) {
    {
      py::gil_scoped_release released;
      hasEnded = job.wait(interval);
    }
    if (!error && PyErr_CheckSignals()) {
      error.emplace();
      job.cancel();
    }
    show(job.getProgress());
  }
  if (error)
    throw std::move(*error);
  job.check();
  show({"done", 1});
  if (error)
    throw std::move(*error);
}
