//===- Compilation.cpp - The phases in their order ------------------------===//

#include "glowish/Driver/Compilation.h"
#include "CompilationLog.h"
#include "FitMemory.h"
#include "PassHooks.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Backends/KernelTuner.h"
#include "glowish/Driver/PassCheck.h"
#include "glowish/Driver/Session.h"
#include "glowish/Graph/Dot.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/IR/IRText.h"
#include "glowish/IR/Passes.h"
#include "glowish/IR/PlaceholderPool.h"
#include "glowish/IR/PlanProof.h"
#include "glowish/IRGen/Rematerialization.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Task.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

namespace {

struct PhaseInfo {
  llvm::StringLiteral name;
  /// An estimate of the share of a compilation that is done before the phase.
  /// Most of the time goes to the code after the last one.
  double shareBefore;
};

} // namespace

/// In the order of Phase.
static constexpr PhaseInfo phases[] = {
    {"import", 0},         {"optimize", 0.1}, {"lower", 0.15},
    {"fit-memory", 0.18},  {"schedule", 0.2}, {"irgen", 0.22},
    {"optimize-ir", 0.24}, {"plan", 0.3}};

std::string glowish::listPhases() {
  return llvm::join(llvm::map_range(phases, std::mem_fn(&PhaseInfo::name)),
                    ", ");
}

llvm::StringRef glowish::getPhaseName(Phase phase) {
  return phases[unsigned(phase)].name;
}

std::optional<Phase> glowish::parsePhase(llvm::StringRef name) {
  for (unsigned i = 0; i < std::size(phases); ++i)
    if (phases[i].name == name)
      return Phase(i);
  return std::nullopt;
}

Compilation::Compilation(Backend &backend, CompilationOptions newOptions)
    : backend(backend), options(std::move(newOptions)),
      log(createCompilationLog()), ownTimer(makeTimerForLog(options.timer)) {}

Compilation::Compilation(Compilation &&other) noexcept = default;
Compilation::~Compilation() = default;

llvm::SmallVector<CompilationObserver *, 2> Compilation::getObservers() const {
  llvm::SmallVector<CompilationObserver *, 2> observers;
  for (CompilationObserver *observer : {options.observer, log.get()})
    if (observer)
      observers.push_back(observer);
  return observers;
}

void Compilation::beginPhase(Phase phase) {
  if (options.timer)
    options.timer->begin(getPhaseName(phase));
  reportProgress(getPhaseName(phase), phases[unsigned(phase)].shareBefore);
}

template <typename Stage>
void Compilation::endPhase(Phase phase, const Stage &stage) {
  for (CompilationObserver *observer : getObservers())
    observer->afterPhase(phase, *this, stage);
}

/// Returns the nodes whose weights alone have been quantized.
static llvm::Expected<std::vector<NodeOfQuantizedWeights>>
applyQuantization(Function &function, const QuantizationOptions &options) {
  const QuantizationConfig &config = options.config;
  if (options.profile)
    GLOWISH_RETURN_IF_ERROR(quantize(function, *options.profile, config));
  if (options.isDynamic)
    GLOWISH_RETURN_IF_ERROR(quantizeDynamically(function, config));
  std::vector<NodeOfQuantizedWeights> nodes;
  if (options.embeddings)
    nodes = quantizeEmbeddings(function, *options.embeddings, config.keptKinds);
  if (options.weights)
    llvm::append_range(nodes, quantizeWeightsAlone(function, *options.weights,
                                                   config.keptKinds));
  return nodes;
}

llvm::Expected<ModelGraph>
Compilation::takeModule(llvm::Expected<std::unique_ptr<Module>> loaded,
                        llvm::StringRef context) {
  if (!loaded)
    return loaded.takeError();
  GLOWISH_RETURN_IF_ERROR(verify(**loaded));
  GLOWISH_RETURN_IF_ERROR(
      addContext(selectFunction(**loaded, options.function), context));
  ModelGraph graph(std::move(*loaded));
  std::vector<NodeOfQuantizedWeights> quantizedWeights;
  if (options.quantization || options.precision) {
    GLOWISH_RETURN_IF_ERROR(prepareQuantization(graph));
    if (options.quantization)
      GLOWISH_ASSIGN_OR_RETURN(
          quantizedWeights, addContext(applyQuantization(graph.getFunction(),
                                                         *options.quantization),
                                       context));
    if (options.precision)
      convertPrecision(graph.getFunction(), *options.precision);
    GLOWISH_RETURN_IF_ERROR(verify(graph.getModule()));
  }
  endPhase(Phase::Import, graph);
  for (CompilationObserver *observer : getObservers())
    observer->afterWeightQuantization(*this, quantizedWeights);
  return graph;
}

