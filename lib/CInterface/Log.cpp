//===- Log.cpp - The log of the C interface -------------------------------===//

#include "glowish/Support/Log.h"
#include "glowish.h"
#include "glowish/Support/SettingNames.h"
#include <algorithm>

using namespace glowish;

void glowish_set_log(glowish_log_function function, void *context,
                     int32_t verbosity) {
  if (!function)
    return setLog(nullptr);
  auto log = [function, context](const LogLine &line) {
    int32_t severity = line.severity == LogSeverity::Warning
                           ? GLOWISH_LOG_WARNING
                           : GLOWISH_LOG_INFO;
    function(context, severity, line.verbosity,
             spellSettings(line.text, spellAsOption).c_str());
  };
  setLog(log,
         {.verbosity = std::clamp<int32_t>(verbosity, 0, LogLevels::most)});
}
