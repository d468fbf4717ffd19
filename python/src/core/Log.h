//===- Log.h - Lines of the log on their way to Python ----------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_LOG_H
#define GLOWISH_PYTHON_CORE_LOG_H

#include <string>
#include <vector>

namespace glowish::python {

/// A line of the log (Support/Log.h).
struct LoggedLine {
  /// 0: a warning.
  int verbosity = 0;
  std::string file;
  int number = 0;
  std::string text;
};

/// Keeps the log up to the level \p verbosity for takeLog(); below 0: none of
/// it. Python is not called where lines are logged: that thread has no GIL, and
/// one that has it may wait for the log.
void keepLog(int verbosity);

/// The lines since the last call.
std::vector<LoggedLine> takeLog();

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_LOG_H
