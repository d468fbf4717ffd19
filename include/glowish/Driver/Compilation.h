//===- Compilation.h - The phases in their order ----------------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_COMPILATION_H
#define GLOWISH_DRIVER_COMPILATION_H

#include "glowish/Driver/Stages.h"
#include "glowish/IR/ConstantPool.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/IRGen/Rematerialization.h"
#include "glowish/Importer/ParsedModel.h"
#include "glowish/Optimizer/ConvertPrecision.h"
#include "glowish/Optimizer/Passes.h"
#include "glowish/Optimizer/Quantize.h"
#include "glowish/Support/Timing.h"
#include "llvm/Support/MemoryBuffer.h"
#include <limits>
#include <set>

namespace glowish {

struct ActivationLimits;
class CompilationObserver;
class KernelTuner;
struct ModelFormat;
class PassCheck;
class PlaceholderPool;
class Session;

/// The phases, in order. Each ends with its verifier.
enum class Phase {
  Import,
  Optimize,
  Lower,
  /// Only where there is a limit to fit into.
  FitMemory,
  Schedule,
  IRGen,
  OptimizeIR,
  Plan
};

/// "import", "optimize", "lower", "fit-memory", "schedule", "irgen",
/// "optimize-ir", "plan".
llvm::StringRef getPhaseName(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);
/// The names of all phases in their order, with commas.
std::string listPhases();

/// Printing, verification and limit of the passes of the graph, or of the IR.
struct PassOptions {
  /// Some passes, by their names, or all.
  struct Selection {
    bool all = false;
    std::set<std::string> names;

    bool has(llvm::StringRef name) const {
      return all || names.count(name.str());
    }
  };
  Selection printBefore, printAfter, verifyBefore, verifyAfter;
  /// Name each pass on stderr before it runs.
  bool printNames = false;
  /// After this many runs of passes, only those run that the rest needs.
  std::optional<uint64_t> limit;
};

/// How models are quantized: by a profile, and what that leaves float by the
/// weights alone.
struct QuantizationOptions {
  std::optional<RangeProfile> profile;
  QuantizationConfig config;
  /// By the ranges of each run instead of a profile (quantizeDynamically).
  bool isDynamic = false;
  std::optional<WeightQuantization> weights = {};
  /// Of the tables of Gather.
  std::optional<WeightQuantization> embeddings = {};
};

/// What a compilation prints, checks and measures, and where it stops.
struct CompilationOptions {
  /// The function that is compiled, where the module has several; empty where
  /// it has one.
  std::string function;
  /// Print the graph to stderr after lowering, the IR before the plan.
  bool dumpGraph = false;
  bool dumpIR = false;
  /// Write the lowered graph as Graphviz to this file.
  std::string dotFile;
  /// The same of the graph as it was imported.
  std::string importedDotFile;
  /// Print the unit to stderr after all passes that changed it.
  bool printAfterAll = false;
  /// Run the verifiers after every pass.
  bool verifyEach = false;
  /// Checks the results of every pass and phase; may be null.
  PassCheck *passCheck = nullptr;
  PassOptions graphPasses, irPasses;
  /// The most elements of constants that are merged when they are equal.
  int64_t maxMergedElements = std::numeric_limits<int64_t>::max();
  ScheduleStrategy schedule = ScheduleStrategy::Best;
  /// The values that a training step rematerializes; unused by other programs.
  RematerializationConfig rematerialization;
  /// The most bytes of activations; more than the model needs changes nothing.
  std::optional<uint64_t> maxActivationBytes;
  /// Whether an activation may have the place of one that is dead.
  bool reusesActivations = true;
  /// PlanOptions::placesIOInArena.
  bool placesIOInArena = false;
  /// PlanOptions::arenaRegions. What does not fit is computed in patches, as
  /// with maxActivationBytes.
  std::vector<RegionLimit> arenaRegions = {};
  /// ProofOptions::keepsOutputs.
  bool keepsOutputs = false;
  std::optional<Phase> stopAfter;
  /// Quantizes each model when it has been imported; may be null.
  std::shared_ptr<const QuantizationOptions> quantization;
  /// Converts floats of each model after that; may be absent.
  std::optional<PrecisionConfig> precision;
  /// Multiplies quantized weights with integers, which floats are rounded to
  /// when the program runs.
  bool quantizesActivations = false;
  /// Measures what the back end will choose between; may be null.
  KernelTuner *tuner = nullptr;
  /// Where phases are timed; may be null.
  PhaseTimer *timer = nullptr;
  /// Is notified of the events of the compilation; may be null.
  CompilationObserver *observer = nullptr;
};

/// The regions that a program has in common with others. Null: one of its own.
struct SharedRegions {
  ConstantPool *constants = nullptr;
  /// Decided before the phase Plan.
  const PlaceholderPool *placeholders = nullptr;
};

/// The phases of the compilation of one program, with the options of the user.
/// Each phase consumes the stage that the one before it has made.
class Compilation {
public:
  Compilation(Backend &backend, CompilationOptions options);
  Compilation(Compilation &&other) noexcept;
  ~Compilation();