/// Reads \p path.
static llvm::Expected<std::unique_ptr<Module>>
importFile(llvm::StringRef path, const ImportOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, findModelFormat(path));
  return format ? format->import(path, options) : readModule(path);
}

llvm::Expected<ModelGraph> Compilation::import(llvm::StringRef path,
                                               ImportOptions importOptions) {
  beginPhase(Phase::Import);
  if (!importOptions.evaluate)
    importOptions.evaluate = evaluateNode;
  return takeModule(importFile(path, importOptions),
                    ("'" + path + "': ").str());
}

llvm::Expected<ModelGraph> Compilation::import(std::unique_ptr<Module> module,
                                               llvm::StringRef context) {
  beginPhase(Phase::Import);
  return takeModule(std::move(module), context);
}

llvm::Expected<ModelGraph> Compilation::import(ParsedModel &model,
                                               ImportOptions importOptions,
                                               bool isLast) {
  beginPhase(Phase::Import);
  if (!importOptions.evaluate)
    importOptions.evaluate = evaluateNode;
  return takeModule(isLast ? model.importLast(importOptions)
                           : model.import(importOptions),
                    /*context=*/"");
}

GraphPassContext Compilation::getPassContext() {
  GraphPassContext context;
  context.evaluate = evaluateNode;
  context.isSupported = [this](const Node &node) {
    return backend.isSupported(node);
  };
  context.maxMergedElements = options.maxMergedElements;
  return context;
}

llvm::Error Compilation::runGraphPasses(const GraphStage &graph,
                                        const Pipeline &pipeline) {
  return runGraphPasses(graph, pipeline, getPassContext());
}

llvm::Error Compilation::runGraphPasses(const GraphStage &graph,
                                        const Pipeline &pipeline,
                                        const GraphPassContext &context) {
  Module &module = graph.getModule();
  Function &function = graph.getFunction();
  auto print = [&](llvm::raw_ostream &os, Function &) {
    printModule(os, module, /*sideFile=*/nullptr);
  };
  auto check = [&](llvm::StringRef pass) {
    return options.passCheck->check("pass " + pass.str(),
                                    findPass(getGraphPasses(), pass)->exactness,
                                    module);
  };
  if (options.passCheck)
    GLOWISH_RETURN_IF_ERROR(options.passCheck->start(module));
  llvm::Expected<bool> changed = runPipeline<Function, GraphPassContext>(
      pipeline, getGraphPasses(), function, context,
      getWatched(getHooks<Function>(options, options.graphPasses,
                                    numGraphPasses, print, check),
                 *this, function, getObservers()));
  if (!changed)
    return changed.takeError();
  return verify(module);
}

static IRPassContext getIRPassContext(const CompilationOptions &options,
                                      const IRFunction &function) {
  IRPassContext context;
  context.overwritesInputs = options.placesIOInArena ? &function : nullptr;
  return context;
}

/// Returns what is done around each pass over \p function.
IRPassHooks Compilation::getIRHooks(IRFunction &function) {
  auto print = [](llvm::raw_ostream &os, IRFunction &unit) {
    printIR(os, unit, /*sideFile=*/nullptr);
  };
  auto check = [this, &function](llvm::StringRef pass) {
    return options.passCheck->check("pass " + pass.str(),
                                    findPass(getIRPasses(), pass)->exactness,
                                    function);
  };
  return getWatched(getHooks<IRFunction>(options, options.irPasses, numIRPasses,
                                         print, check),
                    *this, function, getObservers());
}

llvm::Error Compilation::runIRPasses(IRFunction &function) {
  llvm::Expected<bool> changed = runPipeline<IRFunction, IRPassContext>(
      getIRPipeline(), getIRPasses(), function,
      getIRPassContext(options, function), getIRHooks(function));
  if (!changed)
    return changed.takeError();
  return verify(function);
}

llvm::Error Compilation::prepareIR(IRFunction &function,
                                   const SharedChoices *choices,
                                   const IRPassHooks &hooks) {
  const IRFunction *only = &function;
  if (options.tuner && !choices)
    GLOWISH_RETURN_IF_ERROR(options.tuner->tune(only));
  return backend.prepare(function, choices, hooks);
}

