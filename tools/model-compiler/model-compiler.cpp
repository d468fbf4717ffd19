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
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Support/Progress.h"
#include "glowish/Support/SettingNames.h"
#include "glowish/Support/Task.h"

using namespace glowish;
namespace cl = llvm::cl;

static cl::OptionCategory bundleCategory("Bundle options");

static cl::opt<std::string>
    outputFolder("emit-bundle", cl::desc("Write the bundle to this folder"),
                 cl::value_desc("folder"), cl::cat(bundleCategory));
static SettingOptions bundleOptions(getSettings().bundle, bundleCategory);
static SettingOptions trainingBundleOptions(getSettings().trainingBundle,
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

/// Returns the help of -list-operators; the text outlives the option.
static llvm::StringRef describeOperatorLists() {
  static const std::string text = [] {
    std::vector<std::string> lists;
    for (const OperatorList *list : listOperatorLists())
      lists.push_back("=" + list->name.str() +
                      (list->description.empty()
                           ? ""
                           : " (" + list->description.str() + ")"));
    return "Print the operators that models may have, with limits, and do "
           "nothing else; one list with " +
           llvm::join(lists, ", ");
  }();
  return text;
}

static cl::opt<std::string> listOperators("list-operators", cl::ValueOptional,
                                          cl::desc(describeOperatorLists()),
                                          cl::value_desc("list"),
                                          cl::cat(modelCategory));

/// Prints what \p print writes, with settings spelled as options.
static void printPage(void (*print)(llvm::raw_ostream &)) {
  std::string page;
  llvm::raw_string_ostream os(page);
  print(os);
  llvm::outs() << spellSettings(page, spellAsFlag);
}

static llvm::Error printOperators() {
  // Formats may come from plug-ins.
  GLOWISH_RETURN_IF_ERROR(loadPlugins());
  std::vector<llvm::StringRef> names;
  for (const OperatorList *list : listOperatorLists()) {
    names.push_back(list->name);
    if (listOperators == "" || list->name == listOperators)
      printPage(list->print);
  }
  if (listOperators == "" ||
      llvm::is_contained(names, llvm::StringRef(listOperators)))
    return llvm::Error::success();
  return makeError("-list-operators={0}: the lists are {1}",
                   listOperators.getValue(), llvm::join(names, ", "));
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

/// Reads -emit-onnx or -emit-mlir, one of which is given.
static llvm::Expected<ExportRequest>
readExport(const DeveloperOptions &developer) {
  bool isOnnx = !onnxFile.empty();
  if (isOnnx && !mlirDialect.empty())
    return makeError("-emit-onnx and -emit-mlir; state one of them");
  ExportRequest request;
  request.name = isOnnx ? "-emit-onnx" : "-emit-mlir";
  request.file = isOnnx ? onnxFile : mlirFile;
  if (!outputFolder.empty())
    return makeError("{0} and -emit-bundle; state one of them", request.name);
  if (!isOnnx) {
    request.dialect = parseMlirDialect(mlirDialect);
    if (!request.dialect)
      return makeError("-emit-mlir={0}: there is no such dialect; accepted: "
                       "{1}",
                       mlirDialect.getValue(), listMlirDialects());
  }
  std::optional<Phase> last = developer.options.stopAfter;
  if (last && *last > (isOnnx ? Phase::Optimize : Phase::Lower))
    return makeError("-stop-after={0}: {1} writes what the phases {2} leave",
                     getPhaseName(*last), request.name,
                     isOnnx ? "import and optimize"
                            : "import, optimize and lower");
  GLOWISH_ASSIGN_OR_RETURN(request.report, getReportRequest(last));
  return request;
}

/// Refuses flags that \p request does not go with.
static llvm::Error checkFlags(const BundleRequest &request) {
  const CompilationOptions &options = request.options;
  bool isWritten = !request.bundle.folder.empty();
  if (!isWritten && !options.stopAfter && !asksForReport() &&
      !asksForDumps(options) && !request.certificate)
    return makeError("nothing to do; state -emit-bundle=FOLDER, "
                     "-emit-onnx=FILE, -emit-mlir=DIALECT, -report=FILE, "
                     "-verify-plan, what "
                     "is to be printed "
                     "(-dump-ir), or a phase with -stop-after");
  if (request.certificate && options.stopAfter &&
      *options.stopAfter < Phase::Plan)
    return makeError("-verify-plan and -stop-after={0}, before the plan; "
                     "accepted: -stop-after=plan",
                     getPhaseName(*options.stopAfter));
  if (request.training && request.printsCode && !isWritten)
    return makeError("-dump-llvm-ir and -dump-llvm-asm print the code of a "
                     "bundle; with -train, accepted: with -emit-bundle=FOLDER");
  bool isImported = options.dotFile.empty();
  if (request.functions.empty() ||
      (isImported && options.importedDotFile.empty()))
    return llvm::Error::success();
  return makeError("-dump-graph-DAG{0}: the file has one graph, and the bundle "
                   "has the functions {1}; accepted: with one function",
                   isImported ? "-before-compile" : "",
                   joinNames(request.functions));
}

/// Prints the list that is asked for; returns whether one is.
static llvm::Expected<bool> printLists() {
  if (listOperators.getNumOccurrences()) {
    GLOWISH_RETURN_IF_ERROR(printOperators());
    return true;
  }
  assert(hasAllGlowFlags() && "what docs/from-glow.md says is true");
  if (listGlowFlags)
    printGlowFlags(llvm::outs());
  else if (listMlirNodes)
    printMlirNodes(llvm::outs());
  else if (listsTargets)
    printPage(printTargetsPage);
  else
    return false;
  return true;
}

static llvm::Error writeBundle(ModelCompiler &compiler) {
  GLOWISH_ASSIGN_OR_RETURN(BundleRequest request,
                           compiler.prepareBundle(outputFolder));
  GLOWISH_RETURN_IF_ERROR(checkFlags(request));
  GLOWISH_ASSIGN_OR_RETURN(request.report,
                           getReportRequest(request.options.stopAfter));
  Progress progress;
  Task task([&](llvm::StringRef step, double) { progress.show(step); });
  TaskScope scope(&task);
  return makeBundle(std::move(request));
}

static llvm::Expected<int> compileModel() {
  GLOWISH_ASSIGN_OR_RETURN(bool isListed, printLists());
  if (isListed)
    return ExitCode::success;
  PhaseTimer timer;
  GLOWISH_ASSIGN_OR_RETURN(ModelCompiler compiler, createModelCompiler(timer));
  if (mlirDialect.empty() && mlirFile.getNumOccurrences())
    return makeError("-mlir-file has no effect without -emit-mlir; accepted: "
                     "with -emit-mlir=DIALECT");
  if (onnxFile.empty() && mlirDialect.empty()) {
    GLOWISH_RETURN_IF_ERROR(writeBundle(compiler));
  } else {
    GLOWISH_ASSIGN_OR_RETURN(ExportRequest request,
                             readExport(compiler.getDeveloperOptions()));
    GLOWISH_RETURN_IF_ERROR(compiler.exportModel(request));
  }
  timer.end();
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
