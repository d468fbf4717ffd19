//===- Glog.cpp - The tools' log through glog -----------------------------===//
//
// The only file that includes glog: its macros have the names of others'
// (libtorch's).
//
//===----------------------------------------------------------------------===//

#include "common/Glog.h"
#include "glowish/Support/Progress.h"
#include "glowish/Support/SettingNames.h"
#define GLOG_CUSTOM_PREFIX_SUPPORT
#include <glog/logging.h>
#include <iomanip>

using namespace glowish;

/// LogLine::process of the line that this thread logs.
static thread_local llvm::StringRef process;

/// "I20261130 12:30:05.123456 rank 1 FuseLoops.cpp:71]"
static void printPrefix(std::ostream &os, const google::LogMessageInfo &info,
                        void *) {
  const google::LogMessageTime &time = info.time;
  os << info.severity[0] << std::setfill('0') << 1900 + time.year()
     << std::setw(2) << 1 + time.month() << std::setw(2) << time.day() << ' '
     << std::setw(2) << time.hour() << ':' << std::setw(2) << time.min() << ':'
     << std::setw(2) << time.sec() << '.' << std::setw(6) << time.usec() << ' '
     << std::setfill(' ');
  if (!process.empty())
    os << std::string_view(process) << ' ';
  os << info.filename << ':' << info.line_number << ']';
}

/// Writes \p line as LOG(INFO) and LOG(WARNING) do where it was logged.
static void writeLine(const LogLine &line) {
  Progress::clearShown();
  process = line.process;
  google::LogMessage(line.file, line.number,
                     line.severity == LogSeverity::Warning
                         ? google::GLOG_WARNING
                         : google::GLOG_INFO)
          .stream()
      << spellSettings(line.text, spellAsFlag);
  process = {};
}

void glowish::startGlog(const char *program, LogLevels levels) {
  // Whatever the environment says (GLOG_...): there are no files, and all lines
  // that are logged appear.
  FLAGS_logtostderr = true;
  FLAGS_logtostdout = false;
  FLAGS_minloglevel = google::GLOG_INFO;
  google::InitGoogleLogging(program, printPrefix, nullptr);
  setLog(writeLine, std::move(levels));
}
