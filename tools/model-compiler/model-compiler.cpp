//===- model-compiler.cpp - From a model file to a bundle -----------------===//

#include "common/CommonOptions.h"
#include "common/GlowFlags.h"
#include "common/InputTypes.h"
#include "common/QuantizationFlags.h"
#include "common/ReportOptions.h"
#include "common/Tool.h"
#include "common/TrainingOptions.h"
#include "common/ValueOption.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/Driver/OperatorList.h"
#include "glowish/Driver/TrainingCompilation.h"
#include "glowish/Exporter/MLIR.h"
#include "glowish/Exporter/ONNX.h"
#include "glowish/Support/Checksum.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Progress.h"
#include "llvm/Support/Path.h"

using namespace glowish;
namespace cl = llvm::cl;

static cl::OptionCategory bundleCategory("Bundle options");

static cl::opt<std::string>
    outputFolder("emit-bundle", cl::desc("Write the bundle to this folder"),
                 cl::value_desc("folder"), cl::cat(bundleCategory));
static cl::opt<std::string> networkName(
    "network-name",
    cl::desc("Name of the files and prefix of the symbols (default: the "
             "model's file name)"),
    cl::value_desc("name"), cl::cat(bundleCategory));
static cl::opt<std::string> entryName(
    "main-entry-name",
    cl::desc("Name of the entry function (default: the network's name)"),
    cl::value_desc("name"), cl::cat(bundleCategory));
static ValueOption<BundleApi> bundleApi(
    "bundle-api", cl::desc("What the header offers"),
    cl::init(BundleApi::Static),
    cl::values(clEnumValN(BundleApi::Static, "static",
                          "Macros: sizes and offsets at compile time"),
               clEnumValN(BundleApi::Dynamic, "dynamic",
                          "A configuration struct with a symbol table")),
    cl::cat(bundleCategory));
static ValueOption<BundleWeights> bundleWeights(
    "weights", cl::desc("Where the weights go"), cl::init(BundleWeights::File),
    cl::values(clEnumValN(BundleWeights::File, "file",
                          "NAME.weights.bin; of up to 1 MiB, for the static "
                          "API, also NAME.weights.txt, to be included in an "
                          "array"),
               clEnumValN(BundleWeights::Text, "text",
                          "NAME.weights.bin and NAME.weights.txt of any size"),
               clEnumValN(BundleWeights::Embed, "embed",
                          "Into the object, as the array NAME_weights")),
    cl::cat(bundleCategory));
static ValueOption<bool>
    listsConstants("bundle-api-verbose",
                   cl::desc("List the constants in the header's first comment"),
                   cl::cat(bundleCategory));
static ValueOption<bool>
    savesAssembly("llvm-save-asm", cl::desc("Write the assembly, NAME.s, too"),
                  cl::cat(bundleCategory));

static ValueOption<bool> convertPlaceholders(
    "convert-placeholders",
    cl::desc("With -convert-to-fp16: inputs, outputs and states of float get "
             "the half precision, too"),
    cl::cat(quantizationCategory));

static ValueOption<bool>
    train("train",
          cl::desc("Write a bundle that infers and learns: NAME_infer and "
                   "NAME_train_step on the same weights"),
          cl::cat(trainingCategory));
static cl::list<std::string> stepSymbols(
    "train-define-symbol",
    cl::desc("Bind a symbolic dimension in the training step, where it differs "
             "from inference (may be repeated)"),
    cl::value_desc("name,value"), cl::cat(trainingCategory));
static cl::opt<std::string>
    labelType("label-type",
              cl::desc("Type of the label, where it is not what -loss says: "
                       "-label-type=int64,[32]"),
              cl::value_desc("type,[dims]"), cl::cat(trainingCategory));

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

/// After the model's file: matmul.fp16.onnx gives matmul_fp16, and for.onnx
/// for_.
static std::string getDefaultName() {
  std::string name = legalizeName(llvm::sys::path::stem(getModelPath()));
  for (const std::string &each : {name, name + "_"})
    if (isCIdentifier(each) && explainReservedName(each).empty())
      return each;
  return "A" + name;
}

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

