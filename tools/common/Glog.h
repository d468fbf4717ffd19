//===- Glog.h - The tools' log through glog ---------------------*- C++ -*-===//
//
// glog belongs to the tools: libglowish is in programs that have one of their
// own, and two in a process do not even start where one is a static library.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TOOLS_COMMON_GLOG_H
#define GLOWISH_TOOLS_COMMON_GLOG_H

#include "glowish/Support/Log.h"

namespace glowish {

/// Lets glog write the log to stderr alone, with its prefix but for the number
/// of the thread: two runs differ in times only. Installs no handlers of
/// signals. \p program: argv[0].
void startGlog(const char *program, LogLevels levels);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_GLOG_H
