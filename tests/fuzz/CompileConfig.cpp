//===- CompileConfig.cpp - Ways to compile and run a graph ----------------===//

#include "CompileConfig.h"
#include "../unit/CPULevels.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Base/CopyCorner.h"
#include "glowish/Driver/PassCheck.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/IR/Passes.h"
#include "glowish/IR/PlanProof.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/Optimizer/Passes.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Random.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::fuzz;

/// What compiles does not work without these.
static bool isRequired(llvm::StringRef pass) {
  return pass == "lower" || pass == "insert-lifetimes";
}

static std::vector<std::string> getPassNames() {
  std::vector<std::string> names;
  for (const GraphPass &pass : getGraphPasses())
    names.push_back(pass.name.str());
  for (const IRPass &pass : getIRPasses())
    names.push_back(pass.name.str());
  llvm::erase_if(names, isRequired);
  return names;
}

/// Null where programs run on this machine.
static std::unique_ptr<ForeignTarget> foreign;

void fuzz::useForeignTarget(std::unique_ptr<ForeignTarget> target) {
  foreign = std::move(target);
}

/// Null where graphs are compiled.
static std::unique_ptr<GraphTarget> graphTarget;

void fuzz::useGraphTarget(std::unique_ptr<GraphTarget> target) {
  graphTarget = std::move(target);
}

static const std::vector<TargetOptions> &getTargets() {
  static const std::vector<TargetOptions> targets =
      foreign ? std::vector<TargetOptions>{foreign->getOptions()} : getLevels();
  return targets;
}

std::string CompileConfig::str() const {
  std::string cpu = "interpreter";
  if (graphTarget) {
    cpu = "on=" + graphTarget->getName().str();
  } else if (level >= 0) {
    const TargetOptions &target = getTargets()[level];
    cpu = foreign ? "on=" + foreign->getName().str()
                  : "cpu=" + (target.cpu.empty() ? "host" : target.cpu);
    if (!target.testing.onlyLevel.empty())
      cpu += "(" + target.testing.onlyLevel + ")";
  }
  if (isQuick)
    cpu += " quick";
  std::string text =
      llvm::formatv("{0} threads={1} rank={2} winograd={3} order={4}", cpu,
                    numThreads, choiceRank, unsigned(winograd), order);
  if (placesIOInArena)
    text += " io-in-activations";
  if (isReproducible)
    text += " reproducible";
  if (heedsPredicates)
    text += " heeds-predicates";
  if (checksPasses)
    text += " check-passes";
  if (without.size() == getPassNames().size())
    return text + " without=all";
  return text + " without=" + llvm::join(without, ",");
}

bool CompileConfig::mayReorder() const {
  return llvm::any_of(getGraphPasses(), [&](const GraphPass &pass) {
    return (pass.name.starts_with("recognize") ||
            pass.name == "fold-arithmetic") &&
           !without.count(pass.name.str());
  });
}

/// Some of \p names, or all.
static std::set<std::string> pickSome(llvm::ArrayRef<std::string> names,
                                      Random &random) {
  bool wantsAll = random.below(4) == 0;
  std::set<std::string> some;
  for (const std::string &name : names)
    if (wantsAll || random.below(3) == 0)
      some.insert(name);
  return some;
}

/// A way to compile: half of them as users have it, with all passes in their
/// order. LLVM takes the most time: for two of three it does little.
static CompileConfig pickCompiled(llvm::ArrayRef<std::string> names,
                                  Random &random) {
  constexpr unsigned manyRanks = 12;
  static const WinogradLimit limits[] = {WinogradLimit::F4, WinogradLimit::F4,
                                         WinogradLimit::F2,
                                         WinogradLimit::None};
  CompileConfig config;
  config.level = int(random.below(getTargets().size()));
  config.numThreads = random.below(3) || foreign ? 1 : 3;
  if (random.below(2))
    config.choiceRank = unsigned(random.below(manyRanks));
  config.winograd = limits[random.below(std::size(limits))];
  config.isQuick = random.below(3) > 0;
  if (random.below(2)) {
    config.without = pickSome(names, random);
    if (random.below(2))
      config.order = 1 + random.below(1000);
  }
  return config;
}

