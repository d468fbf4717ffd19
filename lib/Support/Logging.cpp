//===- Logging.cpp - glog, silent by default ------------------------------===//

#include "glowish/Support/Logging.h"
#include <glog/logging.h>

void glowish::initLogging(const char *argv0, int verbosity) {
  google::InitGoogleLogging(argv0);
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = verbosity > 0 ? google::INFO : google::ERROR;
  FLAGS_v = verbosity;
}
