//===- model-runner.cpp - Runs a model and checks its results -------------===//

#include "FolderRun.h"
#include "Generation.h"
#include "Perplexity.h"
#include "ProgramCacheFlags.h"
#include "common/CommonOptions.h"
#include "common/InputFolder.h"
#include "common/Processes.h"
#include "common/ProfileDump.h"
#include "common/QuantizationBudgetFlags.h"
#include "common/QuantizationFlags.h"
#include "common/ReportOptions.h"
#include "common/RunResults.h"
#include "common/TensorFile.h"
#include "common/Tool.h"
#include "common/ValueOption.h"
#include "glowish/Backends/CPU/PeakRate.h"
#include "glowish/Driver/PassCheck.h"
#include "glowish/Driver/Profile.h"
#include "glowish/Driver/RunnableProgram.h"
#include "glowish/Support/Progress.h"

using namespace glowish;
namespace cl = llvm::cl;

static ValueOption<unsigned> iterations("iterations",
                                        cl::desc("Run N times and print times "
                                                 "(default with -profile: 20)"),
                                        cl::value_desc("N"), cl::init(0),
                                        cl::cat(runCategory));
static ValueOption<unsigned> warmup("warmup",
                                    cl::desc("Runs before the timed ones"),
                                    cl::value_desc("N"), cl::init(1),
                                    cl::cat(runCategory));
static ValueOption<bool>
    profiling("profile",
              cl::desc("Print time, GFLOP/s, share of the FMA peak, bytes and "
                       "share of the roofline of each instruction"),
              cl::cat(runCategory));
static cl::opt<ProfileOrder> profileOrder(
    "profile-order",
    cl::desc("The order of the instructions of -profile (default time)"),
    cl::values(clEnumValN(ProfileOrder::Time, "time", "the slowest first"),
               clEnumValN(ProfileOrder::Excess, "roofline",
                          "first what takes longest beyond its roofline")),
    cl::init(ProfileOrder::Time), cl::cat(runCategory));
static cl::opt<std::string>
    traceFile("profile-trace",
              cl::desc("Write the profile in Chrome's trace event format"),
              cl::value_desc("file"), cl::cat(runCategory));

static ValueOption<bool> checkPasses(
    "check-passes",
    cl::desc("Interpret the model after every pass, IRGen, and the plan's code "
             "too; an error names the first after which an output differs"),
    cl::cat(debugCategory));

static llvm::Error timeRuns(Session &session) {
  using Clock = std::chrono::steady_clock;
  for (unsigned i = 0; i < warmup; ++i)
    GLOWISH_RETURN_IF_ERROR(session.run());
  std::vector<double> times;
  for (unsigned i = 0; i < iterations; ++i) {
    Clock::time_point start = Clock::now();
    GLOWISH_RETURN_IF_ERROR(session.run());
    times.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - start)
            .count());
  }
  llvm::sort(times);
  llvm::outs() << llvm::formatv(
      "{0} runs: median {1:F3} ms, minimum {2:F3} ms\n", times.size(),
      times[times.size() / 2], times.front());
  return llvm::Error::success();
}

static bool isProfiling() { return profiling || !traceFile.empty(); }

/// \p report gets the times, unless it is null.
static llvm::Error profileRuns(const CompiledVariants &compiled, size_t variant,
                               Session &session, InstrClock &clock,
                               Report *report) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<CPUBackend> cpu,
                           CPUBackend::createLocal(getTargetOptions()));
  GLOWISH_ASSIGN_OR_RETURN(MachineLimits limits, measureMachineLimits(*cpu));
  for (unsigned i = 0; i < warmup; ++i)
    GLOWISH_RETURN_IF_ERROR(session.run());
  unsigned numRuns = iterations.getNumOccurrences() ? iterations : 20;
  const PlannedProgram &program = compiled.getPrograms()[variant];
  GLOWISH_ASSIGN_OR_RETURN(
      Profile profile,
      measureProfile(session, program, clock, numRuns, limits.peakRate));
  addRoofline(profile, program, limits);
  if (profiling)
    printProfile(llvm::outs(), profile, profileOrder);
  if (!traceFile.empty())
    GLOWISH_RETURN_IF_ERROR(writeProfileTrace(profile, traceFile));
  if (report)
    report->addProfile(variant, std::move(profile));
  return llvm::Error::success();
}

