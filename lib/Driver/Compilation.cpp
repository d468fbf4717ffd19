//===- Compilation.cpp - The phases in their order ------------------------===//

#include "glowish/Driver/Compilation.h"
#include "ActivationLimit.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/CompilationObserver.h"
#include "glowish/Driver/PassCheck.h"
#include "glowish/Graph/Dot.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/IR/IRText.h"
#include "glowish/IR/Passes.h"
#include "glowish/IRGen/Rematerialization.h"
#include "glowish/Importer/Caffe2.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/FileSystem.h"

using namespace glowish;

static constexpr llvm::StringLiteral phaseNames[] = {
    "import", "optimize", "lower", "schedule", "irgen", "optimize-ir", "plan"};

llvm::StringRef glowish::getPhaseName(Phase phase) {
  return phaseNames[unsigned(phase)];
}

std::optional<Phase> glowish::parsePhase(llvm::StringRef name) {
  for (unsigned i = 0; i < std::size(phaseNames); ++i)
    if (phaseNames[i] == name)
      return Phase(i);
  return std::nullopt;
}

void Compilation::beginPhase(Phase phase) {
  DEBUG_WITH_TYPE("phases", llvm::dbgs()
                                << "phase " << getPhaseName(phase) << "\n");
  if (options.timer)
    options.timer->begin(getPhaseName(phase));
}

llvm::Error
Compilation::takeModule(llvm::Expected<std::unique_ptr<Module>> loaded) {
  if (!loaded)
    return loaded.takeError();
  module = std::move(*loaded);
  return verify(*module);
}

void Compilation::endPhase(Phase phase) {
  if (options.observer)
    options.observer->afterPhase(phase, *this);
}

llvm::Error Compilation::import(llvm::StringRef path,
                                ImportOptions importOptions) {
  beginPhase(Phase::Import);
  if (!importOptions.evaluate)
    importOptions.evaluate = evaluateNode;
  bool isText = path.ends_with(".graph");
  if (isCaffe2Path(path))
    GLOWISH_RETURN_IF_ERROR(takeModule(importCaffe2File(path, importOptions)));
  else
    GLOWISH_RETURN_IF_ERROR(takeModule(
        isText ? readModule(path) : importOnnxFile(path, importOptions)));
  if (llvm::Error error = selectFunction(*module, options.function))
    return addContext(std::move(error), "'" + path + "': ");
  endPhase(Phase::Import);
  return llvm::Error::success();
}