static llvm::Expected<BundleOptions> getBundleOptions() {
  BundleOptions options;
  options.folder = outputFolder;
  options.api = bundleApi;
  options.weights = bundleWeights;
  options.listsConstants = listsConstants;
  options.savesAssembly = savesAssembly;
  options.networkName = networkName.getNumOccurrences() ? networkName.getValue()
                                                        : getDefaultName();
  options.entryName = entryName.getNumOccurrences() ? entryName.getValue()
                                                    : options.networkName;
  GLOWISH_RETURN_IF_ERROR(checkBundleNames(options));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> files, getModelFiles());
  for (const std::string &file : files) {
    GLOWISH_ASSIGN_OR_RETURN(auto model, readFile(file));
    llvm::StringRef bytes = model->getBuffer();
    options.modelHash ^= checksum64(
        llvm::ArrayRef<uint8_t>(bytes.bytes_begin(), bytes.bytes_end()));
  }
  return options;
}

/// The bundle of -train. \p writer is there where a folder is given.
static llvm::Error compileTraining(Backend &backend, BundleWriter *writer,
                                   const ImportOptions &inference,
                                   CompilationOptions options,
                                   const BundleOptions &bundleOptions,
                                   Report *report) {
  GLOWISH_ASSIGN_OR_RETURN(TrainingConfig config, getTrainingConfig());
  if (!labelType.empty()) {
    llvm::Expected<Type> type = parseInputType(labelType);
    if (!type)
      return addContext(type.takeError(), "-label-type=" + labelType + ": ");
    config.labelKind = type->getKind();
    config.labelShape = Dims(type->getShape());
  }
  ImportOptions step = inference;
  // Warnings would be repeated.
  step.warn = nullptr;
  std::map<std::string, int64_t> ownSymbols;
  GLOWISH_RETURN_IF_ERROR(
      readNumbers("train-define-symbol", stepSymbols, ownSymbols));
  for (const auto &[name, value] : ownSymbols)
    step.symbols[name] = value;
  options.rematerialization = getRematerialization();
  GLOWISH_ASSIGN_OR_RETURN(std::optional<TrainingCompilation> model,
                           TrainingCompilation::compile(backend, getModelPath(),
                                                        inference, step, config,
                                                        options));
  if (model && !options.stopAfter && !outputFolder.empty())
    GLOWISH_RETURN_IF_ERROR(
        writer->writeTraining(model->getPrograms(), bundleOptions));
  if (!report)
    return llvm::Error::success();
  report->setProgramTitle(0, "inference");
  report->setProgramTitle(1, "training step");
  return writeReport(*report);
}

/// The bundle of a model that infers. \p writer is there where a folder is
/// given, or code is to be printed.
static llvm::Error compileInference(Backend &backend, BundleWriter *writer,
                                    const ImportOptions &importOptions,
                                    const std::vector<SymbolValues> &several,
                                    const CompilationOptions &options,
                                    BundleOptions bundleOptions, Report *report,
                                    Progress &progress) {
  ModelVariants model(backend, options);
  GLOWISH_RETURN_IF_ERROR(model.open(getModelPath(), importOptions, several));
  GLOWISH_ASSIGN_OR_RETURN(std::optional<CompiledVariants> compiled,
                           model.compile());
  if (compiled && !options.stopAfter && !outputFolder.empty()) {
    progress.show("generating code");
    if (options.timer)
      options.timer->begin("codegen");
    CodeSizes sizes;
    bundleOptions.codeSizes = report ? &sizes : nullptr;
    GLOWISH_RETURN_IF_ERROR(
        writer->write(compiled->getVariants(), bundleOptions));
    if (report)
      report->setCodeSizes(std::move(sizes));
  }
  if (compiled && !options.stopAfter && outputFolder.empty() && asksForCode())
    GLOWISH_RETURN_IF_ERROR(
        writer->printCode(compiled->getVariants(), bundleOptions.entryName));
  if (!report)
    return llvm::Error::success();
  for (size_t i = 0; i < model.getNumVariants(); ++i)
    report->setProgramTitle(i, model.describe(i));
  return writeReport(*report);
}

