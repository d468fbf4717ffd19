//===- Watch.cpp - Progress and Ctrl-C ------------------------------------===//

#include "bindings/Watch.h"
#include "core/Job.h"
#include "core/Log.h"
#include <optional>

namespace py = pybind11;
using namespace glowish::python;

/// A user that presses Ctrl-C waits for as long.
static constexpr std::chrono::milliseconds interval(50);

namespace {

/// Hands the log to glowish._log.
class PythonLog {
public:
  PythonLog() : module(py::module_::import("glowish._log")) {
    int verbosity = module.attr("get_verbosity")().cast<int>();
    // A thread that logs holds a lock, and may not wait for the GIL.
    py::gil_scoped_release released;
    keepLog(verbosity);
  }
  void flush() {
    for (const LoggedLine &line : takeLog())
      module.attr("log")(line.verbosity, line.file, line.number, line.text);
  }

private:
  py::module_ module;
};

} // namespace

void glowish::python::watch(const py::object &progress,
                            std::function<void()> work) {
  PythonLog log;
  Job job(std::move(work));
  Job::Progress last;
  std::optional<py::error_already_set> error;
  auto show = [&](const Job::Progress &present) {
    if (error) {
      takeLog();
      return;
    }
    try {
      log.flush();
      if (!progress.is_none() && present != last)
        progress(present.step, present.done);
      last = present;
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
