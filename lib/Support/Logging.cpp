//===- Logging.cpp - glog, silent by default ------------------------------===//

#include "glowish/Support/Logging.h"
#include <glog/logging.h>

void glowish::initLogging(const char *argv0, int verbosity) {
  // Before the start and whatever GLOG_* variables say: log files are never
  // wanted.
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = verbosity > 0 ? google::INFO : google::ERROR;
  FLAGS_v = verbosity;
  // glog ends the process when it is started twice.
  if (!google::IsGoogleLoggingInitialized())
    google::InitGoogleLogging(argv0);
}
