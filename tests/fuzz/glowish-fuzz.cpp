//===- glowish-fuzz.cpp - Random graphs, compiled and interpreted ---------===//
//
// Makes random graphs, compiles and runs them at several configs, compares
// with the interpreter, and prints what differs, shrunk. With -ranges, it makes
// ONNX models with ranges for symbols, and compares with the same models with
// fixed extents. With files, these are run instead: the graphs and models of
// bugs that were found (docs/testing.md). With -reduce, it makes a model
// smaller that a test found wrong.
//
//===----------------------------------------------------------------------===//

#include "Coverage.h"
#include "FuzzSession.h"
#include "Generator.h"
#include "MlirTarget.h"
#include "OnnxRuntimeTarget.h"
#include "Predicates.h"
#include "Ranges/Forms/Conversion.h"
#include "Ranges/Forms/Form.h"
#include "Ranges/RangedSession.h"
#include "Reduction.h"
#include "Shrinker.h"
#include "common/GivenInputs.h"
#include "common/ImportFlags.h"
#include "common/Tool.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Importer/ONNX.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Format.h"

using namespace glowish;
using namespace glowish::fuzz;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options");

static cl::list<std::string> files(cl::Positional,
                                   cl::desc("<text forms of graphs, or ONNX "
                                            "models as protobuf text>"),
                                   cl::cat(category));
static cl::opt<uint64_t> seed("seed", cl::desc("Seed of the first graph"),
                              cl::init(1), cl::cat(category));
static cl::opt<uint64_t> graphCount("count", cl::desc("Number of graphs"),
                                    cl::init(500), cl::cat(category));
static cl::opt<unsigned> jobs("jobs", cl::desc("Processes at the same time"),
                              cl::init(1), cl::cat(category));
static cl::opt<unsigned> maxNodes("max-nodes",
                                  cl::desc("Most nodes of a graph"),
                                  cl::init(8), cl::cat(category));
static cl::opt<unsigned> numCompiled("compiled",
                                     cl::desc("Ways to compile each graph"),
                                     cl::init(2), cl::cat(category));
static cl::opt<bool>
    checkPasses("check-passes",
                cl::desc("Interpret each graph after every pass, too"),
                cl::cat(category));
static cl::opt<bool> reproducible(
    "reproducible",
    cl::desc("Compile with -reproducible, and compare the bits of floats with "
             "those of the lowest level and one thread, too"),
    cl::cat(category));
static cl::opt<std::string> machine(
    "on",
    cl::desc("Run programs in QEMU or Node.js: aarch64, riscv64, "
             "cortex-m3, cortex-m4, cortex-m55, wasm, wasm-simd; or graphs as "
             "MLIR: mlir-linalg, mlir-tosa, mlir-stablehlo; or as ONNX "
             "models in ONNX Runtime: onnxruntime, onnxruntime-plain"),
    cl::value_desc("machine"), cl::cat(category));
static cl::opt<bool>
    hasRanges("ranges",
              cl::desc("Make ONNX models with ranges for symbols, each of "
                       "which runs with three values"),
              cl::cat(category));
static cl::opt<std::string>
    formName("form",
             cl::desc("With -ranges: write the models in another format, and "
                      "compare what is imported from it with the ONNX model"),
             cl::value_desc("caffe2|..."), cl::cat(category));
static cl::opt<bool>
    hasPredicates("predicates",
                  cl::desc("Give nodes predicates, and interpret each graph "
                           "with these heeded, too"),
                  cl::cat(category));
static cl::opt<unsigned>
    maxReports("max-reports",
               cl::desc("Shrink and print this many, name the seeds of others"),
               cl::init(20), cl::cat(category));
static cl::opt<unsigned>
    maxChecks("max-checks", cl::desc("Programs to run for shrinking one graph"),
              cl::init(500), cl::cat(category));
static cl::opt<bool>
    coverage("coverage",
             cl::desc("Print how many graphs have a node of "
                      "each kind, kinds of elements, ranks..., "
                      "and kinds of nodes that none has"),
             cl::cat(category));
static cl::opt<bool>
    printsOnly("print", cl::desc("Print the graphs and do nothing else"),
               cl::cat(category));

static cl::opt<std::string> conversionFolder(
    "convert",
    cl::desc("With -form: write what is imported of the file, an ONNX model, "
             "by way of that format to this folder: a graph for each output"),
    cl::value_desc("folder"), cl::cat(category));