/// Refuses what does not go with \p option, which writes the model in another
/// format instead of compiling it.
static llvm::Error checkExport(llvm::StringRef option,
                               llvm::ArrayRef<SymbolValues> several) {
  if (!outputFolder.empty() || train)
    return makeError("{0} and {1}; state one of them", option,
                     train ? "-train" : "-emit-bundle");
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

/// Checks that options of training are given with -train only, and those of
/// inference without.
static llvm::Error checkTrainingOptions() {
  if (train && entryName.getNumOccurrences())
    return makeError("-main-entry-name has no effect with -train, whose "
                     "entries are NAME_infer and NAME_train_step; accepted: "
                     "-network-name=NAME");
  if (train)
    return llvm::Error::success();
  std::string first;
  for (const auto &entry : cl::getRegisteredOptions()) {
    const cl::Option &option = *entry.second;
    if (option.getNumOccurrences() && &option != &train &&
        llvm::is_contained(option.Categories, &trainingCategory))
      // The map has no order.
      first = first.empty() ? entry.first().str()
                            : std::min(first, entry.first().str());
  }
  if (first.empty())
    return llvm::Error::success();
  return makeError("-{0} has no effect without -train, which makes a bundle "
                   "that learns; accepted: with -train",
                   first);
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
  GLOWISH_ASSIGN_OR_RETURN(bool printedHelp, printTargetHelp(llvm::outs()));
  if (printedHelp)
    return ExitCode::success;
  GLOWISH_RETURN_IF_ERROR(checkModelPath());
  GLOWISH_RETURN_IF_ERROR(checkTrainingOptions());
  PhaseTimer timer;
  std::vector<SymbolValues> several;
  GLOWISH_ASSIGN_OR_RETURN(ImportOptions importOptions,
                           getImportOptions(several));
  GLOWISH_ASSIGN_OR_RETURN(CompilationOptions options,
                           getCompilationOptions(timer));
  GLOWISH_ASSIGN_OR_RETURN(options.quantization, getQuantizationOptions());
  GLOWISH_ASSIGN_OR_RETURN(options.precision, getPrecisionConfig());
  options.quantizesActivations = quantizesActivations();
  if (options.precision)
    options.precision->convertsPlaceholders = convertPlaceholders;
  else if (convertPlaceholders)
    return makeError("-convert-placeholders has no effect where floats stay "
                     "float; accepted: with -convert-to-fp16");
  llvm::StringRef precisionFlag = getPrecisionFlag(options);
  if (train && !precisionFlag.empty())
    return makeError("-{0} and -train: a bundle that learns computes in float; "
                     "state one of them",
                     precisionFlag);
  if (!onnxFile.empty() && !mlirDialect.empty())
    return makeError("-emit-onnx and -emit-mlir; state one of them");
  if (mlirDialect.empty() && mlirFile.getNumOccurrences())
    return makeError("-mlir-file has no effect without -emit-mlir; accepted: "
                     "with -emit-mlir=DIALECT");
  if (!onnxFile.empty() || !mlirDialect.empty()) {
    auto *write = onnxFile.empty() ? writeMlirModel : writeOnnxModel;
    GLOWISH_RETURN_IF_ERROR(write(importOptions, several, options));
    timer.end();
    reportTime(timer);
    return ExitCode::success;
  }
  if (outputFolder.empty() && !options.stopAfter && !asksForReport() &&
      !asksForDumps(options))
    return makeError("nothing to do; state -emit-bundle=FOLDER, "
                     "-emit-onnx=FILE, -emit-mlir=DIALECT, -report=FILE, what "
                     "is to be printed "
                     "(-dump-ir), or a phase with -stop-after");
  if (train && outputFolder.empty() && asksForCode())
    return makeError("-dump-llvm-ir and -dump-llvm-asm print the code of a "
                     "bundle; with -train, accepted: with -emit-bundle=FOLDER");
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend, createBackend());
  std::unique_ptr<BundleWriter> writer = backend->createBundleWriter();
  if (!writer && outputFolder.empty() && asksForCode())
    return makeError("-backend={0} has no code to print; -backend=CPU has",
                     getBackendName());
  if (!writer && !outputFolder.empty())
    return makeError("-backend={0} cannot write a bundle; -backend=CPU can",
                     getBackendName());
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<KernelTuner> tuner,
                           createTuner(*backend));
  options.tuner = tuner.get();
  GLOWISH_ASSIGN_OR_RETURN(BundleOptions bundleOptions, getBundleOptions());
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<Report> report,
      createReport(getModelPath(), *backend, options.stopAfter));
  options.observer = report.get();

  Progress progress;
  progress.show("importing and optimizing");
  if (train) {
    if (!several.empty())
      return makeError("-train takes one value of '{0}'; another one in the "
                       "step is stated with -train-define-symbol",
                       several.front().name);
    if (options.placesIOInArena)
      return makeError("-io-in-activations: a bundle that learns keeps its "
                       "placeholders between calls; accepted: without -train");
    if (!options.arenaRegions.empty())
      return makeError("-memory-regions: the programs of a bundle that learns "
                       "share one region of activations; accepted: without "
                       "-train");
    GLOWISH_RETURN_IF_ERROR(compileTraining(*backend, writer.get(),
                                            importOptions, options,
                                            bundleOptions, report.get()));
  } else {
    GLOWISH_RETURN_IF_ERROR(
        compileInference(*backend, writer.get(), importOptions, several,
                         options, bundleOptions, report.get(), progress));
  }
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