static void printMemory(const MemoryPlan &plan) {
  llvm::outs() << llvm::formatv(
      "memory: constants {0} bytes, placeholders {1}, activations {2} "
      "({3:P1} of it the largest live set)\n",
      plan.constantSize, plan.mutableSize, plan.activationSize,
      plan.getEfficiency());
}

/// What the processes of a group divide.
static llvm::Error checkTogether(const FolderRun &folderRun) {
  if (folderRun.getGroup() && !folderRun.isWanted())
    return makeError("several processes divide the inputs of a folder; "
                     "accepted: with -input-dir=FOLDER and "
                     "-output-dir=FOLDER");
  return llvm::Error::success();
}

/// The inputs of the first run, and the sets of -input-dir in \p sets, or in
/// \p folderRun if their outputs are wanted.
static llvm::Expected<GivenTensors> readInputs(std::vector<InputSet> &sets,
                                               FolderRun &folderRun) {
  GLOWISH_ASSIGN_OR_RETURN(GivenTensors given, readGivenTensors());
  GLOWISH_ASSIGN_OR_RETURN(sets, listInputSets());
  bool hasProfile = dumpsProfile() || limitsQuantization();
  if (!sets.empty() && !hasProfile && asksForOutputsAlone())
    GLOWISH_RETURN_IF_ERROR(folderRun.setSets(sets));
  GLOWISH_RETURN_IF_ERROR(checkTogether(folderRun));
  if (sets.empty())
    return given;
  if (!hasProfile && !folderRun.isWanted())
    return makeError("-input-dir has no effect without a profile; accepted: "
                     "with -output-dir=FOLDER, -dump-profile=FILE, or "
                     "-max-error=PERCENT");
  if (asksForResults() && !folderRun.isWanted())
    return makeError("-input-dir: the outputs of several runs are not kept; "
                     "accepted: without -output-dir, -expect and -test-data");
  GLOWISH_RETURN_IF_ERROR(readInputSet(sets.front(), given));
  return given;
}

/// \p several: the symbols with several values.
static llvm::Expected<std::unique_ptr<RangeProfiler>>
createProfiler(Backend &backend, const CompilationOptions &options,
               const ImportOptions &importOptions,
               llvm::ArrayRef<SymbolValues> several) {
  if (dumpsProfile() && !several.empty())
    return makeError("-dump-profile: the symbol '{0}' has several values; "
                     "accepted: one",
                     several.front().name);
  return createRangeProfiler(backend, options, getModelPath(), importOptions);
}

/// Runs \p profiler with the inputs of each of \p sets; with those of \p
/// session if there are none.
static llvm::Error profileInputs(RangeProfiler &profiler, Session &session,
                                 llvm::ArrayRef<InputSet> sets) {
  if (sets.empty())
    return profiler.run(session);
  for (const InputSet &set : sets) {
    GLOWISH_ASSIGN_OR_RETURN(GivenTensors given, readGivenTensors());
    GLOWISH_RETURN_IF_ERROR(readInputSet(set, given));
    GLOWISH_RETURN_IF_ERROR(checkInputSet(set, given, session));
    GLOWISH_RETURN_IF_ERROR(fillInputs(session, given));
    GLOWISH_RETURN_IF_ERROR(profiler.run(session));
  }
  return llvm::Error::success();
}

/// Obeys -max-error, with the inputs of each of \p sets or, if there are none,
/// those that are given.
static llvm::Error limitQuantization(Backend &backend,
                                     const ImportOptions &importOptions,
                                     llvm::ArrayRef<SymbolValues> several,
                                     llvm::ArrayRef<InputSet> sets,
                                     CompilationOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(std::optional<QuantizationLimit> limit,
                           getQuantizationLimit(options));
  if (!limit)
    return llvm::Error::success();
  if (limit->isOfAnswers)
    return makeError("-max-drop is for answers with labels, which "
                     "image-classifier has; accepted: -max-error=PERCENT");
  if (!several.empty())
    return makeError("-max-error: the symbol '{0}' has several values; "
                     "accepted: one",
                     several.front().name);
  BudgetModel model;
  model.backend = &backend;
  model.path = getModelPath().str();
  model.importOptions = importOptions;
  model.function = options.function;
  model.numSamples = std::max(sets.size(), size_t(1));
  model.fillInputs = [sets](Session &session, size_t sample) -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(GivenTensors given, readGivenTensors());
    if (!sets.empty()) {
      GLOWISH_RETURN_IF_ERROR(readInputSet(sets[sample], given));
      GLOWISH_RETURN_IF_ERROR(checkInputSet(sets[sample], given, session));
    }
    return fillInputs(session, given);
  };
  return applyQuantizationLimit(*limit, std::move(model), options);
}