std::vector<CompileConfig> fuzz::pickConfigs(uint64_t seed,
                                             const ConfigOptions &options) {
  Random random(~seed);
  std::vector<std::string> names = getPassNames();
  CompileConfig interpreter;
  interpreter.level = -1;
  if (random.below(2))
    interpreter.without = pickSome(names, random);
  if (random.below(2))
    interpreter.order = 1 + random.below(1000);
  std::vector<CompileConfig> configs;
  if (!foreign && !graphTarget) {
    configs.push_back(interpreter);
    interpreter.heedsPredicates = true;
    if (options.hasPredicates)
      configs.push_back(std::move(interpreter));
  }
  for (unsigned i = 0; i < options.numCompiled; ++i)
    configs.push_back(pickCompiled(names, random));
  for (CompileConfig &config : configs) {
    config.placesIOInArena = random.below(3) == 0;
    config.checksPasses = options.checksPasses;
    config.isReproducible = options.isReproducible && config.level >= 0;
  }
  return configs;
}

CompileConfig fuzz::getCommonConfig(const CompileConfig &config) {
  auto lowest = llvm::find_if(
      getTargets(), [](const auto &target) { return !target.cpu.empty(); });
  CompileConfig common = config;
  common.level =
      lowest == getTargets().end() ? 0 : int(lowest - getTargets().begin());
  common.numThreads = 1;
  common.choiceRank = 0;
  common.checksPasses = false;
  return common;
}

std::vector<CompileConfig> fuzz::getAllConfigs() {
  std::vector<CompileConfig> configs;
  std::vector<std::string> names = getPassNames();
  // Nothing but the graph passes makes what a graph target is given.
  if (graphTarget) {
    configs.resize(2);
    configs.back().without.insert(names.begin(), names.end());
    return configs;
  }
  for (int level = -1; level < int(getTargets().size()); ++level)
    for (unsigned numThreads : {1, 3})
      for (bool withPasses : {true, false}) {
        if ((level < 0 || foreign) && numThreads > 1)
          continue;
        CompileConfig config;
        config.level = level;
        config.numThreads = numThreads;
        if (!withPasses)
          config.without.insert(names.begin(), names.end());
        configs.push_back(config);
        if (numThreads > 1)
          continue;
        // LLVM's passes take the most time. Beyond the first level they are
        // tested by what is compiled above.
        config.isQuick = level > 0;
        config.placesIOInArena = true;
        configs.push_back(config);
        config.placesIOInArena = false;
        if (level >= 0)
          config.choiceRank = 1;
        else
          config.heedsPredicates = true;
        configs.push_back(config);
      }
  return configs;
}

/// The back ends are made once.
static llvm::Expected<Backend *> getBackend(const CompileConfig &config) {
  static std::map<
      std::tuple<int, unsigned, unsigned, WinogradLimit, bool, bool, bool>,
      std::unique_ptr<Backend>>
      backends;
  std::unique_ptr<Backend> &backend = backends[{
      config.level, config.numThreads, config.choiceRank, config.winograd,
      config.isQuick, config.isReproducible, config.heedsPredicates}];
  if (backend)
    return backend.get();
  if (config.level < 0) {
    backend = createInterpreter({.heedsPredicates = config.heedsPredicates});
    return backend.get();
  }
  TargetOptions options = getTargets()[config.level];
  options.numThreads = config.numThreads;
  options.testing.choiceRank = config.choiceRank;
  options.winograd = config.winograd;
  options.isReproducible = config.isReproducible;
  options.testing.compilesQuickly = config.isQuick;
  // Random graphs are small.
  options.testing.dividesSmallKernels = true;
  GLOWISH_ASSIGN_OR_RETURN(backend, CPUBackend::create(options));
  return backend.get();
}

/// \p pipeline with the passes of \p config, in its order.
static Pipeline choosePasses(const Pipeline &pipeline,
                             const CompileConfig &config) {
  Random random(config.order);
  Pipeline result;
  for (PipelineStep step : pipeline) {
    llvm::erase_if(step.passes, [&](const std::string &name) {
      return config.without.count(name) > 0 &&
             !llvm::is_contained(step.required, name);
    });
    if (config.order && step.toFixedPoint)
      for (size_t i = step.passes.size(); i > 1; --i)
        std::swap(step.passes[i - 1], step.passes[random.below(i)]);
    result.push_back(std::move(step));
  }
  return result;
}