static cl::opt<std::string> reductionFolder(
    "reduce",
    cl::desc("Write a smaller model to this folder: of the file, a model in "
             "any format (the two nets of Caffe2), which has gone wrong with "
             "the tensors that -input gives"),
    cl::value_desc("folder"), cl::cat(category));
static cl::list<std::string>
    wrongOutputs("wrong",
                 cl::desc("With -reduce, an output that is wrong (may be "
                          "repeated; default: all)"),
                 cl::value_desc("output"), cl::cat(category));

static llvm::StringRef getName(Verdict verdict) {
  switch (verdict) {
  case Verdict::Same:
    return "same";
  case Verdict::Differs:
    return "differs";
  case Verdict::Refused:
    return "refused";
  case Verdict::TooLarge:
    return "too large";
  case Verdict::Crashed:
    return "crashed";
  case Verdict::WrongTogether:
    return "wrong only after others in one process";
  }
  llvm_unreachable("not a verdict");
}

static void printFinding(const llvm::Twine &what, const Finding &finding) {
  llvm::outs() << what << ": " << getName(finding.verdict) << ": ";
  // With which config is not known.
  if (finding.verdict != Verdict::WrongTogether)
    llvm::outs() << finding.config.str() << ": ";
  llvm::outs() << finding.message << "\n";
}

static ConfigOptions getConfigOptions() {
  return {.numCompiled = numCompiled,
          .checksPasses = checkPasses,
          .isReproducible = reproducible,
          .hasPredicates = hasPredicates};
}

/// The random graph of \p each seed.
static GraphSpec makeSpec(uint64_t each) {
  GraphSpec spec = makePlan(each, maxNodes);
  if (hasPredicates)
    addPredicates(spec, each);
  return spec;
}

/// Prints \p finding and what it is about, shrunk.
template <typename Subject>
static void reportShrunk(const std::string &what, Subject &subject,
                         Finding finding) {
  if (finding.verdict == Verdict::Same ||
      finding.verdict == Verdict::WrongTogether) {
    llvm::outs() << what << ": " << getName(Verdict::WrongTogether) << "\n";
    return;
  }
  shrink(subject, finding, maxChecks);
  printFinding(what, finding);
  llvm::outs() << subject.print() << "\n";
  llvm::outs().flush();
}

static void report(uint64_t wrongSeed) {
  std::string what = "seed " + std::to_string(wrongSeed);
  std::vector<CompileConfig> configs =
      pickConfigs(wrongSeed, getConfigOptions());
  if (!hasRanges) {
    GraphSpec spec = makeSpec(wrongSeed);
    reportShrunk(what, spec, checkInChild(GraphCase(spec.print()), configs));
    return;
  }
  TracedModel traced = makeInChild(wrongSeed, maxNodes, findForm(formName));
  if (!traced.complaint.empty())
    llvm::outs() << what << ": " << traced.complaint << "\n";
  else
    reportShrunk(what, traced.model,
                 checkInChild(RangedCase(traced.model), configs));
}

/// The graph or, if it begins with a comment of protobuf text or a field, the
/// model of the file at \p path.
static llvm::Expected<std::unique_ptr<TestCase>>
readCase(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto text, readFile(path));
  llvm::StringRef content = text->getBuffer();
  bool isModel = content.ltrim().starts_with("#") ||
                 content.ltrim().starts_with("ir_version");
  if (!isModel)
    return std::make_unique<GraphCase>(content.str());
  auto model = RangedModel::parse(content);
  if (!model)
    return addContext(model.takeError(), "'" + path + "': ");
  return std::make_unique<RangedCase>(std::move(*model));
}

static llvm::Expected<int> runFiles() {
  int code = ExitCode::success;
  for (const std::string &path : files) {
    GLOWISH_ASSIGN_OR_RETURN(auto test, readCase(path));
    Finding finding = checkInChild(*test, getAllConfigs());
    if (finding.verdict == Verdict::Same) {
      llvm::outs() << path << (finding.message.empty() ? ": same" : ": ")
                   << finding.message << "\n";
      continue;
    }
    printFinding(path, finding);
    code = ExitCode::failure;
  }
  return code;
}