  /// Reads \p path: a module in the text form (.graph, with its constants in
  /// PATH.weights), or a model of a registered format (getModelFormat).
  llvm::Expected<ModelGraph> import(llvm::StringRef path,
                                    ImportOptions importOptions);
  /// Takes \p module, which an importer has made; \p context: in front of
  /// errors.
  llvm::Expected<ModelGraph> import(std::unique_ptr<Module> module,
                                    llvm::StringRef context);
  /// Imports \p model, for the last time if \p isLast.
  llvm::Expected<ModelGraph> import(ParsedModel &model,
                                    ImportOptions importOptions, bool isLast);
  /// Runs getQuantizationPipeline() on a model that has just been imported: the
  /// form that profiles are of, and in which floats are converted. Other
  /// options of the compilation don't change it.
  llvm::Error prepareQuantization(const ModelGraph &graph);
  /// Runs getTrainingPipeline(), between import and differentiation.
  llvm::Expected<ModelGraph> prepareTraining(ModelGraph graph);

  /// \name Single phases
  /// @{
  llvm::Expected<ModelGraph> optimize(ModelGraph graph);
  llvm::Expected<LoweredGraph> lower(ModelGraph graph);
  /// Fills what lies beyond extents, and lowers nodes that \p isSupported
  /// refuses, in place: for a graph that is not compiled further, but written
  /// in a format that has other nodes than the back end.
  llvm::Error
  lowerUnsupported(const GraphStage &graph,
                   std::function<bool(const Node &node)> isSupported);
  /// Computes parts of the function in patches until it needs at most
  /// options.maxActivationBytes and fits into options.arenaRegions, if these
  /// are given. Measures the ways to do so by what the phases after this one
  /// make of them.
  llvm::Expected<LoweredGraph> fitMemory(LoweredGraph graph);
  llvm::Expected<ScheduledGraph> schedule(LoweredGraph graph);
  llvm::Expected<IRProgram> generate(ScheduledGraph graph);
  llvm::Expected<IRProgram> optimizeIR(IRProgram program);
  /// The back end's part of OptimizeIR. \p choices: of
  /// Backend::chooseTogether; \p pool: where the constants go. Both may be
  /// null.
  llvm::Expected<PreparedProgram>
  prepare(IRProgram program, const SharedChoices *choices, ConstantPool *pool);
  llvm::Expected<PlannedProgram> plan(PreparedProgram program,
                                      SharedRegions regions);
  /// @}

  /// All phases after Import, of a compilation that stops nowhere.
  llvm::Expected<PlannedProgram> compile(ModelGraph graph);
  /// The phases after Import, up to and with options.stopAfter; null where that
  /// comes before the plan.
  llvm::Expected<std::optional<PlannedProgram>> run(ModelGraph graph);
  /// The two parts of run(), for programs that share their constants: what
  /// comes before the back end prepares the IR, and the rest with the
  /// parameters of prepare().
  llvm::Expected<std::optional<IRProgram>> runToIR(ModelGraph graph);
  llvm::Expected<std::optional<PlannedProgram>>
  runToPlan(IRProgram program, const SharedChoices *choices,
            SharedRegions regions);