/// Checks each of the runs after a pass.
template <typename Whole>
static llvm::Error checkPass(llvm::MutableArrayRef<PassCheck> checks,
                             llvm::StringRef pass, Whole &whole) {
  for (PassCheck &check : checks)
    GLOWISH_RETURN_IF_ERROR(
        check.check("pass " + pass.str(), Exactness::Rounding, whole));
  return llvm::Error::success();
}

/// \p whole: the module that \p unit is of, or \p unit; no \p checks where
/// passes are not checked.
template <typename Unit, typename Context, typename Whole>
static llvm::Error
runPasses(const Pipeline &pipeline, const CompileConfig &config,
          llvm::ArrayRef<PassInfo<Unit, Context>> passes, Unit &unit,
          const Context &context, llvm::MutableArrayRef<PassCheck> checks,
          Whole &whole) {
  PassHooks<Unit> hooks;
  hooks.after = [&](llvm::StringRef pass, Unit &nested,
                    bool changed) -> llvm::Error {
    GLOWISH_RETURN_IF_ERROR(
        addContext(verify(nested), "after pass " + pass + ": "));
    return changed ? checkPass(checks, pass, whole) : llvm::Error::success();
  };
  llvm::Expected<bool> changed = runPipeline<Unit, Context>(
      choosePasses(pipeline, config), passes, unit, context, hooks);
  return changed.takeError();
}

/// What Compilation::compile does, without some of the passes.
static llvm::Expected<std::unique_ptr<IRFunction>>
compileModule(Module &module, Backend &backend, const CompileConfig &config,
              llvm::MutableArrayRef<PassCheck> checks) {
  GraphPassContext context;
  context.evaluate = evaluateNode;
  context.isSupported = [&](const Node &node) {
    return backend.isSupported(node);
  };
  Function &function = *module.getFunctions().front();
  for (PassCheck &check : checks)
    GLOWISH_RETURN_IF_ERROR(check.start(module));
  for (const Pipeline *pipeline : {&getOptimizePipeline(), &getLowerPipeline()})
    GLOWISH_RETURN_IF_ERROR(runPasses<Function, GraphPassContext>(
        *pipeline, config, getGraphPasses(), function, context, checks,
        module));
  GLOWISH_RETURN_IF_ERROR(verifyLowered(function, context));
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> ir,
                           generateIR(function, scheduleNodes(function)));
  IRPassContext irContext;
  irContext.overwritesInputs = config.placesIOInArena ? ir.get() : nullptr;
  GLOWISH_RETURN_IF_ERROR(runPasses<IRFunction, IRPassContext>(
      getIRPipeline(), config, getIRPasses(), *ir, irContext, checks, *ir));
  IRPassHooks hooks;
  hooks.before = [&](llvm::StringRef pass, IRFunction &,
                     bool isRequired) -> llvm::Expected<bool> {
    return isRequired || !config.without.count(pass.str());
  };
  hooks.after = [](llvm::StringRef pass, IRFunction &unit, bool) {
    return addContext(verify(unit), "after pass " + pass + ": ");
  };
  GLOWISH_RETURN_IF_ERROR(backend.prepare(*ir, /*choices=*/nullptr, hooks));
  GLOWISH_RETURN_IF_ERROR(verify(*ir));
  return ir;
}

/// What looks at each run of \p test after every pass.
static std::vector<PassCheck> makeChecks(const TestCase &test,
                                         std::vector<OutputPart> parts,
                                         const Describe &describe) {
  std::vector<PassCheck> checks;
  for (auto [run, values] : llvm::enumerate(test.getRuns())) {
    auto fill = [values = values](Session &session) {
      for (const Buffer *buffer : session.getPlaceholders())
        if (buffer->isInput()) {
          Tensor place = session.getTensor(buffer);
          copyCorner(makeInput(buffer->getModelName(), buffer->getType(),
                               buffer->getInputExtents(), values),
                     place);
        }
      return llvm::Error::success();
    };
    auto compare = [values = values, run = run, parts,
                    describe](const Outputs &, const Outputs &after, double) {
      auto outputs = takeParts(parts, after, values);
      return outputs ? describe(run, *outputs)
                     : llvm::toString(outputs.takeError());
    };
    checks.emplace_back(fill, compare);
  }
  return checks;
}

