//===- model-compiler.cpp - From a model file to a bundle -----------------===//

#include "common/CommonOptions.h"
#include "common/GlowFlags.h"
#include "common/QuantizationFlags.h"
#include "common/ReportOptions.h"
#include "common/SettingOptions.h"
#include "common/Tool.h"
#include "common/TrainingOptions.h"
#include "common/ValueOption.h"
#include "glowish/Backends/CPU/TargetSupport.h"
#include "glowish/Compiler/BundleCompilation.h"
#include "glowish/Compiler/BundleSettings.h"
#include "glowish/Compiler/QuantizationSettings.h"
#include "glowish/Driver/OperatorList.h"
#include "glowish/Exporter/MLIR.h"
#include "glowish/Exporter/ONNX.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Progress.h"
#include "glowish/Support/Task.h"

using namespace glowish;
namespace cl = llvm::cl;

static cl::OptionCategory bundleCategory("Bundle options");

static cl::opt<std::string>
    outputFolder("emit-bundle", cl::desc("Write the bundle to this folder"),
                 cl::value_desc("folder"), cl::cat(bundleCategory));
static BundleSettings bundleSettings;
static SettingOptions bundleOptions(bundleSettings, bundleCategory);
static TrainingBundleSettings trainingBundleSettings;
static SettingOptions trainingBundleOptions(trainingBundleSettings,
                                            trainingCategory);

static cl::opt<std::string> onnxFile(
    "emit-onnx",
    cl::desc("Write the model as ONNX (operator set 17) to this file instead "
             "of compiling it: as it was imported, or with "
             "-stop-after=optimize after the graph passes"),
    cl::value_desc("file"), cl::cat(modelCategory));

static cl::opt<std::string> mlirDialect(
    "emit-mlir",
    cl::desc("Write the model as MLIR of this dialect, linalg, tosa or "
             "stablehlo, instead of compiling it: after the graph passes, or "
             "as it is after the phase of -stop-after"),
    cl::value_desc("dialect"), cl::cat(modelCategory));
static cl::opt<std::string> mlirFile("mlir-file",
                                     cl::desc("Write the MLIR to this file"),
                                     cl::value_desc("file"), cl::init("-"),
                                     cl::cat(modelCategory));

static cl::opt<std::string> listOperators(
    "list-operators", cl::ValueOptional,
    cl::desc("Print the operators that models may have, with limits, and do "
             "nothing else; =onnx (with opsets and element types), =caffe2, "
             "=tflite or =aten (PyTorch's) prints one list"),
    cl::value_desc("format"), cl::cat(modelCategory));

static llvm::Error printOperators() {
  static constexpr std::pair<llvm::StringLiteral, void (*)(llvm::raw_ostream &)>
      lists[] = {{"onnx", printOnnxOperatorList},
                 {"caffe2", printCaffe2OperatorList},
                 {"tflite", printTFLiteOperatorList},
                 {"aten", printAtenOperatorList}};
  bool isKnown = listOperators == "";
  for (const auto &[name, print] : lists) {
    isKnown |= name == listOperators;
    if (listOperators == "" || name == listOperators)
      print(llvm::outs());
  }
  return isKnown ? llvm::Error::success()
                 : makeError("-list-operators={0}: the lists are onnx, "
                             "caffe2, tflite and aten",
                             listOperators.getValue());
}

static ValueOption<bool>
    listGlowFlags("list-glow-flags",
                  cl::desc("Print what became of the flags of Glow's "
                           "model-compiler, and do nothing else"),
                  cl::cat(modelCategory));

static ValueOption<bool> listMlirNodes(
    "list-mlir-nodes",
    cl::desc("Print which kinds of nodes -emit-mlir writes, and do nothing "
             "else"),
    cl::cat(modelCategory));

static ValueOption<bool>
    listsTargets("list-targets",
                 cl::desc("Print the page about the targets that are tested, "
                          "accepted and refused, and do nothing else"),
                 cl::cat(modelCategory));

