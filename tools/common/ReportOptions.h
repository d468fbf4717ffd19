//===- ReportOptions.h - Options for reports --------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_REPORTOPTIONS_H
#define GLOWISH_TOOLS_COMMON_REPORTOPTIONS_H

#include "glowish/Report/Report.h"

namespace glowish {

/// Whether -report or -memory-map is given.
bool asksForReport();
/// The report for -report or -memory-map; null without them.
/// \p modelPath is above the page, \p backend one of its facts. -memory-map is
/// an error where \p stopAfter comes before the plan.
llvm::Expected<std::unique_ptr<Report>>
createReport(llvm::StringRef modelPath, const Backend &backend,
             std::optional<Phase> stopAfter);

/// Writes the files of -report and -memory-map: all of them, or none.
llvm::Error writeReport(const Report &report);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_REPORTOPTIONS_H