/// Runs \p program once, in memory that nothing was written to.
static llvm::Expected<Outputs> runOnce(Executable &program,
                                       const IRFunction &ir,
                                       const MemoryPlan &plan,
                                       const RunExtents &values) {
  auto makeRegion = [](uint64_t size) {
    Tensor region(Type(ElemKind::UInt8, {int64_t(size)}));
    // What was never written is NaN and not zero by luck.
    std::memset(region.getBytes(), 0xFF, size);
    return region;
  };
  Tensor constants = makeConstantRegion(ir, plan);
  Tensor mutables = makeRegion(plan.mutableSize);
  Tensor activations = makeRegion(plan.activationSize);
  Outputs outputs;
  for (const auto &buffer : ir.getBuffers()) {
    if (buffer->getKind() != Buffer::Kind::Mutable)
      continue;
    Tensor content = Tensor::borrow(
        buffer->getType(), static_cast<uint8_t *>(plan.isInArena(buffer.get())
                                                      ? activations.getBytes()
                                                      : mutables.getBytes()) +
                               plan.getOffset(buffer.get()));
    if (buffer->isInput())
      copyCorner(makeInput(buffer->getModelName(), buffer->getType(),
                           buffer->getInputExtents(), values),
                 content);
    if (buffer->isOutput())
      outputs[buffer->getModelName().str()] = std::move(content);
  }
  GLOWISH_RETURN_IF_ERROR(program.run(constants.data<uint8_t>().data(),
                                      mutables.data<uint8_t>().data(),
                                      activations.data<uint8_t>().data()));
  for (auto &[name, content] : outputs)
    content = content.clone();
  return outputs;
}

/// Writes the graph of \p test after the graph passes of \p config, and lets
/// the target run it.
static llvm::Expected<std::vector<Outputs>>
runAsGraph(const TestCase &test, const CompileConfig &config) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, test.makeModule());
  std::vector<OutputPart> parts = getOutputParts(*module);
  GraphPassContext context;
  context.evaluate = evaluateNode;
  context.isSupported = [](const Node &node) {
    return graphTarget->hasForm(node);
  };
  static const Pipeline lowering = {
      {{"lower-extents"}, /*toFixedPoint=*/false, {"lower-extents"}},
      {{"lower"}, /*toFixedPoint=*/true}};
  for (const Pipeline *pipeline : {&getOptimizePipeline(), &lowering})
    GLOWISH_RETURN_IF_ERROR(runPasses<Function, GraphPassContext>(
        *pipeline, config, getGraphPasses(), *module->getFunctions().front(),
        context, /*checks=*/{}, *module));
  std::vector<Outputs> results;
  for (const RunExtents &values : test.getRuns()) {
    GLOWISH_ASSIGN_OR_RETURN(Outputs outputs,
                             graphTarget->run(*module, values));
    GLOWISH_ASSIGN_OR_RETURN(results.emplace_back(),
                             takeParts(parts, outputs, values));
  }
  return results;
}

llvm::Expected<std::vector<Outputs>> fuzz::runCase(const TestCase &test,
                                                   const CompileConfig &config,
                                                   const Describe &describe) {
  if (graphTarget)
    return runAsGraph(test, config);
  GLOWISH_ASSIGN_OR_RETURN(Backend *backend, getBackend(config));
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, test.makeModule());
  std::vector<OutputPart> parts = getOutputParts(*module);
  std::vector<PassCheck> checks;
  if (config.checksPasses)
    checks = makeChecks(test, parts, describe);
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> ir,
                           compileModule(*module, *backend, config, checks));
  PlanOptions planOptions;
  planOptions.placesIOInArena = config.placesIOInArena;
  MemoryPlan plan = planMemory(*ir, planOptions);
  GLOWISH_RETURN_IF_ERROR(provePlan(*ir, plan).takeError());
  auto compiled = foreign && config.level >= 0
                      ? foreign->compile(*backend, *ir, plan)
                      : backend->compile(*ir, plan, /*clock=*/nullptr);
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Executable> program,
                           std::move(compiled));
  std::vector<Outputs> results;
  for (const RunExtents &values : test.getRuns()) {
    GLOWISH_ASSIGN_OR_RETURN(Outputs outputs,
                             runOnce(*program, *ir, plan, values));
    auto own = takeParts(parts, outputs, values);
    if (!own)
      return addContext(own.takeError(), "with " + print(values) + ": ");
    results.push_back(std::move(*own));
  }
  return results;
}
