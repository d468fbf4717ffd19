//===- Logging.h - glog, silent by default ----------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_LOGGING_H
#define GLOWISH_SUPPORT_LOGGING_H

namespace glowish {

/// Initializes glog to print errors only, to stderr, and to write no log file.
/// With \p verbosity above 0, VLOG(1) ... VLOG(verbosity) are printed as well.
void initLogging(const char *argv0, int verbosity);

} // namespace glowish

#endif // GLOWISH_SUPPORT_LOGGING_H