/// Writes and checks the outputs of \p session; returns the exit code.
/// \p title: that of one of several programs.
static llvm::Expected<int>
handleOutputs(const Session &session, llvm::ArrayRef<SequenceOutput> sequences,
              llvm::StringRef title) {
  GLOWISH_RETURN_IF_ERROR(writeOutputs(
      session, sequences, title.empty() ? std::string() : getFileName(title)));
  return checkOutputs(session, sequences);
}

/// What runs with the inputs of a session, once its program has run.
using InputsFunction = llvm::function_ref<llvm::Error(Session &session)>;

/// Runs the program of \p variant of \p model; returns the exit code.
/// \p constants: the region that the variants share; null where there is one.
/// \p keepsOutputs: \p profileOf does not write the outputs itself.
static llvm::Expected<int>
runVariant(const ModelVariants &model, const CompiledVariants &compiled,
           size_t variant, const GivenTensors &given,
           llvm::ArrayRef<SequenceOutput> sequences,
           std::shared_ptr<const Tensor> constants, PhaseTimer &timer,
           Report *report, InputsFunction profileOf, bool keepsOutputs) {
  const PlannedProgram &program = compiled.getPrograms()[variant];
  InstrClock clock;
  std::unique_ptr<Session> session;
  {
    Progress progress;
    progress.show("generating code");
    timer.begin("codegen");
    GLOWISH_ASSIGN_OR_RETURN(
        session, Session::create(program, isProfiling() ? &clock : nullptr,
                                 std::move(constants)));
    GLOWISH_RETURN_IF_ERROR(fillInputs(*session, given));
    progress.show("running");
    timer.begin("run");
    GLOWISH_RETURN_IF_ERROR(session->run());
    GLOWISH_RETURN_IF_ERROR(profileOf(*session));
  }
  timer.end();
  int code = ExitCode::success;
  if (keepsOutputs) {
    GLOWISH_ASSIGN_OR_RETURN(code, handleOutputs(*session, sequences,
                                                 model.getNumVariants() > 1
                                                     ? model.describe(variant)
                                                     : ""));
  }
  if (isProfiling()) {
    printMemory(program.getPlan());
    GLOWISH_RETURN_IF_ERROR(
        profileRuns(compiled, variant, *session, clock, report));
  } else if (iterations) {
    printMemory(program.getPlan());
    GLOWISH_RETURN_IF_ERROR(timeRuns(*session));
  }
  return code;
}

static llvm::Expected<int>
runVariants(const ModelVariants &model, const CompiledVariants &compiled,
            const GivenTensors &given, llvm::ArrayRef<SequenceOutput> sequences,
            PhaseTimer &timer, Report *report, InputsFunction profileOf,
            bool keepsOutputs) {
  if (!model.hasSymbols())
    return runVariant(model, compiled, 0, given, sequences, nullptr, timer,
                      report, profileOf, keepsOutputs);
  auto constants =
      std::make_shared<const Tensor>(compiled.makeConstantRegion());
  if (iterations && model.getNumVariants() > 1)
    llvm::outs() << llvm::formatv(
        "memory of all: constants {0} bytes, {1} if nothing were shared\n",
        compiled.getConstants().getSize(),
        compiled.getConstants().getSizeUnshared());
  int code = ExitCode::success;
  for (size_t i = 0; i < model.getNumVariants(); ++i) {
    llvm::outs() << "with " << model.describe(i) << ":\n";
    GLOWISH_ASSIGN_OR_RETURN(
        int own, runVariant(model, compiled, i, given, sequences, constants,
                            timer, report, profileOf, keepsOutputs));
    code = std::max(code, own);
  }
  return code;
}

/// The name of an option for single runs that is given; empty if none is.
static llvm::StringRef findSingleRunOption() {
  if (isProfiling())
    return profiling ? "profile" : "profile-trace";
  if (iterations)
    return "iterations";
  if (dumpsProfile())
    return "dump-profile";
  return asksForResults() ? "output-dir, -expect or -test-data" : "";
}

/// What a language model is for: generateTokens() or measurePerplexity().
using TokensFunction = llvm::Error(const CompiledVariants &compiled,
                                   const GivenTensors &given,
                                   std::shared_ptr<const Tensor> constants);

