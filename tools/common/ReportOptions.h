//===- ReportOptions.h - Options for reports --------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_REPORTOPTIONS_H
#define GLOWISH_TOOLS_COMMON_REPORTOPTIONS_H

#include "glowish/Report/Report.h"

namespace glowish {

/// Whether -report or -memory-map is given.
bool asksForReport();
/// The report that -report or -memory-map asks for; null without them.
/// \p modelPath is above the page, \p backend one of its facts. -memory-map is
/// an error where \p stopAfter comes before the plan.
llvm::Expected<std::unique_ptr<Report>>
createReport(llvm::StringRef modelPath, const Backend &backend,
             std::optional<Phase> stopAfter);

/// Writes the files that are asked for; all appear, or none.
llvm::Error writeReport(const Report &report);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_REPORTOPTIONS_H