/// Imports the model of the command line, for its inputs \p given.
static llvm::Expected<std::unique_ptr<Module>>
importModel(const GivenTensors &given) {
  llvm::StringRef path = files.front();
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, findModelFormat(path));
  GLOWISH_ASSIGN_OR_RETURN(ImportOptions options, getImportFlags(path, format));
  if (!format)
    return readModule(path);
  stateGivenTypes(given, options);
  options.evaluate = evaluateNode;
  if (files.size() > 1)
    options.secondFile = files[1];
  return format->import(path, options);
}

static llvm::Expected<int> reduceModel() {
  if (files.empty() || files.size() > 2)
    return makeError("-reduce: {0} files; accepted: a model", files.size());
  GLOWISH_ASSIGN_OR_RETURN(GivenTensors given, readGivenTensors());
  WrongRun run;
  GLOWISH_ASSIGN_OR_RETURN(run.module, importModel(given));
  GLOWISH_RETURN_IF_ERROR(addContext(
      selectFunction(*run.module, getFunctionName()), files.front() + ": "));
  for (auto &[name, file] : given.byName)
    run.inputs[name] = std::move(file.tensor);
  run.outputs.assign(wrongOutputs.begin(), wrongOutputs.end());
  GLOWISH_ASSIGN_OR_RETURN(std::string line,
                           reduce(std::move(run), reductionFolder, maxChecks));
  llvm::outs() << line << "\n";
  return ExitCode::success;
}

/// Prints the share of the elements that were compared, and returns whether it
/// is large enough: a reference that knows nothing agrees with everything.
/// Those of a few graphs may all be undefined.
static bool checkShare(const FuzzSessionResult &result) {
  constexpr int leastPercent = 95;
  constexpr uint64_t fewGraphs = 100;
  const ElementCounts &elements = result.elements;
  if (elements.all == 0)
    return true;
  double percent = 100.0 * double(elements.compared) / double(elements.all);
  bool isEnough = percent >= leastPercent || graphCount < fewGraphs;
  llvm::outs() << llvm::format("%.2f", percent) << "% of " << elements.all
               << " elements compared";
  if (!isEnough)
    llvm::outs() << "; accepted: " << leastPercent << "% or more";
  llvm::outs() << "\n";
  return isEnough;
}

/// What seeds stand for.
static CaseGenerator getGenerator() {
  if (hasRanges)
    return [form = findForm(formName)](uint64_t each) {
      return makeRangedCase(each, maxNodes, form);
    };
  return [](uint64_t each) {
    GraphSpec spec = makeSpec(each);
    return GeneratedCase{std::make_unique<GraphCase>(spec.print()),
                         describeFeatures(spec)};
  };
}

/// The names that nodes have in features.
static std::vector<std::string> getKindNames() {
  std::vector<std::string> names;
  if (const Form *form = findForm(formName)) {
    names = form->listOperators();
  } else if (hasRanges) {
    for (const auto &[name, opsets] : listOnnxOperators())
      names.push_back(name);
  } else {
    for (NodeKind kind : getGeneratedKinds())
      names.push_back(getNodeInfo(kind).name.str());
  }
  return names;
}

/// A session without refusals has none to tell of.
static void printRefused(const FuzzSessionResult &result) {
  uint64_t all = result.numOperators + result.numRefused;
  if (!hasRanges || all == 0)
    return;
  auto found = result.graphsWith.find("refused-operators");
  uint64_t models = found == result.graphsWith.end() ? 0 : found->second;
  llvm::outs() << llvm::format("%.2f",
                               100.0 * double(result.numRefused) / double(all))
               << "% of " << all
               << " operators refused with ranges and replaced, in " << models
               << " models\n";
}

/// Prints which programs were left out and why, the most frequent reasons
/// first, and returns whether enough are left: a dialect without any form would
/// differ nowhere.
static bool checkOmissions(const FuzzSessionResult &result) {
  constexpr uint64_t mostPercent = 60, fewPrograms = 100;
  const Omissions &omissions = result.omissions;
  if (omissions.programs == 0)
    return true;
  uint64_t all = graphCount * numCompiled;
  bool isEnough =
      omissions.programs * 100 <= all * mostPercent || all < fewPrograms;
  llvm::outs() << omissions.programs << " of " << all
               << " programs left out, which cannot be expressed";
  if (!isEnough)
    llvm::outs() << "; accepted: " << mostPercent << "% or less";
  llvm::outs() << "\n";
  std::vector<std::pair<std::string, uint64_t>> reasons(
      omissions.reasons.begin(), omissions.reasons.end());
  llvm::stable_sort(reasons, [](const auto &a, const auto &b) {
    return a.second > b.second;
  });
  for (const auto &[reason, count] : reasons)
    llvm::outs() << llvm::formatv("{0,8} {1}\n", count, reason);
  return isEnough;
}