  /// Session::create of \p program, as a phase of its own, "codegen".
  llvm::Expected<std::unique_ptr<Session>>
  createSession(const PlannedProgram &program);

  Backend &getBackend() const { return backend; }

private:
  void beginPhase(Phase phase);
  bool stopsAfter(Phase phase) const { return options.stopAfter == phase; }
  /// Passes the result of \p phase to the observer.
  template <typename Stage> void endPhase(Phase phase, const Stage &stage);
  llvm::Expected<ModelGraph>
  takeModule(llvm::Expected<std::unique_ptr<Module>> loaded,
             llvm::StringRef context);
  llvm::Error runGraphPasses(const GraphStage &graph, const Pipeline &pipeline);
  llvm::Error runGraphPasses(const GraphStage &graph, const Pipeline &pipeline,
                             const GraphPassContext &context);
  llvm::Error runIRPasses(IRFunction &function);
  /// The loss of \p graph if rematerialization is enabled; else null.
  const Placeholder *findRematerializedLoss(const GraphStage &graph) const;
  /// Tunes \p function and lets the back end prepare it. With \p choices it has
  /// been tuned together with others.
  llvm::Error prepareIR(IRFunction &function, const SharedChoices *choices,
                        const IRPassHooks &hooks = {});
  IRPassHooks getIRHooks(IRFunction &function);
  /// The bytes of activations that \p function, lowered, will need.
  llvm::Expected<uint64_t> measureArena(Function &function);
  GraphPassContext getPassContext();
  MemoryPlan makePlan(const IRFunction &function) const;
  ActivationLimits getLimits() const;

  /// Returns the observer of the options and the log's, as far as there are
  /// any.
  llvm::SmallVector<CompilationObserver *, 2> getObservers() const;

  Backend &backend;
  CompilationOptions options;
  /// Logs the compilation, and measures phases for the log; null where that is
  /// not asked for.
  std::unique_ptr<CompilationObserver> log;
  std::unique_ptr<PhaseTimer> ownTimer;
  /// How many passes have run.
  uint64_t numGraphPasses = 0, numIRPasses = 0;
};

/// Leaves one function in \p module, and the placeholders that no other uses:
/// the one called \p name, or the only one where that is empty. An error lists
/// the functions.
llvm::Error selectFunction(Module &module, llvm::StringRef name);

/// Whether \p path is a module in the text form, by its name.
inline bool isTextForm(llvm::StringRef path) {
  return path.ends_with(".graph");
}
/// Returns the format of the model \p path; null for a text form.
llvm::Expected<const ModelFormat *> findModelFormat(llvm::StringRef path);
/// Parses the model \p path (ModelFormat::parse); null for one that is imported
/// without being parsed first.
llvm::Expected<std::unique_ptr<ParsedModel>> parseModel(llvm::StringRef path);
/// The files of a text form: \p path, and PATH.weights if that exists.
std::vector<std::string> listTextFiles(llvm::StringRef path);
/// Opens all files that an import of \p path with \p options reads, text form
/// or model, external weights included (ModelFormat::listFiles). Large files
/// are mapped, so that only what is looked at is read.
llvm::Expected<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
openModelFiles(llvm::StringRef path, const ImportOptions &options);
/// Reads a module in the text form; its side file is PATH.weights, if that
/// exists.
llvm::Expected<std::unique_ptr<Module>> readModule(llvm::StringRef path);
/// The same for the IR.
llvm::Expected<std::unique_ptr<IRFunction>> readIR(llvm::StringRef path);
/// Writes the text form to \p path and large constants to PATH.weights.
llvm::Error writeModule(const Module &module, llvm::StringRef path);
llvm::Error writeIR(const IRFunction &function, llvm::StringRef path);

} // namespace glowish

#endif // GLOWISH_DRIVER_COMPILATION_H
