//===- RunResults.h - What becomes of a program's outputs -------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_RUNRESULTS_H
#define GLOWISH_TOOLS_COMMON_RUNRESULTS_H

#include "glowish/Driver/Session.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory runCategory;

/// Whether -output-dir, -expect or -test-data says what outputs are for.
bool asksForResults();
/// Writes what -output-dir asks for. \p subfolder: where several variants run,
/// the variant's.
llvm::Error writeOutputs(const Session &session,
                         const std::string &subfolder = "");
/// Compares with what -expect and -test-data give; returns the exit code.
llvm::Expected<int> checkOutputs(const Session &session);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_RUNRESULTS_H