ActivationLimits Compilation::getLimits() const {
  return {.bytes = options.maxActivationBytes, .regions = options.arenaRegions};
}

llvm::Expected<uint64_t> Compilation::measureArena(Function &function) {
  LogPause pause;
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<IRFunction> trial,
      generateIR(function, scheduleNodes(function, options.schedule)));
  llvm::Expected<bool> changed = runPipeline<IRFunction, IRPassContext>(
      getIRPipeline(), getIRPasses(), *trial,
      getIRPassContext(options, *trial));
  if (!changed)
    return changed.takeError();
  GLOWISH_RETURN_IF_ERROR(prepareIR(*trial, /*choices=*/nullptr));
  return measureNeed(makePlan(*trial), getLimits());
}

MemoryPlan Compilation::makePlan(const IRFunction &function) const {
  PlanOptions own;
  own.placesIOInArena = options.placesIOInArena;
  own.arenaRegions = options.arenaRegions;
  own.countAccesses = [this](const Instruction &instr, unsigned index) {
    return backend.countAccesses(instr, index);
  };
  return planMemory(function, own);
}

static llvm::Error writeDot(const std::string &path, const Function &function) {
  if (path.empty())
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream os(text);
  printDot(os, function);
  return writeFile(path, text);
}

//===- Phases of the graph ------------------------------------------------===//

llvm::Error Compilation::prepareQuantization(const ModelGraph &graph) {
  GraphPassContext context;
  context.evaluate = evaluateNode;
  llvm::Expected<bool> changed = runPipeline<Function, GraphPassContext>(
      getQuantizationPipeline(), getGraphPasses(), graph.getFunction(),
      context);
  return changed.takeError();
}

llvm::Expected<ModelGraph> Compilation::prepareTraining(ModelGraph graph) {
  GLOWISH_RETURN_IF_ERROR(runGraphPasses(graph, getTrainingPipeline()));
  return graph;
}

llvm::Expected<ModelGraph> Compilation::optimize(ModelGraph graph) {
  beginPhase(Phase::Optimize);
  GLOWISH_RETURN_IF_ERROR(runGraphPasses(graph, getOptimizePipeline()));
  endPhase(Phase::Optimize, graph);
  return graph;
}

/// Refuses a \p function without a matmul that has integers on both sides.
static llvm::Error checkActivations(const Function &function) {
  bool isQuantized = false;
  forEachNode(function, [&](const Node &node) {
    auto *matMul = llvm::dyn_cast<MatMulNBitsNode>(&node);
    isQuantized |= matMul && matMul->getLhsScales();
  });
  if (isQuantized)
    return llvm::Error::success();
  return makeError("«activations=int8» has no effect on this model; accepted: "
                   "models with matmuls of quantized weights, in whole blocks "
                   "of a multiple of 8");
}

llvm::Expected<LoweredGraph> Compilation::lower(ModelGraph graph) {
  beginPhase(Phase::Lower);
  if (options.quantizesActivations) {
    GLOWISH_RETURN_IF_ERROR(runGraphPasses(graph, getActivationPipeline()));
    GLOWISH_RETURN_IF_ERROR(checkActivations(graph.getFunction()));
  }
  GLOWISH_RETURN_IF_ERROR(runGraphPasses(graph, getLowerPipeline()));
  if (Pipeline own = backend.getLoweredPipeline(); !own.empty())
    GLOWISH_RETURN_IF_ERROR(addContext(
        runGraphPasses(graph, own), "back end '" + backend.getName() + "': "));
  GLOWISH_RETURN_IF_ERROR(verifyLowered(graph.getFunction(), getPassContext()));
  LoweredGraph lowered(std::move(graph));
  endPhase(Phase::Lower, lowered);
  if (options.dumpGraph)
    printModule(llvm::errs(), lowered.getModule(), /*sideFile=*/nullptr);
  GLOWISH_RETURN_IF_ERROR(writeDot(options.dotFile, lowered.getFunction()));
  return lowered;
}