llvm::Error Compilation::import(OnnxModel &model, ImportOptions importOptions,
                                bool isLast) {
  beginPhase(Phase::Import);
  if (!importOptions.evaluate)
    importOptions.evaluate = evaluateNode;
  GLOWISH_RETURN_IF_ERROR(takeModule(isLast ? model.importLast(importOptions)
                                            : model.import(importOptions)));
  GLOWISH_RETURN_IF_ERROR(selectFunction(*module, options.function));
  endPhase(Phase::Import);
  return llvm::Error::success();
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

/// The hooks that both kinds of pipelines run around each pass. \p own: for
/// this kind, of which \p numRun passes have run. \p check: what -check-passes
/// does with the pass.
template <typename Unit, typename PrintFn, typename CheckFn>
static PassHooks<Unit> getHooks(const CompilationOptions &options,
                                const PassOptions &own, uint64_t &numRun,
                                PrintFn print, CheckFn check) {
  PassHooks<Unit> hooks;
  hooks.before = [&own, &numRun,
                  print](llvm::StringRef pass, Unit &unit,
                         bool isRequired) -> llvm::Expected<bool> {
    if (own.limit && numRun >= *own.limit && !isRequired)
      return false;
    ++numRun;
    if (own.printNames)
      llvm::errs() << "// pass " << pass << "\n";
    if (own.printBefore.has(pass)) {
      llvm::errs() << "// before " << pass << "\n";
      print(llvm::errs(), unit);
    }
    if (own.verifyBefore.has(pass))
      GLOWISH_RETURN_IF_ERROR(
          addContext(verify(unit), "before pass " + pass + ": "));
    return true;
  };
  hooks.after = [&options, &own, print, check](llvm::StringRef pass, Unit &unit,
                                               bool changed) -> llvm::Error {
    DEBUG_WITH_TYPE("passes", llvm::dbgs()
                                  << "pass " << pass
                                  << (changed ? " changed" : "") << "\n");
    if (own.printAfter.has(pass) || (options.printAfterAll && changed)) {
      llvm::errs() << "// after " << pass << "\n";
      print(llvm::errs(), unit);
    }
    if (options.verifyEach || own.verifyAfter.has(pass))
      GLOWISH_RETURN_IF_ERROR(
          addContext(verify(unit), "after pass " + pass + ": "));
    if (options.passCheck && changed)
      return check(pass);
    return llvm::Error::success();
  };
  return hooks;
}

/// \p hooks, with what the observer of \p compilation is told; it may be null.
template <typename Unit>
static PassHooks<Unit> getWatched(PassHooks<Unit> hooks,
                                  Compilation &compilation,
                                  CompilationObserver *observer) {
  if (!observer)
    return hooks;
  PassHooks<Unit> watched;
  watched.before = [before = hooks.before, observer](
                       llvm::StringRef pass, Unit &unit, bool isRequired) {
    llvm::Expected<bool> runs = before(pass, unit, isRequired);
    observer->beforePass();
    return runs;
  };
  watched.after = [after = hooks.after, &compilation,
                   observer](llvm::StringRef pass, Unit &unit, bool changed) {
    observer->afterPass(pass, compilation, unit, changed);
    return after(pass, unit, changed);
  };
  return watched;
}

llvm::Error Compilation::optimizeGraph(const Pipeline &pipeline) {
  auto print = [this](llvm::raw_ostream &os, Function &) {
    printModule(os, *module, /*sideFile=*/nullptr);
  };
  auto check = [this](llvm::StringRef pass) {
    return options.passCheck->check("pass " + pass.str(),
                                    findPass(getGraphPasses(), pass)->exactness,
                                    *module);
  };
  if (options.passCheck)
    GLOWISH_RETURN_IF_ERROR(options.passCheck->start(*module));
  llvm::Expected<bool> changed = runPipeline<Function, GraphPassContext>(
      pipeline, getGraphPasses(), getFunction(), getPassContext(),
      getWatched(getHooks<Function>(options, options.graphPasses,
                                    numGraphPasses, print, check),
                 *this, options.observer));
  if (!changed)
    return changed.takeError();
  return verify(*module);
}

static IRPassContext getIRPassContext(const CompilationOptions &options,
                                      const IRFunction &function) {
  IRPassContext context;
  context.overwritesInputs = options.placesIOInArena ? &function : nullptr;
  return context;
}

llvm::Error Compilation::optimizeIR() {
  auto print = [](llvm::raw_ostream &os, IRFunction &function) {
    printIR(os, function, /*sideFile=*/nullptr);
  };
  auto check = [this](llvm::StringRef pass) {
    return options.passCheck->check(
        "pass " + pass.str(), findPass(getIRPasses(), pass)->exactness, *ir);
  };
  llvm::Expected<bool> changed = runPipeline<IRFunction, IRPassContext>(
      getIRPipeline(), getIRPasses(), *ir, getIRPassContext(options, *ir),
      getWatched(getHooks<IRFunction>(options, options.irPasses, numIRPasses,
                                      print, check),
                 *this, options.observer));
  if (!changed)
    return changed.takeError();
  return verify(*ir);
}

llvm::Expected<uint64_t> Compilation::measureArena(Function &function) {
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<IRFunction> trial,
      generateIR(function, scheduleNodes(function, options.schedule)));
  llvm::Expected<bool> changed = runPipeline<IRFunction, IRPassContext>(
      getIRPipeline(), getIRPasses(), *trial,
      getIRPassContext(options, *trial));
  if (!changed)
    return changed.takeError();
  GLOWISH_RETURN_IF_ERROR(backend.prepare(*trial));
  return makePlan(*trial).activationSize;
}

MemoryPlan Compilation::makePlan(const IRFunction &function) const {
  PlanOptions own;
  own.placesIOInArena = options.placesIOInArena;
  return planMemory(function, own);
}