/// Calls \p use with all programs of \p model.
static llvm::Error runLanguageModel(TokensFunction *use,
                                    const ModelVariants &model,
                                    const CompiledVariants &compiled,
                                    const GivenTensors &given,
                                    PhaseTimer &timer) {
  std::shared_ptr<const Tensor> constants;
  if (model.hasSymbols())
    constants = std::make_shared<const Tensor>(compiled.makeConstantRegion());
  timer.begin("run");
  return use(compiled, given, std::move(constants));
}

/// What -generate or -perplexity asks for; null without both.
static llvm::Expected<TokensFunction *> chooseTokensFunction() {
  llvm::StringRef other = findSingleRunOption();
  GLOWISH_ASSIGN_OR_RETURN(bool generates, isGenerating(other));
  GLOWISH_ASSIGN_OR_RETURN(bool measures,
                           isMeasuringPerplexity(generates, other));
  return measures ? measurePerplexity : generates ? generateTokens : nullptr;
}

static llvm::Expected<std::optional<CompiledVariants>>
compileModel(ModelVariants &model, const ImportOptions &importOptions,
             llvm::ArrayRef<SymbolValues> several) {
  Progress progress;
  progress.show("compiling");
  GLOWISH_RETURN_IF_ERROR(
      model.open(getModelPath(), importOptions, several.vec()));
  GLOWISH_RETURN_IF_ERROR(model.select());
  return model.compile();
}

//===- Programs of a cache ------------------------------------------------===//

/// The first option for which the model is compiled in any case; empty if there
/// is none.
static llvm::StringRef findCompilingOption(const ImportOptions &importOptions,
                                           const CompilationOptions &options,
                                           bool isLanguageModel,
                                           bool runsFolder) {
  if (runsFolder)
    return "input-dir";
  if (importOptions.operators)
    return "operators or -external";
  if (isProfiling())
    return profiling ? "profile" : "profile-trace";
  if (isLanguageModel)
    return "generate or -perplexity";
  if (dumpsProfile())
    return "dump-profile";
  if (limitsQuantization())
    return "max-error";
  if (asksForReport())
    return "report or -memory-map";
  if (options.tuner)
    return "tune";
  if (options.passCheck)
    return "check-passes";
  if (options.verifyEach)
    return "verify-each";
  if (options.stopAfter)
    return "stop-after";
  return asksForDumps(options) ? "dump-... or -print-..." : "";
}

/// Runs \p program; returns the exit code. \p title: that of one of several
/// programs.
static llvm::Expected<int> runProgram(const RunnableProgram &program,
                                      const GivenTensors &given,
                                      llvm::ArrayRef<SequenceOutput> sequences,
                                      llvm::StringRef title,
                                      PhaseTimer &timer) {
  timer.begin("run");
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                           Session::create(program));
  GLOWISH_RETURN_IF_ERROR(fillInputs(*session, given));
  GLOWISH_RETURN_IF_ERROR(session->run());
  timer.end();
  GLOWISH_ASSIGN_OR_RETURN(int code, handleOutputs(*session, sequences, title));
  if (iterations) {
    printMemory(*program.plan);
    GLOWISH_RETURN_IF_ERROR(timeRuns(*session));
  }
  return code;
}

/// Runs the programs of \p request, those of \p cache where it has them.
static llvm::Expected<int>
runWithCache(ModelRequest request, ProgramCache &cache,
             const GivenTensors &given,
             const std::vector<SequenceOutput> &sequences, PhaseTimer &timer) {
  RunnableModel model;
  {
    Progress progress;
    progress.show("compiling");
    GLOWISH_ASSIGN_OR_RETURN(model, makeRunnable(std::move(request), &cache));
  }
  bool isOneOfSeveral = model.programs.size() > 1;
  int code = ExitCode::success;
  for (const auto &[title, program] : model.programs) {
    if (!title.empty())
      llvm::outs() << "with " << title << ":\n";
    GLOWISH_ASSIGN_OR_RETURN(
        int own, runProgram(program, given, sequences,
                            isOneOfSeveral ? title : std::string(), timer));
    code = std::max(code, own);
  }
  reportTime(timer);
  return code;
}

/// Writes \p report, unless it is null.
static llvm::Error finishReport(Report *report, const ModelVariants &model) {
  if (!report)
    return llvm::Error::success();
  for (size_t i = 0; i < model.getNumVariants(); ++i)
    report->setProgramTitle(i, model.describe(i));
  return writeReport(*report);
}