llvm::Error Compilation::lowerUnsupported(
    const GraphStage &graph,
    std::function<bool(const Node &node)> isSupported) {
  static const Pipeline pipeline = {
      {{"lower-extents"},
       /*toFixedPoint=*/false,
       /*required=*/{"lower-extents"}},
      {{"lower", "constant-fold", "dce"},
       /*toFixedPoint=*/true,
       /*required=*/{"lower"}},
  };
  GraphPassContext context = getPassContext();
  context.isSupported = std::move(isSupported);
  return runGraphPasses(graph, pipeline, context);
}

const Placeholder *
Compilation::findRematerializedLoss(const GraphStage &graph) const {
  return options.rematerialization.isEnabled()
             ? graph.getModule().findPlaceholder(graph.getLossName())
             : nullptr;
}

llvm::Expected<LoweredGraph> Compilation::fitMemory(LoweredGraph graph) {
  // Training steps save memory by rematerialization, which the scheduler does.
  ActivationLimits limits = getLimits();
  if (limits.isNone() || findRematerializedLoss(graph))
    return graph;
  beginPhase(Phase::FitMemory);
  if (!graph.getModule().getSymbols().empty()) {
    // Patches are bands of the rows that the bounds have.
    GLOWISH_ASSIGN_OR_RETURN(uint64_t arena, measureArena(graph.getFunction()));
    if (arena > getTotal(limits))
      GLOWISH_RETURN_IF_ERROR(
          runGraphPasses(graph, {{{"close-extents", "dce"},
                                  /*toFixedPoint=*/false,
                                  /*required=*/{"close-extents"}}}));
  }
  auto compute = [&](const PatchPlan &plan) {
    std::string pass = "compute-in-patches<" + plan.getArgument() + ">";
    return runGraphPasses(
        graph, {{{pass}, /*toFixedPoint=*/false, /*required=*/{pass}}});
  };
  GLOWISH_RETURN_IF_ERROR(glowish::fitMemory(
      graph.getFunction(), limits,
      [this](Function &function) { return measureArena(function); }, compute));
  GLOWISH_RETURN_IF_ERROR(verifyLowered(graph.getFunction(), getPassContext()));
  endPhase(Phase::FitMemory, graph);
  return graph;
}

llvm::Expected<ScheduledGraph> Compilation::schedule(LoweredGraph graph) {
  beginPhase(Phase::Schedule);
  Function &function = graph.getFunction();
  const Placeholder *loss = findRematerializedLoss(graph);
  std::vector<Node *> order =
      loss ? scheduleWithRematerialization(function, *loss,
                                           options.rematerialization)
           : scheduleNodes(function, options.schedule);
  ScheduledGraph scheduled(std::move(graph), std::move(order));
  endPhase(Phase::Schedule, scheduled);
  return scheduled;
}

//===- Phases of the IR ---------------------------------------------------===//

llvm::Expected<IRProgram> Compilation::generate(ScheduledGraph graph) {
  beginPhase(Phase::IRGen);
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> function,
                           generateIR(graph.getFunction(), graph.getOrder()));
  IRProgram program(std::move(function));
  GLOWISH_RETURN_IF_ERROR(verify(program.getIR()));
  if (options.passCheck)
    GLOWISH_RETURN_IF_ERROR(
        options.passCheck->check("IRGen", Exactness::Exact, program.getIR()));
  endPhase(Phase::IRGen, program);
  return program;
}

llvm::Expected<IRProgram> Compilation::optimizeIR(IRProgram program) {
  beginPhase(Phase::OptimizeIR);
  GLOWISH_RETURN_IF_ERROR(runIRPasses(program.getIR()));
  endPhase(Phase::OptimizeIR, program);
  return program;
}

/// Lets all activations of \p function and its bodies live to its end.
static void keepActivations(IRFunction &function) {
  llvm::SmallVector<Instruction *> ends;
  for (Instruction &instr : function.getInstrs())
    if (llvm::isa<DeallocInstr>(&instr))
      ends.push_back(&instr);
  for (Instruction *end : ends)
    function.moveBefore(end, nullptr);
  for (IRFunction *nested : getNested(function))
    keepActivations(*nested);
}

llvm::Expected<PreparedProgram>
Compilation::prepare(IRProgram program, const SharedChoices *choices,
                     ConstantPool *pool) {
  // Others may have run since this phase began.
  if (options.timer)
    options.timer->begin(getPhaseName(Phase::OptimizeIR));
  IRFunction &function = program.getIR();
  GLOWISH_RETURN_IF_ERROR(prepareIR(function, choices, getIRHooks(function)));
  if (pool)
    pool->share(function);
  GLOWISH_RETURN_IF_ERROR(verify(function));
  if (!options.reusesActivations)
    keepActivations(function);
  if (options.dumpIR)
    printIR(llvm::errs(), function, /*sideFile=*/nullptr);
  return PreparedProgram(std::move(program), backend);
}