llvm::Error Compilation::checkActivationLimit() const {
  if (!options.maxActivationBytes ||
      plan.activationSize <= *options.maxActivationBytes)
    return llvm::Error::success();
  return makeError("the activations need {0} bytes; accepted: "
                   "-max-activation-bytes={0} or more",
                   plan.activationSize);
}

llvm::Error Compilation::prepareIR(const SharedChoices *choices,
                                   ConstantPool *pool) {
  GLOWISH_RETURN_IF_ERROR(backend.prepare(*ir, choices));
  if (pool)
    pool->share(*ir);
  return verify(*ir);
}

static llvm::Error writeDot(const std::string &path, const Function &function) {
  if (path.empty())
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream os(text);
  printDot(os, function);
  return writeFile(path, text);
}

llvm::Error Compilation::runCommon() {
  GLOWISH_RETURN_IF_ERROR(writeDot(options.importedDotFile, getFunction()));
  if (stopsAfter(Phase::Import))
    return llvm::Error::success();
  beginPhase(Phase::Optimize);
  GLOWISH_RETURN_IF_ERROR(optimizeGraph(getOptimizePipeline()));
  endPhase(Phase::Optimize);
  if (stopsAfter(Phase::Optimize))
    return llvm::Error::success();

  beginPhase(Phase::Lower);
  GLOWISH_RETURN_IF_ERROR(optimizeGraph(getLowerPipeline()));
  GLOWISH_RETURN_IF_ERROR(verifyLowered(getFunction(), getPassContext()));
  endPhase(Phase::Lower);
  if (options.dumpGraph)
    printModule(llvm::errs(), *module, /*sideFile=*/nullptr);
  GLOWISH_RETURN_IF_ERROR(writeDot(options.dotFile, getFunction()));
  if (stopsAfter(Phase::Lower))
    return llvm::Error::success();

  beginPhase(Phase::Schedule);
  const Placeholder *output =
      (rematerialization.cheapNodes || rematerialization.numSegments)
          ? module->findPlaceholder(loss)
          : nullptr;
  if (options.maxActivationBytes && !output) {
    GLOWISH_RETURN_IF_ERROR(fitActivations(
        getFunction(), *options.maxActivationBytes,
        [this](Function &function) { return measureArena(function); }));
    if (options.passCheck)
      GLOWISH_RETURN_IF_ERROR(
          options.passCheck->check("patches", Exactness::Exact, *module));
  }
  std::vector<Node *> order =
      output ? scheduleWithRematerialization(getFunction(), *output,
                                             rematerialization)
             : scheduleNodes(getFunction(), options.schedule);
  endPhase(Phase::Schedule);
  if (stopsAfter(Phase::Schedule))
    return llvm::Error::success();

  beginPhase(Phase::IRGen);
  GLOWISH_ASSIGN_OR_RETURN(ir, generateIR(getFunction(), order));
  GLOWISH_RETURN_IF_ERROR(verify(*ir));
  if (options.passCheck)
    GLOWISH_RETURN_IF_ERROR(
        options.passCheck->check("IRGen", Exactness::Exact, *ir));
  endPhase(Phase::IRGen);
  if (stopsAfter(Phase::IRGen))
    return llvm::Error::success();
  // Its constants would be in memory twice when weights are packed.
  module.reset();

  beginPhase(Phase::OptimizeIR);
  GLOWISH_RETURN_IF_ERROR(optimizeIR());
  endPhase(Phase::OptimizeIR);
  isCommonDone = true;
  return llvm::Error::success();
}

