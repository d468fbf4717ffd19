//===- ModelExport.cpp - From a model to another format -------------------===//

#include "glowish/Compiler/ModelCompiler.h"
#include "glowish/Exporter/ONNX.h"
#include "glowish/Report/Report.h"

using namespace glowish;

/// Refuses what does not go with an export.
static llvm::Error checkExport(const ExportRequest &request,
                               const CompilerSettings &settings,
                               llvm::ArrayRef<FunctionSource> functions) {
  if (settings.trainingBundle.isTraining())
    return makeError("{0} and «train»; state one of them", request.name);
  if (settings.bundle.getCertificate())
    return makeError("{0} and «verify-plan»; state one of them", request.name);
  if (!functions.empty())
    return makeError("{0}: the functions '{1}' and '{2}'; accepted: one "
                     "function",
                     request.name, functions[0].name, functions[1].name);
  return llvm::Error::success();
}

/// Writes \p graph, whose nodes the dialect must have, or lowering replace.
static llvm::Error writeMlirGraph(Compilation &compilation,
                                  const GraphStage &graph,
                                  const ExportRequest &request) {
  auto isSupported = [&](const Node &node) {
    return hasMlirForm(*request.dialect, node);
  };
  GLOWISH_RETURN_IF_ERROR(compilation.lowerUnsupported(graph, isSupported));
  return writeMlirFile(graph.getModule(), *request.dialect, request.file);
}

/// Writes \p graph without Repacks to larger bounds, which no other runtime
/// has.
static llvm::Error writeOptimized(Compilation &compilation,
                                  const GraphStage &graph,
                                  const std::string &file) {
  GLOWISH_RETURN_IF_ERROR(compilation.lowerUnsupported(
      graph, [](const Node &node) { return !llvm::isa<RepackNode>(node); }));
  return writeOnnxFile(graph.getModule(), file);
}

/// Writes what the phases up to \p last leave of \p graph, which was imported.
static llvm::Error writeGraph(Compilation &compilation, ModelGraph graph,
                              Phase last, const ExportRequest &request) {
  if (last >= Phase::Optimize)
    GLOWISH_ASSIGN_OR_RETURN(graph, compilation.optimize(std::move(graph)));
  if (!request.dialect && last < Phase::Optimize)
    return writeOnnxFile(graph.getModule(), request.file);
  if (!request.dialect)
    return writeOptimized(compilation, graph, request.file);
  if (last < Phase::Lower)
    return writeMlirGraph(compilation, graph, request);
  GLOWISH_ASSIGN_OR_RETURN(LoweredGraph lowered,
                           compilation.lower(std::move(graph)));
  return writeMlirGraph(compilation, lowered, request);
}

llvm::Error ModelCompiler::exportModel(const ExportRequest &request) {
  GLOWISH_RETURN_IF_ERROR(settings.compilation.loadPlugins());
  GLOWISH_RETURN_IF_ERROR(
      settings.trainingBundle.getRequest(settings.training, settings.bundle)
          .takeError());
  PreparedCompilation prepared;
  GLOWISH_ASSIGN_OR_RETURN(std::vector<FunctionSource> functions,
                           readFunctions(prepared.symbols));
  GLOWISH_RETURN_IF_ERROR(checkExport(request, settings, functions));
  GLOWISH_ASSIGN_OR_RETURN(prepared.importOptions,
                           readImportOptions(prepared.symbols));
  GLOWISH_RETURN_IF_ERROR(checkSymbols(prepared.symbols, prepared.importOptions,
                                       SymbolForm::ValueOrRange));
  GLOWISH_RETURN_IF_ERROR(readOptions(prepared));
  GLOWISH_RETURN_IF_ERROR(createBackend(prepared, /*isLocal=*/false));
  std::unique_ptr<Report> report = createReport(prepared, request.report);
  Phase last = prepared.options.stopAfter.value_or(
      request.dialect ? Phase::Optimize : Phase::Import);
  assert(last <= Phase::Lower && "what is written is a graph");
  Compilation compilation(*prepared.backend, prepared.options);
  GLOWISH_ASSIGN_OR_RETURN(
      ModelGraph graph,
      compilation.import(prepared.path, prepared.importOptions));
  GLOWISH_RETURN_IF_ERROR(
      writeGraph(compilation, std::move(graph), last, request));
  return report ? request.report.write(*report) : llvm::Error::success();
}