/// The runs of a view that the proof of each compilation follows: more take
/// longer than planning.
static constexpr int64_t provedRuns = 256;

llvm::Expected<PlannedProgram> Compilation::plan(PreparedProgram program,
                                                 SharedRegions regions) {
  beginPhase(Phase::Plan);
  const IRFunction &function = program.getIR();
  MemoryPlan plan = makePlan(function);
  if (regions.constants)
    regions.constants->place(function, plan);
  if (regions.placeholders)
    regions.placeholders->place(function, plan);
  ProofOptions proof = {.keepsOutputs = options.keepsOutputs};
  if (!options.verifyEach)
    proof.maxRuns = provedRuns;
  GLOWISH_RETURN_IF_ERROR(provePlan(function, plan, proof).takeError());
  GLOWISH_RETURN_IF_ERROR(checkLimits(plan, getLimits()));
  if (options.passCheck)
    GLOWISH_RETURN_IF_ERROR(
        options.passCheck->checkCode(backend, function, plan));
  PlannedProgram planned(std::move(program), std::move(plan));
  endPhase(Phase::Plan, planned);
  // What follows need not be a phase: a run, or training.
  if (options.timer)
    options.timer->end();
  return planned;
}

//===- Several phases -----------------------------------------------------===//

llvm::Expected<std::optional<IRProgram>>
Compilation::runToIR(ModelGraph graph) {
  GLOWISH_RETURN_IF_ERROR(
      writeDot(options.importedDotFile, graph.getFunction()));
  if (stopsAfter(Phase::Import))
    return std::nullopt;
  GLOWISH_ASSIGN_OR_RETURN(graph, optimize(std::move(graph)));
  if (stopsAfter(Phase::Optimize))
    return std::nullopt;
  GLOWISH_ASSIGN_OR_RETURN(LoweredGraph lowered, lower(std::move(graph)));
  if (stopsAfter(Phase::Lower))
    return std::nullopt;
  GLOWISH_ASSIGN_OR_RETURN(lowered, fitMemory(std::move(lowered)));
  if (stopsAfter(Phase::FitMemory))
    return std::nullopt;
  GLOWISH_ASSIGN_OR_RETURN(ScheduledGraph scheduled,
                           schedule(std::move(lowered)));
  if (stopsAfter(Phase::Schedule))
    return std::nullopt;
  GLOWISH_ASSIGN_OR_RETURN(IRProgram program, generate(std::move(scheduled)));
  if (stopsAfter(Phase::IRGen))
    return std::nullopt;
  GLOWISH_ASSIGN_OR_RETURN(program, optimizeIR(std::move(program)));
  return program;
}

llvm::Expected<std::optional<PlannedProgram>>
Compilation::runToPlan(IRProgram program, const SharedChoices *choices,
                       SharedRegions regions) {
  GLOWISH_ASSIGN_OR_RETURN(
      PreparedProgram prepared,
      prepare(std::move(program), choices, regions.constants));
  if (stopsAfter(Phase::OptimizeIR))
    return std::nullopt;
  return plan(std::move(prepared), regions);
}

llvm::Expected<std::optional<PlannedProgram>>
Compilation::run(ModelGraph graph) {
  GLOWISH_ASSIGN_OR_RETURN(std::optional<IRProgram> program,
                           runToIR(std::move(graph)));
  if (!program)
    return std::nullopt;
  return runToPlan(std::move(*program), /*choices=*/nullptr, /*regions=*/{});
}

llvm::Expected<PlannedProgram> Compilation::compile(ModelGraph graph) {
  assert(!options.stopAfter && "run() stops");
  GLOWISH_ASSIGN_OR_RETURN(std::optional<PlannedProgram> program,
                           run(std::move(graph)));
  return std::move(*program);
}

llvm::Expected<std::unique_ptr<Session>>
Compilation::createSession(const PlannedProgram &program) {
  if (options.timer)
    options.timer->begin("codegen");
  llvm::Expected<std::unique_ptr<Session>> session = Session::create(program);
  if (options.timer)
    options.timer->end();
  return session;
}