llvm::Error Compilation::run() {
  GLOWISH_RETURN_IF_ERROR(runCommon());
  return finish(/*choices=*/nullptr, /*pool=*/nullptr);
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

llvm::Error Compilation::finish(const SharedChoices *choices,
                                ConstantPool *pool) {
  if (!isCommonDone)
    return llvm::Error::success();
  // Others may have run since this phase began.
  if (options.timer)
    options.timer->begin(getPhaseName(Phase::OptimizeIR));
  GLOWISH_RETURN_IF_ERROR(prepareIR(choices, pool));
  if (!options.reusesActivations)
    keepActivations(*ir);
  if (options.dumpIR)
    printIR(llvm::errs(), *ir, /*sideFile=*/nullptr);
  if (stopsAfter(Phase::OptimizeIR))
    return llvm::Error::success();

  beginPhase(Phase::Plan);
  plan = makePlan(*ir);
  if (pool)
    pool->place(*ir, plan);
  GLOWISH_RETURN_IF_ERROR(verifyPlan(*ir, plan));
  GLOWISH_RETURN_IF_ERROR(checkActivationLimit());
  if (options.verifyEach)
    GLOWISH_RETURN_IF_ERROR(verifyPlanWithShadow(*ir, plan));
  if (options.passCheck)
    GLOWISH_RETURN_IF_ERROR(options.passCheck->checkCode(backend, *ir, plan));
  endPhase(Phase::Plan);
  complete = !stopsAfter(Phase::Plan);
  return llvm::Error::success();
}

//===- Modules with several functions -------------------------------------===//

llvm::Error glowish::selectFunction(Module &module, llvm::StringRef name) {
  auto &functions = module.getFunctions();
  if (functions.empty())
    return makeError("the module has no function");
  Function *selected =
      name.empty() ? functions.front().get() : module.findFunction(name);
  std::vector<std::string> names;
  for (const auto &function : functions)
    names.push_back(("'" + function->getName() + "'").str());
  if (!selected)
    return makeError("-function={0}: there is no such function; accepted: {1}",
                     name, llvm::join(names, ", "));
  if (functions.size() == 1)
    return llvm::Error::success();
  if (name.empty())
    return makeError("the module has the functions {0}; state one with "
                     "-function=NAME",
                     llvm::join(names, ", "));
  std::vector<Placeholder *> unused;
  for (const auto &placeholder : module.getPlaceholders()) {
    bool isUsed = llvm::any_of(placeholder->uses(), [&](const Use &use) {
      return use.getUser()->getParent() == selected;
    });
    if (!isUsed && !placeholder->uses().empty())
      unused.push_back(placeholder.get());
  }
  std::vector<Function *> others;
  for (const auto &function : functions)
    if (function.get() != selected)
      others.push_back(function.get());
  for (Function *other : others)
    module.eraseFunction(other);
  for (Placeholder *placeholder : unused)
    module.erasePlaceholder(placeholder);
  return llvm::Error::success();
}

//===- Text forms on disk -------------------------------------------------===//

/// The bytes of PATH and, where it exists, of PATH.weights.
static llvm::Expected<std::pair<std::unique_ptr<llvm::MemoryBuffer>,
                                std::shared_ptr<llvm::MemoryBuffer>>>
readText(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto text, readFile(path));
  std::shared_ptr<llvm::MemoryBuffer> sideFile;
  std::string sidePath = (path + ".weights").str();
  if (llvm::sys::fs::exists(sidePath)) {
    GLOWISH_ASSIGN_OR_RETURN(sideFile, readFile(sidePath));
  }
  return std::make_pair(std::move(text), sideFile);
}

llvm::Expected<std::unique_ptr<Module>>
glowish::readModule(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto files, readText(path));
  return parseModule(files.first->getBuffer(), path, files.second);
}

llvm::Expected<std::unique_ptr<IRFunction>>
glowish::readIR(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto files, readText(path));
  return parseIR(files.first->getBuffer(), path, files.second);
}

template <typename PrintFn>
static llvm::Error writeText(llvm::StringRef path, PrintFn print) {
  OutputFiles files;
  llvm::Expected<llvm::raw_pwrite_stream &> text = files.add(path);
  if (!text)
    return text.takeError();
  llvm::Expected<llvm::raw_pwrite_stream &> weights =
      files.add((path + ".weights").str());
  if (!weights)
    return weights.takeError();
  print(*text, *weights);
  return files.commit();
}

llvm::Error glowish::writeModule(const Module &module, llvm::StringRef path) {
  return writeText(path, [&](llvm::raw_ostream &os, llvm::raw_ostream &side) {
    printModule(os, module, &side);
  });
}

llvm::Error glowish::writeIR(const IRFunction &function, llvm::StringRef path) {
  return writeText(path, [&](llvm::raw_ostream &os, llvm::raw_ostream &side) {
    printIR(os, function, &side);
  });
}
