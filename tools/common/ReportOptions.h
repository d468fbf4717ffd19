//===- ReportOptions.h - Options for reports --------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_REPORTOPTIONS_H
#define GLOWISH_TOOLS_COMMON_REPORTOPTIONS_H

#include "glowish/Compiler/BundleCompilation.h"
#include "glowish/Report/Report.h"

namespace glowish {

/// Whether -report or -memory-map is given.
bool asksForReport();
/// Returns the report for -report or -memory-map, which writeReport writes.
/// -memory-map is an error where \p stopAfter comes before the plan.
llvm::Expected<ReportRequest> getReportRequest(std::optional<Phase> stopAfter);
/// Writes the files of -report and -memory-map: all of them, or none.
llvm::Error writeReport(const Report &report);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_REPORTOPTIONS_H