/// Refuses what does not go with \p option, which writes the model in another
/// format instead of compiling it.
static llvm::Error checkExport(llvm::StringRef option,
                               llvm::ArrayRef<SymbolValues> several) {
  bool train = trainingBundleSettings.isTraining();
  if (!outputFolder.empty() || train)
    return makeError("{0} and {1}; state one of them", option,
                     train ? "-train" : "-emit-bundle");
  if (bundleSettings.getCertificate())
    return makeError("{0} and -verify-plan; state one of them", option);
  if (!several.empty())
    return makeError("{0}: the symbol '{1}' has several values; accepted: one",
                     option, several.front().name);
  return llvm::Error::success();
}

/// Imports the model, optimizes it if \p last includes that, and hands it to
/// \p write; then writes the report.
static llvm::Error
exportGraph(const ImportOptions &importOptions, CompilationOptions options,
            Phase last,
            llvm::function_ref<llvm::Error(Compilation &, ModelGraph)> write) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend, createBackend());
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Report> report,
                           createReport(getModelPath(), *backend, last));
  options.observer = report.get();
  Compilation compilation(*backend, options);
  GLOWISH_ASSIGN_OR_RETURN(ModelGraph graph,
                           compilation.import(getModelPath(), importOptions));
  if (last >= Phase::Optimize) {
    GLOWISH_ASSIGN_OR_RETURN(graph, compilation.optimize(std::move(graph)));
  }
  GLOWISH_RETURN_IF_ERROR(write(compilation, std::move(graph)));
  return report ? writeReport(*report) : llvm::Error::success();
}

/// Writes what -stop-after leaves, without it what was imported.
static llvm::Error writeOnnxModel(const ImportOptions &importOptions,
                                  llvm::ArrayRef<SymbolValues> several,
                                  CompilationOptions options) {
  GLOWISH_RETURN_IF_ERROR(checkExport("-emit-onnx", several));
  Phase last = options.stopAfter.value_or(Phase::Import);
  if (last > Phase::Optimize)
    return makeError("-stop-after={0}: -emit-onnx writes what the phases "
                     "import and optimize leave",
                     getPhaseName(last));
  return exportGraph(importOptions, options, last,
                     [](Compilation &, ModelGraph graph) {
                       return writeOnnxFile(graph.getModule(), onnxFile);
                     });
}

/// Writes \p graph, whose nodes the dialect must have, or lowering replace.
static llvm::Error writeMlirGraph(Compilation &compilation,
                                  const GraphStage &graph,
                                  MlirDialect dialect) {
  auto isSupported = [dialect](const Node &node) {
    return hasMlirForm(dialect, node);
  };
  GLOWISH_RETURN_IF_ERROR(compilation.lowerUnsupported(graph, isSupported));
  return writeMlirFile(graph.getModule(), dialect, mlirFile);
}

/// Runs the phases up to that of -stop-after and writes what they leave.
static llvm::Error writeMlirModel(const ImportOptions &importOptions,
                                  llvm::ArrayRef<SymbolValues> several,
                                  CompilationOptions options) {
  GLOWISH_RETURN_IF_ERROR(checkExport("-emit-mlir", several));
  std::optional<MlirDialect> dialect = parseMlirDialect(mlirDialect);
  if (!dialect)
    return makeError("-emit-mlir={0}: there is no such dialect; accepted: {1}",
                     mlirDialect.getValue(), listMlirDialects());
  Phase last = options.stopAfter.value_or(Phase::Optimize);
  if (last > Phase::Lower)
    return makeError("-stop-after={0}: -emit-mlir writes what the phases "
                     "import, optimize and lower leave",
                     getPhaseName(last));
  auto write = [&](Compilation &compilation, ModelGraph graph) -> llvm::Error {
    if (last != Phase::Lower)
      return writeMlirGraph(compilation, graph, *dialect);
    GLOWISH_ASSIGN_OR_RETURN(LoweredGraph lowered,
                             compilation.lower(std::move(graph)));
    return writeMlirGraph(compilation, lowered, *dialect);
  };
  return exportGraph(importOptions, options, last, write);
}

