//===- Log.cpp - Lines of the log on their way to Python ------------------===//

#include "core/Log.h"
#include "core/Expected.h"
#include "glowish/Support/Log.h"
#include <mutex>
#include <optional>
#include <utility>

using namespace glowish;
using namespace glowish::python;

namespace {

struct KeptLog {
  std::mutex mutex;
  std::vector<LoggedLine> lines;
  /// That of the log that there is; none before the first call of keepLog.
  std::optional<int> verbosity;
};

} // namespace

/// Never destroyed: threads may log while the process ends.
static KeptLog &getKept() {
  static auto *kept = new KeptLog;
  return *kept;
}

void glowish::python::keepLog(int verbosity) {
  KeptLog &kept = getKept();
  {
    std::lock_guard lock(kept.mutex);
    // A program that has the library itself may log, too.
    if (kept.verbosity == verbosity || (!kept.verbosity && verbosity < 0))
      return;
    kept.verbosity = verbosity;
  }
  if (verbosity < 0)
    return setLog(nullptr);
  auto keep = [&kept](const LogLine &line) {
    std::lock_guard lock(kept.mutex);
    kept.lines.push_back(
        {line.verbosity, line.file, line.number, spellAsKeywords(line.text)});
  };
  setLog(keep, {.verbosity = verbosity});
}

std::vector<LoggedLine> glowish::python::takeLog() {
  KeptLog &kept = getKept();
  std::lock_guard lock(kept.mutex);
  return std::exchange(kept.lines, {});
}
