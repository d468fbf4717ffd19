//===- Log.cpp - Lines about decisions of the compiler --------------------===//

#include "glowish/Support/Log.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Escape.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

using namespace glowish;

//===- Levels -------------------------------------------------------------===//

static llvm::Expected<LogLevels::ModuleLevel>
parseModule(llvm::StringRef text) {
  auto [pattern, number] = text.rsplit('=');
  LogLevels::ModuleLevel module = {pattern.trim().str()};
  bool isLevel =
      llvm::to_integer(number.trim(), module.verbosity, /*Base=*/10) &&
      module.verbosity >= 0 && module.verbosity <= LogLevels::most;
  auto glob = llvm::GlobPattern::create(module.pattern);
  if (isLevel && glob && !module.pattern.empty())
    return module;
  llvm::consumeError(glob.takeError());
  return makeError("{0}: accepted: MODULE=LEVEL,... with the name of a source "
                   "file, in which * stands for any letters, and 0 to {1}",
                   quote(text), LogLevels::most);
}

llvm::Expected<std::vector<LogLevels::ModuleLevel>>
glowish::parseLogModules(llvm::StringRef text) {
  std::vector<LogLevels::ModuleLevel> modules;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    GLOWISH_ASSIGN_OR_RETURN(LogLevels::ModuleLevel module, parseModule(part));
    modules.push_back(std::move(module));
  }
  return modules;
}

//===- The log ------------------------------------------------------------===//

namespace {

/// What setLog was called with.
class Log {
public:
  Log(LogFunction function, LogLevels newLevels)
      : function(std::move(function)), levels(std::move(newLevels)) {
    for (const LogLevels::ModuleLevel &module : levels.modules) {
      auto pattern = llvm::GlobPattern::create(module.pattern);
      if (pattern)
        modules.emplace_back(std::move(*pattern), module.verbosity);
      else // It fits nothing.
        llvm::consumeError(pattern.takeError());
    }
  }
  Log(const Log &) = delete;

  void call(const LogLine &line) const { function(line); }
  int getVerbosity(llvm::StringRef path) const {
    llvm::StringRef name = llvm::sys::path::stem(path);
    for (const auto &[pattern, verbosity] : modules)
      if (pattern.match(name))
        return verbosity;
    return levels.verbosity;
  }
  /// The highest level of any file.
  int getHighest() const {
    int highest = levels.verbosity;
    for (const auto &[pattern, verbosity] : modules)
      highest = std::max(highest, verbosity);
    return highest;
  }

private:
  LogFunction function;
  /// Patterns refer to the texts.
  LogLevels levels;
  std::vector<std::pair<llvm::GlobPattern, int>> modules;
};

/// What the threads share.
struct SharedLog {
  /// Held while the function is called, which may log or call setLog itself.
  std::recursive_mutex mutex;
  /// Null until setLog is called, and after it was called with null.
  std::shared_ptr<const Log> log;
  std::string process;
};

} // namespace

/// The largest level of any file; -1 without a log.
static std::atomic<int> highest = -1;
static thread_local unsigned numPauses = 0;

/// Never destroyed: threads may log while the process ends.
static SharedLog &getShared() {
  static auto *shared = new SharedLog;
  return *shared;
}

void glowish::setLog(LogFunction function, LogLevels levels) {
  std::shared_ptr<const Log> log;
  if (function)
    log = std::make_shared<const Log>(std::move(function), std::move(levels));
  SharedLog &shared = getShared();
  std::lock_guard lock(shared.mutex);
  highest.store(log ? log->getHighest() : -1, std::memory_order_relaxed);
  shared.log = std::move(log);
}

void glowish::setLogProcess(std::string name) {
  SharedLog &shared = getShared();
  std::lock_guard lock(shared.mutex);
  shared.process = std::move(name);
}

LogPause::LogPause() { ++numPauses; }
LogPause::~LogPause() { --numPauses; }

bool glowish::isLogged(int verbosity, const char *path) {
  if (verbosity > highest.load(std::memory_order_relaxed) ||
      (verbosity > 0 && numPauses > 0))
    return false;
  SharedLog &shared = getShared();
  std::lock_guard lock(shared.mutex);
  return shared.log &&
         (verbosity == 0 || verbosity <= shared.log->getVerbosity(path));
}

void glowish::writeLog(LogSeverity severity, int verbosity, const char *path,
                       int number, llvm::StringRef text) {
  std::string escaped = escapeControls(text);
  std::replace(escaped.begin(), escaped.end(), '\n', ' ');
  SharedLog &shared = getShared();
  std::lock_guard lock(shared.mutex);
  // The function may end the log.
  std::shared_ptr<const Log> log = shared.log;
  std::string process = shared.process;
  if (log)
    log->call({.severity = severity,
               .verbosity = verbosity,
               .file = llvm::sys::path::filename(path).data(),
               .number = number,
               .process = process,
               .text = escaped});
}