/// Whether what -on names can be used.
static llvm::Expected<bool> chooseMachine() {
  if (machine.empty())
    return true;
  if (reproducible)
    return makeError("-on does not go with -reproducible, which compares the "
                     "levels of this machine");
  bool isOnnxRuntime = OnnxRuntimeTarget::isName(machine);
  if (isOnnxRuntime || MlirTarget::isName(machine)) {
    if (checkPasses)
      return makeError("-check-passes does not go with -on={0}",
                       machine.getValue());
    GLOWISH_ASSIGN_OR_RETURN(auto target,
                             isOnnxRuntime ? OnnxRuntimeTarget::create(machine)
                                           : MlirTarget::create(machine));
    bool isThere = target != nullptr;
    useGraphTarget(std::move(target));
    return isThere;
  }
  auto target = ForeignTarget::create(machine);
  if (!target)
    return addContext(target.takeError(), "-on: ");
  bool isThere = *target != nullptr;
  useForeignTarget(std::move(*target));
  return isThere;
}

/// Whether -form names one, of models with ranges or of a file.
static llvm::Error checkForm() {
  bool converts = !conversionFolder.empty();
  if (formName.empty() && converts)
    return makeError("-convert without -form");
  if (formName.empty() || ((hasRanges || converts) && findForm(formName)))
    return llvm::Error::success();
  std::string names;
  for (const Form *form : getForms())
    names += (names.empty() ? "" : ", ") + form->name.str();
  return makeError("-form={0}; accepted: one of {1}, with -ranges or -convert",
                   formName.getValue(), names);
}

static llvm::Expected<int> convertFile() {
  if (files.size() != 1)
    return makeError("-convert: {0} files; accepted: a model", files.size());
  GLOWISH_RETURN_IF_ERROR(
      convertModel(files.front(), *findForm(formName), conversionFolder));
  return ExitCode::success;
}

static llvm::Expected<int> runAll() {
  // What ctest takes for a test that was skipped.
  constexpr int skipped = 77;
  GLOWISH_ASSIGN_OR_RETURN(bool canRun, chooseMachine());
  if (!canRun)
    return skipped;
  if (!reductionFolder.empty())
    return reduceModel();
  GLOWISH_RETURN_IF_ERROR(checkForm());
  if (!conversionFolder.empty())
    return convertFile();
  if (!files.empty())
    return runFiles();
  if (maxNodes == 0 || jobs == 0)
    return makeError("-max-nodes and -jobs are at least 1");
  if (printsOnly) {
    for (uint64_t i = 0; i < graphCount; ++i) {
      GeneratedCase made = getGenerator()(seed + i);
      for (const std::string &refusal : made.refusals)
        llvm::outs() << "# refused: " << refusal << "\n";
      llvm::outs() << made.test->print() << "\n";
    }
    return ExitCode::success;
  }
  GLOWISH_ASSIGN_OR_RETURN(
      FuzzSessionResult result,
      runFuzzSession(
          {seed, graphCount, jobs, getGenerator(), getConfigOptions()}));
  for (auto [i, wrongSeed] : llvm::enumerate(result.wrongSeeds)) {
    if (i < maxReports)
      report(wrongSeed);
    else
      llvm::outs() << "seed " << wrongSeed << ": wrong\n";
  }
  if (coverage)
    printCoverage(llvm::outs(), result.graphsWith, getKindNames());
  printRefused(result);
  bool isEnough = checkOmissions(result);
  isEnough &= checkShare(result);
  llvm::outs() << graphCount << " graphs, " << result.wrongSeeds.size()
               << " differences\n";
  return result.wrongSeeds.empty() && isEnough ? ExitCode::success
                                               : ExitCode::failure;
}

int main(int argc, char **argv) {
  return runTool(argc, argv,
                 "Compares compiled random graphs with the interpreter.\n",
                 {&category, &modelCategory, &inputCategory}, runAll);
}
