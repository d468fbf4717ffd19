//===- Logging.cpp - glog, silent by default ------------------------------===//

#include "glowish/Support/Logging.h"
#include <glog/logging.h>

void glowish::initLogging(const char *argv0, int verbosity) {
  // Set before initialization, overriding GLOG_* variables: log files are never
  // wanted.
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = verbosity > 0 ? google::INFO : google::ERROR;
  FLAGS_v = verbosity;
  // glog aborts the process when it is initialized twice.
  if (!google::IsGoogleLoggingInitialized())
    google::InitGoogleLogging(argv0);
}
