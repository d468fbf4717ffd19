//===- ReportOptions.cpp - Options for reports ----------------------------===//

#include "common/ReportOptions.h"
#include "common/CommonOptions.h"
#include "common/ValueOption.h"
#include "glowish/Support/File.h"

using namespace glowish;
namespace cl = llvm::cl;

static cl::opt<std::string> reportFile(
    "report",
    cl::desc("Write a page (HTML) about the compilation: graph, passes, "
             "schedule, memory, costs, sizes"),
    cl::value_desc("file"), cl::cat(debugCategory));
static cl::opt<std::string>
    memoryMap("memory-map",
              cl::desc("Draw the arena over time as SVG into this file"),
              cl::value_desc("file"), cl::cat(debugCategory));
static ValueOption<bool> hasTimes(
    "report-times",
    cl::desc("Tell in the report how long passes took (default true); without, "
             "the same model makes the same bytes"),
    cl::init(true), cl::cat(debugCategory));

bool glowish::asksForReport() {
  return !reportFile.empty() || !memoryMap.empty();
}

llvm::Expected<ReportRequest>
glowish::getReportRequest(std::optional<Phase> stopAfter) {
  if (!memoryMap.empty() && stopAfter && *stopAfter < Phase::Plan)
    return makeError("-memory-map={0}: there is no memory plan after "
                     "-stop-after={1}; accepted: -stop-after=plan",
                     memoryMap.getValue(), getPhaseName(*stopAfter));
  ReportRequest request;
  if (asksForReport())
    request.write = writeReport;
  request.hasTimes = hasTimes;
  return request;
}

llvm::Error glowish::writeReport(const Report &report) {
  OutputFiles files;
  auto add =
      [&](llvm::StringRef path,
          llvm::function_ref<void(llvm::raw_ostream &)> print) -> llvm::Error {
    if (path.empty())
      return llvm::Error::success();
    llvm::Expected<llvm::raw_pwrite_stream &> stream = files.add(path);
    if (!stream)
      return stream.takeError();
    print(*stream);
    return llvm::Error::success();
  };
  GLOWISH_RETURN_IF_ERROR(
      add(memoryMap, [&](llvm::raw_ostream &os) { report.printMemory(os); }));
  GLOWISH_RETURN_IF_ERROR(
      add(reportFile, [&](llvm::raw_ostream &os) { report.print(os); }));
  return files.commit();
}
