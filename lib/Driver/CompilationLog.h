//===- CompilationLog.h - Logs the phases of a compilation ------*- C++ -*-===//

#ifndef GLOWISH_LIB_DRIVER_COMPILATIONLOG_H
#define GLOWISH_LIB_DRIVER_COMPILATIONLOG_H

#include "glowish/Driver/CompilationObserver.h"

namespace glowish {

/// An observer of one compilation that logs the sizes of what phases make, the
/// loops that are not fused, and passes that changed something; null where
/// none of that is logged.
std::unique_ptr<CompilationObserver> createCompilationLog();

} // namespace glowish

#endif // GLOWISH_LIB_DRIVER_COMPILATIONLOG_H