/// Prepares the model; a profile has the peak of the target beside the
/// interpreter's times, too.
static llvm::Expected<PreparedCompilation> prepareModel(PhaseTimer &timer) {
  GLOWISH_ASSIGN_OR_RETURN(ModelCompiler compiler, createModelCompiler(timer));
  GLOWISH_ASSIGN_OR_RETURN(PreparedCompilation prepared,
                           compiler.prepareProgram(SymbolForm::Values));
  if (isProfiling() && !prepared.options.stopAfter)
    GLOWISH_RETURN_IF_ERROR(
        CPUBackend::createLocal(getTargetOptions()).takeError());
  return prepared;
}

static llvm::Expected<int> runModel(FolderRun &folderRun) {
  GLOWISH_RETURN_IF_ERROR(checkModelPath());
  GLOWISH_ASSIGN_OR_RETURN(TokensFunction *useTokens, chooseTokensFunction());
  PhaseTimer timer;
  GLOWISH_ASSIGN_OR_RETURN(PreparedCompilation prepared, prepareModel(timer));
  Backend &backend = *prepared.backend;
  ImportOptions &importOptions = prepared.importOptions;
  CompilationOptions &options = prepared.options;
  const std::vector<SymbolValues> &several = prepared.symbols;
  if (!isFirst(folderRun.getGroup()))
    importOptions.isRepeated = true;
  std::vector<InputSet> inputSets;
  GLOWISH_ASSIGN_OR_RETURN(GivenTensors given,
                           readInputs(inputSets, folderRun));
  if (folderRun.isWanted() && !several.empty())
    return makeError("-input-dir: the symbol '{0}' has several values; "
                     "accepted: one",
                     several.front().name);
  stateGivenTypes(given, importOptions);
  std::vector<SequenceOutput> sequences;
  importOptions.sequenceOutputs = &sequences;
  PassCheck passCheck(
      [&](Session &session) { return fillInputs(session, given); });
  if (checkPasses)
    options.passCheck = &passCheck;
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<ProgramCache> cache,
      openProgramCache(backend,
                       findCompilingOption(importOptions, options, useTokens,
                                           folderRun.isWanted())));
  if (cache)
    return runWithCache(
        {backend, getModelPath().str(), importOptions, options, several},
        *cache, given, sequences, timer);
  GLOWISH_ASSIGN_OR_RETURN(ReportRequest reportRequest,
                           getReportRequest(options.stopAfter));
  std::unique_ptr<Report> report = createReport(prepared, reportRequest);
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<RangeProfiler> profiler,
      createProfiler(backend, options, importOptions, several));
  GLOWISH_RETURN_IF_ERROR(
      limitQuantization(backend, importOptions, several, inputSets, options));
  ModelVariants model(backend, options);
  GLOWISH_ASSIGN_OR_RETURN(std::optional<CompiledVariants> compiled,
                           compileModel(model, importOptions, several));
  int code = ExitCode::success;
  if (compiled && !options.stopAfter && useTokens) {
    GLOWISH_RETURN_IF_ERROR(
        runLanguageModel(useTokens, model, *compiled, given, timer));
  } else if (compiled && !options.stopAfter) {
    auto profileOf = [&](Session &session) -> llvm::Error {
      if (folderRun.isWanted())
        return folderRun.run(session, sequences);
      if (!profiler)
        return llvm::Error::success();
      return profileInputs(*profiler, session, inputSets);
    };
    GLOWISH_ASSIGN_OR_RETURN(
        code, runVariants(model, *compiled, given, sequences, timer,
                          report.get(), profileOf, !folderRun.isWanted()));
    GLOWISH_RETURN_IF_ERROR(writeProfile(profiler.get()));
  }
  timer.end();
  GLOWISH_RETURN_IF_ERROR(finishReport(report.get(), model));
  reportTime(timer);
  if (checkPasses)
    llvm::outs() << passCheck.getNumChecks()
                 << " passes and phases checked: none changed an output\n";
  return code;
}

static llvm::Expected<int> runInProcesses(ProcessGroup *group) {
  FolderRun folderRun(group);
  GLOWISH_ASSIGN_OR_RETURN(int code, agree(group, runModel(folderRun)));
  GLOWISH_RETURN_IF_ERROR(folderRun.finish());
  return code;
}

int main(int argc, char **argv) {
  return runGroupTool(
      argc, argv, "Runs a model in this process and compares its outputs.\n",
      {&modelCategory, &quantizationCategory, &inputCategory, &runCategory,
       &targetCategory, &debugCategory},
      runInProcesses);
}
