//===- Compilation.h - The phases in their order ----------------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_COMPILATION_H
#define GLOWISH_DRIVER_COMPILATION_H

#include "glowish/Autodiff/Training.h"
#include "glowish/Backends/Backend.h"
#include "glowish/IR/ConstantPool.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/Importer/OnnxModel.h"
#include "glowish/Optimizer/Passes.h"
#include "glowish/Support/Timing.h"
#include <limits>
#include <set>

namespace glowish {

class CompilationObserver;
class PassCheck;

/// The phases, in order. Each ends with its verifier.
enum class Phase { Import, Optimize, Lower, Schedule, IRGen, OptimizeIR, Plan };

/// "import", "optimize", "lower", "schedule", "irgen", "optimize-ir", "plan".
llvm::StringRef getPhaseName(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);

/// What happens around the passes of one kind: of the graph, or of the IR.
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

/// What a person wants to see of a compilation, and where it stops.
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
  /// The most bytes of activations; more than the model needs changes nothing.
  std::optional<uint64_t> maxActivationBytes;
  /// Whether an activation may have the place of one that is dead.
  bool reusesActivations = true;
  /// PlanOptions::placesIOInArena.
  bool placesIOInArena = false;
  std::optional<Phase> stopAfter;
  /// Where phases are timed; may be null.
  PhaseTimer *timer = nullptr;
  /// Who is told what happens; may be null.
  CompilationObserver *observer = nullptr;
};

/// A model on its way from a file to an executable program. Owns the module,
/// the IR and the memory plan.
class Compilation {
public:
  Compilation(Backend &backend, CompilationOptions options)
      : backend(backend), options(std::move(options)) {}

  /// Reads \p path: a Caffe2 model (see isCaffe2Path), a module in the text
  /// form (.graph, with its constants in PATH.weights), or an ONNX model.
  llvm::Error import(llvm::StringRef path, ImportOptions importOptions);
  /// Imports \p model, for the last time if \p isLast.
  llvm::Error import(OnnxModel &model, ImportOptions importOptions,
                     bool isLast);
  /// Starts from a module that was made some other way.
  void setModule(std::unique_ptr<Module> newModule) {
    module = std::move(newModule);
  }
  /// What the phase Schedule computes again in a training step whose loss is
  /// the output \p newLoss.
  void setRematerialization(RematerializationConfig config,
                            llvm::StringRef newLoss) {
    rematerialization = config;
    loss = newLoss.str();
  }
  /// What comes between import and differentiation: getTrainingPipeline().
  llvm::Error prepareTraining() { return optimizeGraph(getTrainingPipeline()); }
  /// Runs getOptimizePipeline() now, for those who look at the graph that it
  /// leaves, or change it.
  llvm::Error optimize() { return optimizeGraph(getOptimizePipeline()); }
  /// Runs the phases after Import, up to and with options.stopAfter.
  llvm::Error run();
  /// The two parts of run(), for programs that share their constants: what
  /// comes before the back end prepares the IR, and the rest. \p choices: of
  /// Backend::chooseTogether; \p pool: where the constants go. Both may be
  /// null.
  llvm::Error runCommon();
  llvm::Error finish(const SharedChoices *choices, ConstantPool *pool);

  /// Whether the common part of run() came to the end: there is IR to prepare.
  bool isPrepareable() const { return isCommonDone; }
  /// Whether run() came to the end: a plan exists.
  bool isComplete() const { return complete; }
  /// The module goes when the IR has been made from it.
  Module &getModule() { return *module; }
  /// The function that is compiled: the module's first.
  Function &getFunction() { return *module->getFunctions().front(); }
  IRFunction &getIR() { return *ir; }
  const IRFunction &getIR() const { return *ir; }
  const MemoryPlan &getPlan() const { return plan; }
  Backend &getBackend() { return backend; }

private:
  void beginPhase(Phase phase);
  void endPhase(Phase phase);
  llvm::Error takeModule(llvm::Expected<std::unique_ptr<Module>> loaded);
  bool stopsAfter(Phase phase) const { return options.stopAfter == phase; }
  llvm::Error optimizeGraph(const Pipeline &pipeline);
  llvm::Error optimizeIR();
  /// The bytes of activations that \p function, lowered, will need.
  llvm::Expected<uint64_t> measureArena(Function &function);
  llvm::Error checkActivationLimit() const;
  llvm::Error prepareIR(const SharedChoices *choices, ConstantPool *pool);
  GraphPassContext getPassContext();
  MemoryPlan makePlan(const IRFunction &function) const;

  Backend &backend;
  CompilationOptions options;
  std::unique_ptr<Module> module;
  std::unique_ptr<IRFunction> ir;
  MemoryPlan plan;
  RematerializationConfig rematerialization;
  std::string loss;
  /// How many passes have run.
  uint64_t numGraphPasses = 0, numIRPasses = 0;
  /// Whether runCommon() came to the end.
  bool isCommonDone = false;
  bool complete = false;
};

/// Leaves one function in \p module, and the placeholders that no other uses:
/// the one called \p name, or the only one where that is empty. An error lists
/// the functions.
llvm::Error selectFunction(Module &module, llvm::StringRef name);

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
