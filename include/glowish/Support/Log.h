//===- Log.h - Lines about decisions of the compiler ------------*- C++ -*-===//
//
// The compiler logs what it decides, and warnings, for a program that asks for
// it (setLog); until then nothing is formatted. Where the lines go is the
// program's to say: the tools write them through glog.
//
// glog is not used here. A program may have one of its own, with flags
// (FLAGS_v, FLAGS_vmodule) that are for its own lines, and in a version of its
// own.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_SUPPORT_LOG_H
#define GLOWISH_SUPPORT_LOG_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include <functional>
#include <string>
#include <vector>

namespace glowish {

/// A decision or fact of the compiler, or a warning.
enum class LogSeverity { Info, Warning };

/// A line of the log. Its texts are there during the call that gets it.
struct LogLine {
  LogSeverity severity = LogSeverity::Info;
  /// The level of Info, 1 to LogLevels::most; 0 of warnings.
  int verbosity = 0;
  /// The source file, without folders, and the number of its line.
  const char *file = "";
  int number = 0;
  /// This process among several, "rank 1"; else empty.
  llvm::StringRef process = {};
  /// Without control characters, and without the end of the line.
  llvm::StringRef text = {};
};

/// Called with each line, by the thread that logs; one call at a time. It may
/// call setLog, and must not wait for another thread that compiles.
using LogFunction = std::function<void(const LogLine &)>;

/// How much is logged besides warnings.
struct LogLevels {
  /// 1: decisions and sizes, some lines for a phase or a layer. 2: each pass
  /// that changed something. 3: details.
  static constexpr int most = 3;
  int verbosity = 0;

  /// Source files with a level of their own.
  struct ModuleLevel {
    /// A glob pattern of names without extensions: "Fuse*".
    std::string pattern;
    int verbosity = 0;
  };
  /// The first one that fits counts.
  std::vector<ModuleLevel> modules = {};
};

/// Reads `PATTERN=LEVEL,...`; an error says what is accepted.
llvm::Expected<std::vector<LogLevels::ModuleLevel>>
parseLogModules(llvm::StringRef text);

/// Makes \p function the only one that gets the log of this process; null ends
/// it. When this returns, no other thread is calling the former function. Any
/// thread may call it.
void setLog(LogFunction function, LogLevels levels = {});

/// Sets LogLine::process of later lines.
void setLogProcess(std::string name);

/// Keeps what this thread does from being logged, but for warnings: trials,
/// whose results are thrown away.
class LogPause {
public:
  LogPause();
  LogPause(const LogPause &) = delete;
  LogPause &operator=(const LogPause &) = delete;
  ~LogPause();
};

/// \name For the macros
/// @{
/// Whether lines of level \p verbosity of source file \p path are logged; 0:
/// warnings.
bool isLogged(int verbosity, const char *path);
void writeLog(LogSeverity severity, int verbosity, const char *path, int number,
              llvm::StringRef text);
/// @}

/// Whether the level \p VERBOSITY, 1 to 3, of this file is logged.
#define GLOWISH_IS_LOGGED(VERBOSITY) ::glowish::isLogged(VERBOSITY, __FILE__)

/// Logs formatv of the other arguments with the level \p VERBOSITY. They are
/// evaluated only if that is logged.
#define GLOWISH_VLOG(VERBOSITY, ...)                                           \
  do {                                                                         \
    if (GLOWISH_IS_LOGGED(VERBOSITY))                                          \
      ::glowish::writeLog(::glowish::LogSeverity::Info, VERBOSITY, __FILE__,   \
                          __LINE__, ::llvm::formatv(__VA_ARGS__).str());       \
  } while (false)

/// Logs formatv of the arguments as a warning. They are evaluated only if
/// warnings are logged.
#define GLOWISH_WARN(...)                                                      \
  do {                                                                         \
    if (::glowish::isLogged(0, __FILE__))                                      \
      ::glowish::writeLog(::glowish::LogSeverity::Warning, 0, __FILE__,        \
                          __LINE__, ::llvm::formatv(__VA_ARGS__).str());       \
  } while (false)

} // namespace glowish

#endif // GLOWISH_SUPPORT_LOG_H
