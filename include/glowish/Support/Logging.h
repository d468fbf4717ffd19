//===- Logging.h - glog, silent by default --------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_LOGGING_H
#define GLOWISH_SUPPORT_LOGGING_H

namespace glowish {

/// Starts glog: nothing below an error on stderr, never a log file. With
/// \p verbosity above 0, VLOG(1) ... VLOG(verbosity) go to stderr.
void initLogging(const char *argv0, int verbosity);

} // namespace glowish

#endif // GLOWISH_SUPPORT_LOGGING_H