static llvm::Expected<int> compileModel() {
  if (listOperators.getNumOccurrences()) {
    GLOWISH_RETURN_IF_ERROR(printOperators());
    return ExitCode::success;
  }
  assert(hasAllGlowFlags() && "what docs/from-glow.md says is true");
  if (listGlowFlags) {
    printGlowFlags(llvm::outs());
    return ExitCode::success;
  }
  if (listMlirNodes) {
    printMlirNodes(llvm::outs());
    return ExitCode::success;
  }
  if (listsTargets) {
    printTargetsPage(llvm::outs());
    return ExitCode::success;
  }
  GLOWISH_RETURN_IF_ERROR(checkModelPath());
  GLOWISH_ASSIGN_OR_RETURN(
      std::optional<TrainingRequest> training,
      trainingBundleSettings.getRequest(getTrainingSettings(), bundleSettings));
  PhaseTimer timer;
  std::vector<SymbolValues> several;
  GLOWISH_ASSIGN_OR_RETURN(std::vector<FunctionSource> functions,
                           getFunctions(several));
  ImportOptions importOptions;
  if (functions.empty())
    GLOWISH_ASSIGN_OR_RETURN(importOptions, getImportOptions(several));
  GLOWISH_ASSIGN_OR_RETURN(CompilationOptions options,
                           getCompilationOptions(timer));
  GLOWISH_RETURN_IF_ERROR(readQuantizationFlags(options));
  if (!onnxFile.empty() && !mlirDialect.empty())
    return makeError("-emit-onnx and -emit-mlir; state one of them");
  if (mlirDialect.empty() && mlirFile.getNumOccurrences())
    return makeError("-mlir-file has no effect without -emit-mlir; accepted: "
                     "with -emit-mlir=DIALECT");
  if (!onnxFile.empty() || !mlirDialect.empty()) {
    if (!functions.empty())
      return makeError("-emit-{0}: the functions '{1}' and '{2}'; accepted: "
                       "one function",
                       onnxFile.empty() ? "mlir" : "onnx", functions[0].name,
                       functions[1].name);
    auto *write = onnxFile.empty() ? writeMlirModel : writeOnnxModel;
    GLOWISH_RETURN_IF_ERROR(write(importOptions, several, options));
    timer.end();
    reportTime(timer);
    return ExitCode::success;
  }
  if (outputFolder.empty() && !options.stopAfter && !asksForReport() &&
      !asksForDumps(options) && !bundleSettings.getCertificate())
    return makeError("nothing to do; state -emit-bundle=FOLDER, "
                     "-emit-onnx=FILE, -emit-mlir=DIALECT, -report=FILE, "
                     "-verify-plan, what "
                     "is to be printed "
                     "(-dump-ir), or a phase with -stop-after");
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend, createBackend());
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<KernelTuner> tuner,
                           backend->createTuner());
  options.tuner = tuner.get();
  options.rematerialization = getTrainingSettings().getRematerialization();
  GLOWISH_ASSIGN_OR_RETURN(
      BundleOptions bundle,
      bundleSettings.getOptions(outputFolder, getModelPath()));
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<Report> report,
      createReport(getModelPath(), *backend, options.stopAfter));
  BundleRequest request = {
      *backend, getModelPath().str(), importOptions, several, options, bundle};
  request.printsCode = asksForCode();
  request.training = std::move(training);
  request.functions = std::move(functions);
  request.certificate = bundleSettings.getCertificate();
  request.report = report.get();
  request.writeReport = [&] { return writeReport(*report); };
  Progress progress;
  Task task([&](llvm::StringRef step, double) { progress.show(step); });
  TaskScope scope(&task);
  GLOWISH_RETURN_IF_ERROR(makeBundle(std::move(request)));
  timer.end();
  progress.clear();
  reportTime(timer);
  return ExitCode::success;
}

int main(int argc, char **argv) {
  return runTool(argc, argv,
                 "Compiles a neural network to an object bundle: code, "
                 "weights and a C header.\n",
                 {&modelCategory, &quantizationCategory, &bundleCategory,
                  &trainingCategory, &targetCategory, &debugCategory},
                 compileModel);
}
