//===- Settings.cpp - Ways to compile and run a graph ---------------------===//

#include "Settings.h"
#include "../unit/CPULevels.h"
#include "Plan.h"
#include "Values.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/PassCheck.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/IR/Passes.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Random.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::fuzz;

/// What compiles does not work without these.
static bool isRequired(llvm::StringRef pass) {
  return pass == "lower" || pass == "place-lifetimes";
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

static const std::vector<TargetOptions> &getTargets() {
  static const std::vector<TargetOptions> targets = getLevels();
  return targets;
}

std::string Setting::str() const {
  std::string cpu = "interpreter";
  if (level >= 0) {
    const TargetOptions &target = getTargets()[level];
    cpu = "cpu=" + (target.cpu.empty() ? "host" : target.cpu);
    if (!target.onlyLevel.empty())
      cpu += "(" + target.onlyLevel + ")";
  }
  if (isQuick)
    cpu += " quick";
  std::string text =
      llvm::formatv("{0} threads={1} rank={2} winograd={3} order={4}", cpu,
                    numThreads, choiceRank, unsigned(winograd), order);
  if (placesIOInArena)
    text += " io-in-activations";
  if (checksPasses)
    text += " check-passes";
  if (without.size() == getPassNames().size())
    return text + " without=all";
  return text + " without=" + llvm::join(without, ",");
}

bool Setting::mayReorder() const {
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
static Setting pickCompiled(llvm::ArrayRef<std::string> names, Random &random) {
  constexpr unsigned manyRanks = 12;
  static const WinogradLimit limits[] = {WinogradLimit::F4, WinogradLimit::F4,
                                         WinogradLimit::F2,
                                         WinogradLimit::None};
  Setting setting;
  setting.level = int(random.below(getTargets().size()));
  setting.numThreads = random.below(3) ? 1 : 3;
  if (random.below(2))
    setting.choiceRank = unsigned(random.below(manyRanks));
  setting.winograd = limits[random.below(std::size(limits))];
  setting.isQuick = random.below(3) > 0;
  if (random.below(2)) {
    setting.without = pickSome(names, random);
    if (random.below(2))
      setting.order = 1 + random.below(1000);
  }
  return setting;
}

std::vector<Setting> fuzz::pickSettings(uint64_t seed, unsigned numCompiled,
                                        bool checksPasses) {
  Random random(~seed);
  std::vector<std::string> names = getPassNames();
  Setting interpreter;
  interpreter.level = -1;
  if (random.below(2))
    interpreter.without = pickSome(names, random);
  if (random.below(2))
    interpreter.order = 1 + random.below(1000);
  std::vector<Setting> settings = {std::move(interpreter)};
  while (settings.size() <= numCompiled)
    settings.push_back(pickCompiled(names, random));
  for (Setting &setting : settings) {
    setting.placesIOInArena = random.below(3) == 0;
    setting.checksPasses = checksPasses;
  }
  return settings;
}

std::vector<Setting> fuzz::getAllSettings() {
  std::vector<Setting> settings;
  std::vector<std::string> names = getPassNames();
  for (int level = -1; level < int(getTargets().size()); ++level)
    for (unsigned numThreads : {1, 3})
      for (bool withPasses : {true, false}) {
        if (level < 0 && numThreads > 1)
          continue;
        Setting setting;
        setting.level = level;
        setting.numThreads = numThreads;
        if (!withPasses)
          setting.without.insert(names.begin(), names.end());
        settings.push_back(setting);
        if (numThreads > 1)
          continue;
        setting.placesIOInArena = true;
        settings.push_back(setting);
        setting.placesIOInArena = false;
        setting.choiceRank = 1;
        if (level >= 0)
          settings.push_back(setting);
      }
  return settings;
}

/// The back ends are made once.
static llvm::Expected<Backend *> getBackend(const Setting &setting) {
  static std::map<std::tuple<int, unsigned, unsigned, WinogradLimit, bool>,
                  std::unique_ptr<Backend>>
      backends;
  std::unique_ptr<Backend> &backend =
      backends[{setting.level, setting.numThreads, setting.choiceRank,
                setting.winograd, setting.isQuick}];
  if (backend)
    return backend.get();
  if (setting.level < 0) {
    backend = createInterpreter();
    return backend.get();
  }
  TargetOptions options = getTargets()[setting.level];
  options.numThreads = setting.numThreads;
  options.choiceRank = setting.choiceRank;
  options.winograd = setting.winograd;
  options.compilesQuickly = setting.isQuick;
  GLOWISH_TRY(backend, CPUBackend::create(options));
  return backend.get();
}

/// \p pipeline with the passes that \p setting wants, in its order.
static Pipeline choosePasses(const Pipeline &pipeline, const Setting &setting) {
  Random random(setting.order);
  Pipeline result;
  for (PipelineStep step : pipeline) {
    llvm::erase_if(step.passes, [&](const std::string &name) {
      return setting.without.count(name) > 0;
    });
    if (setting.order && step.toFixedPoint)
      for (size_t i = step.passes.size(); i > 1; --i)
        std::swap(step.passes[i - 1], step.passes[random.below(i)]);
    result.push_back(std::move(step));
  }
  return result;
}

/// \p whole: the module that \p unit is of, or \p unit; null \p check where
/// passes are not checked.
template <typename Unit, typename Context, typename Whole>
static llvm::Error runPasses(const Pipeline &pipeline, const Setting &setting,
                             llvm::ArrayRef<PassInfo<Unit, Context>> passes,
                             Unit &unit, const Context &context,
                             PassCheck *check, Whole &whole) {
  PassHooks<Unit> hooks;
  hooks.after = [&](llvm::StringRef pass, Unit &nested,
                    bool changed) -> llvm::Error {
    GLOWISH_CHECK(addContext(verify(nested), "after pass " + pass + ": "));
    if (check && changed)
      return check->check("pass " + pass.str(), Exactness::Rounding, whole);
    return llvm::Error::success();
  };
  llvm::Expected<bool> changed = runPipeline<Unit, Context>(
      choosePasses(pipeline, setting), passes, unit, context, hooks);
  return changed.takeError();
}

/// What Compilation::run does, without some of the passes.
static llvm::Expected<std::unique_ptr<IRFunction>>
compileGraph(Module &module, Backend &backend, const Setting &setting,
             PassCheck *check) {
  GraphPassContext context;
  context.evaluate = evaluateNode;
  context.isSupported = [&](const Node &node) {
    return backend.isSupported(node);
  };
  context.canFuse = [&](const Node &anchor, ScalarOp op) {
    return backend.canFuse(anchor, op);
  };
  Function &function = *module.getFunctions().front();
  if (check)
    GLOWISH_CHECK(check->start(module));
  for (const Pipeline *pipeline : {&getOptimizePipeline(), &getLowerPipeline()})
    GLOWISH_CHECK(runPasses<Function, GraphPassContext>(
        *pipeline, setting, getGraphPasses(), function, context, check,
        module));
  GLOWISH_CHECK(verifyLowered(function, context));
  GLOWISH_TRY(std::unique_ptr<IRFunction> ir,
              generateIR(function, scheduleNodes(function)));
  IRPassContext irContext;
  irContext.overwritesInputs = setting.placesIOInArena ? ir.get() : nullptr;
  GLOWISH_CHECK(runPasses<IRFunction, IRPassContext>(
      getIRPipeline(), setting, getIRPasses(), *ir, irContext, check, *ir));
  GLOWISH_CHECK(backend.prepare(*ir));
  GLOWISH_CHECK(verify(*ir));
  return ir;
}

static llvm::Error fillInputs(Session &session) {
  for (const Buffer *buffer : session.getPlaceholders())
    if (buffer->isInput())
      GLOWISH_CHECK(session.setInput(
          buffer, makeValues(buffer->getModelName(), buffer->getType())));
  return llvm::Error::success();
}

llvm::Expected<Outputs> fuzz::runGraph(llvm::StringRef text,
                                       const Setting &setting,
                                       const Describe &describe) {
  GLOWISH_TRY(Backend * backend, getBackend(setting));
  PassCheck check(fillInputs, [&](const Outputs &, const Outputs &after,
                                  double) { return describe(after); });
  GLOWISH_TRY(std::unique_ptr<Module> module, parseGraph(text));
  GLOWISH_TRY(std::unique_ptr<IRFunction> ir,
              compileGraph(*module, *backend, setting,
                           setting.checksPasses ? &check : nullptr));
  PlanOptions planOptions;
  planOptions.placesIOInArena = setting.placesIOInArena;
  MemoryPlan plan = planMemory(*ir, planOptions);
  GLOWISH_CHECK(verifyPlan(*ir, plan));
  GLOWISH_CHECK(replayPlan(*ir, plan));
  GLOWISH_TRY(std::unique_ptr<Executable> program,
              backend->compile(*ir, plan, /*clock=*/nullptr));
  auto makeRegion = [](uint64_t size) {
    Tensor region(Type(ElemKind::UInt8, {int64_t(size)}));
    // What was never written is NaN and not zero by luck.
    std::memset(region.getBytes(), 0xFF, size);
    return region;
  };
  Tensor constants = makeConstantRegion(*ir, plan);
  Tensor mutables = makeRegion(plan.mutableSize);
  Tensor activations = makeRegion(plan.activationSize);
  Outputs outputs;
  for (const auto &buffer : ir->getBuffers()) {
    if (buffer->getKind() != Buffer::Kind::Mutable)
      continue;
    Tensor content = Tensor::borrow(
        buffer->getType(), static_cast<uint8_t *>(plan.isInArena(buffer.get())
                                                      ? activations.getBytes()
                                                      : mutables.getBytes()) +
                               plan.getOffset(buffer.get()));
    if (buffer->isInput())
      llvm::copy(
          makeValues(buffer->getModelName(), buffer->getType()).getByteRange(),
          static_cast<uint8_t *>(content.getBytes()));
    if (buffer->isOutput())
      outputs[buffer->getModelName().str()] = std::move(content);
  }
  GLOWISH_CHECK(program->run(constants.data<uint8_t>().data(),
                             mutables.data<uint8_t>().data(),
                             activations.data<uint8_t>().data()));
  for (auto &[name, content] : outputs)
    content = content.clone();
  return outputs;
}
